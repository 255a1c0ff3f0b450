"""SciKeras's estimators: scikit-learn's own checks of estimators, and training with TensorFlow's numbers."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from scikeras.wrappers import KerasClassifier, KerasRegressor
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks


def network(meta, hidden: int = 8):
    """A small network for any task."""
    classes = meta.get("n_classes_", 0)
    outputs = 1 if classes <= 2 else classes
    model = keras.Sequential(
        [
            keras.layers.Input((meta["n_features_in_"],)),
            keras.layers.Dense(hidden, activation="relu", kernel_initializer="ones"),
            keras.layers.Dense(
                outputs,
                activation={0: None, 2: "sigmoid"}.get(classes, "softmax"),
                kernel_initializer=keras.initializers.RandomNormal(seed=1),
            ),
        ]
    )
    loss = {0: "mse", 2: "binary_crossentropy"}.get(classes, "sparse_categorical_crossentropy")
    model.compile(optimizer="adam", loss=loss)
    return model


def classifier(**more):
    """An estimator of classes."""
    return KerasClassifier(network, epochs=3, verbose=0, shuffle=False, random_state=0, **more)


def regressor(**more):
    """An estimator of numbers."""
    return KerasRegressor(network, epochs=3, verbose=0, shuffle=False, random_state=0, **more)


@parametrize_with_checks([classifier(), regressor()])
def test_scikit_learns_checks(estimator, check) -> None:
    """What scikit-learn asks of every estimator."""
    check(estimator)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes: int, record_property) -> None:
    """Losses and probabilities."""
    x, y = make_classification(
        60, 6, n_informative=4, n_classes=classes, random_state=0, n_clusters_per_class=1
    )
    x = x.astype("float32")
    found = classifier().fit(x, y)
    record_property("losses", [float(v) for v in found.history_["loss"]])
    record_property("probabilities", found.predict_proba(x[:5]).astype(float).tolist())
    record_property("score", float(found.score(x, y)))


def test_numbers(record_property) -> None:
    """Losses and predictions."""
    x, y = make_regression(60, 5, random_state=0)
    found = regressor(optimizer__learning_rate=0.01).fit(x.astype("float32"), y.astype("float32"))
    record_property("losses", [float(v) for v in found.history_["loss"]])
    found.partial_fit(x.astype("float32"), y.astype("float32"))
    record_property("predictions", found.predict(x[:5].astype("float32")).astype(float).tolist())


def test_pipelines_searches_and_clones(record_property) -> None:
    """The rest of scikit-learn around it."""
    x, y = make_classification(40, 5, random_state=0)
    x = x.astype("float32")
    pipeline = make_pipeline(StandardScaler(), classifier())
    record_property("scores", cross_val_score(pipeline, x, y, cv=2).tolist())
    search = GridSearchCV(classifier(hidden=4), {"hidden": [2, 4]}, cv=2).fit(x, y)
    assert search.best_params_["hidden"] in (2, 4)
    assert clone(classifier(hidden=5)).hidden == 5


def test_pickles() -> None:
    """A trained estimator that was pickled predicts what it did."""
    import pickle

    x, y = make_classification(40, 5, random_state=0)
    found = classifier().fit(x.astype("float32"), y)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_allclose(again.predict_proba(x[:4]), found.predict_proba(x[:4]), rtol=1e-5)
