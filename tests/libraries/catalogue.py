"""The libraries that are tried: which version, what belongs to it, and where its tests are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Library(NamedTuple):
    """A library built on TensorFlow.

    Attributes:
      title: what it is called in the table.
      package: it, with its version, as pip takes it.
      tests: files and folders, below where they are.
      what: what these are, for the table.
      where: "wheel", the library as installed; "sdist", its archive of sources; "checks", our folder, where it brings
        none; "examples", the examples in the docstrings of the modules that `tests` names.
      leave_out: files and folders among them that are not run; `what` says why.
      needs: other packages it needs, which TensorFlow and tapeflow do not bring, with their versions.
      sources: the archive that has the tests, where it is not that of `package`, or that the checks need.
      edits: what is replaced in the tests, where a library has moved things since.
      options: what pytest is told.
      environment: variables of its process.
      reasons: how the names of tests begin that fail here, and why.
    """

    title: str
    package: str
    tests: tuple[str, ...]
    what: str
    where: str = "wheel"
    leave_out: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    sources: str = ""
    edits: Mapping[str, str] = {}
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    reasons: Mapping[str, str] = {}


_SCIPY = "scipy==1.17.1"
_SKLEARN = (
    *(_SCIPY, "scikit-learn==1.9.1", "joblib==1.6.0", "threadpoolctl==3.8.0"),
    *("narwhals==2.28.0", "pandas==3.1.1", "python-dateutil==4.0.0", "six==1.17.0"),
    "cloudpickle==3.1.2",
)
_REQUESTS = (
    *("requests==2.34.2", "certifi==2026.10.18", "charset-normalizer==3.5.2"),
    *("idna==3.20", "urllib3==2.8.0"),
)
_TENSORBOARD = (
    *("grpcio==1.85.1", "protobuf==7.36.2", "packaging==26.3", "pillow==13.0.0"),
    "absl-py==2.5.1",
)
_MATPLOTLIB = (
    *("matplotlib==3.11.2", "contourpy==1.3.3", "cycler==0.12.1", "fonttools==4.68.0"),
    *("kiwisolver==1.5.1", "pyparsing==3.3.3", "pillow==13.0.0"),
)
_HUB = (
    *("regex==2026.11.9", "tokenizers==0.23.3", "sentencepiece==0.2.3", "kagglehub==1.0.3"),
    *("kagglesdk==0.1.28", "grain==0.2.18", "tqdm==4.70.1", "protobuf==7.36.2"),
    *("PyYAML==6.0.3", "packaging==26.3", *_REQUESTS),
)
_PROBABILITY = (
    *("tf-keras==2.21.0", "dm-tree==0.1.10", "cloudpickle==3.1.2", "decorator==5.3.1"),
    *("wrapt==2.5.2", "six==1.17.0", "absl-py==2.5.1", "gast==0.7.0"),
)

LIBRARIES: dict[str, Library] = {
    "einops": Library(
        "einops",
        "einops==0.8.2",
        ("einops/tests",),
        "its tests of TensorFlow and Keras",
        options=("-k", "tensorflow or tf or keras or layers or ops or einsum or packing or util"),
        environment={"EINOPS_TEST_BACKENDS": "numpy,tensorflow"},
    ),
    "tensorly": Library(
        "tensorly",
        "tensorly==0.10.0",
        ("tensorly",),
        "its tests but those of `contrib`, CP, PARAFAC2 and robust decompositions, which take TensorFlow minutes each",
        leave_out=(
            "tensorly/contrib",
            *(
                f"tensorly/decomposition/tests/test_{name}.py"
                for name in ("cp", "cp_power", "parafac2", "robust_decomposition", "symmetric_cp")
            ),
        ),
        needs=(_SCIPY,),
        environment={"TENSORLY_BACKEND": "tensorflow"},
    ),
    "autoray": Library(
        "autoray",
        "autoray==0.8.4",
        ("tests",),
        "its tests of TensorFlow",
        where="sdist",
        options=("-k", "tensorflow"),
    ),
    "sonnet": Library(
        "Sonnet",
        "dm-sonnet==2.0.2",
        ("sonnet",),
        "its tests but the thousands in `conformance`, and 231 comparisons of optimizers with Keras's",
        options=("-k", "not ComparisonTest and not test_session"),
        leave_out=("sonnet/src/conformance",),
        needs=("dm-tree==0.1.10", "tabulate==0.10.0", "wrapt==2.5.2", "absl-py==2.5.1"),
    ),
    "tf-explain": Library(
        "tf-explain",
        "tf-explain==0.3.1",
        ("tests",),
        "all its tests",
        where="sdist",
        needs=("opencv-python-headless==5.0.0.93", "pytest-mock==3.17.0"),
    ),
    "safetensors": Library(
        "safetensors.tensorflow",
        "safetensors==0.8.0",
        ("checks/safetensors_checks.py",),
        "checks of ours: 14 dtypes in bytes and in files, slices, NumPy's files",
        where="checks",
    ),
    "shap": Library(
        "SHAP",
        "shap==0.51.0",
        ("tests/explainers/test_gradient.py", "tests/explainers/test_deep.py"),
        "its tests of the gradient and deep explainers on TensorFlow",
        where="sdist",
        options=("-k", "tf"),
        needs=(
            *_SKLEARN,
            *("numba==0.68.1", "llvmlite==0.50.0", "slicer==0.0.8"),
            *("tqdm==4.70.1", *_MATPLOTLIB),
        ),
        reasons={
            "test_tf_keras_mnist_cnn": "it makes a configuration for TensorFlow 1's sessions, which it does not use"
        },
    ),
    "deepxde": Library(
        "DeepXDE",
        "DeepXDE==1.15.0",
        ("checks/deepxde_checks.py",),
        "8 of its 47 examples, shortened as in its own tests: the losses must be TensorFlow's",
        where="checks",
        sources="DeepXDE==1.15.0",
        options=("-k", "(dataset or func or poisson_dirichlet or ode or lorenz) and not forced"),
        needs=(
            *_SKLEARN,
            *_MATPLOTLIB,
            *("pyaml==26.7.0", "PyYAML==6.0.3", "scikit-optimize==0.10.2", "tqdm==4.70.1"),
            *("tensorflow-probability==0.25.0", *_PROBABILITY),
        ),
        environment={"DDE_BACKEND": "tensorflow"},
    ),
    "eagerpy": Library(
        "eagerpy",
        "eagerpy==0.30.0",
        ("checks/eagerpy_checks.py",),
        "checks of ours, as it brings no tests: its methods on TensorFlow and on NumPy",
        where="checks",
    ),
    "keras-tuner": Library(
        "keras-tuner",
        "keras-tuner==1.4.8",
        ("keras_tuner/engine",),
        "the engine's tests in 1.3.5, the last archive that has them, with modules named by their new places;"
        " not those that train, of tuners and applications",
        where="sdist",
        sources="keras-tuner==1.3.5",
        leave_out=("keras_tuner/engine/tuner_test.py", "keras_tuner/engine/tuner_utils_test.py"),
        needs=(
            *("kt-legacy==1.0.5", "tensorboard==2.21.0", *_TENSORBOARD),
            *(*_SKLEARN, *_REQUESTS),
        ),
        edits={
            f"keras_tuner.{place}": f"keras_tuner.src.{place}"
            for place in ("applications", "distribute", "engine", "tuners")
        }
        | {
            f"from keras_tuner import {place}": f"from keras_tuner.src import {place}"
            for place in ("protos", "utils")
        },
        options=("--import-mode=importlib",),
    ),
    "scikeras": Library(
        "scikeras",
        "scikeras==0.13.0",
        ("checks/scikeras_checks.py",),
        "scikit-learn's checks of estimators, and checks of ours, as it brings no tests",
        where="checks",
        needs=_SKLEARN,
    ),
    "foolbox": Library(
        "foolbox",
        "foolbox==3.3.4",
        ("checks/foolbox_checks.py",),
        "checks of ours, as it brings no tests: 30 attacks, with TensorFlow's numbers where they are not random",
        where="checks",
        needs=(
            "eagerpy==0.30.0",
            _SCIPY,
            "GitPython==3.2.1",
            "gitdb==4.0.12",
            "smmap==5.0.3",
            *_REQUESTS,
        ),
    ),
    "tensorboard": Library(
        "TensorBoard's callback",
        "tensorboard==2.21.0",
        ("checks/tensorboard_checks.py",),
        "checks of ours: what Keras's callback writes, read by TensorBoard's reader",
        where="checks",
        needs=_TENSORBOARD,
    ),
    "keras-hub": Library(
        "keras-hub, layers",
        "keras-hub==0.32.0",
        ("checks/keras_hub_checks.py",),
        "checks of ours, as it brings no tests: layers, packers, samplers",
        where="checks",
        needs=_HUB,
    ),
    "keras-hub-examples": Library(
        "keras-hub, examples",
        "keras-hub==0.32.0",
        ("keras_hub.layers", "keras_hub.metrics", "keras_hub.samplers", "keras_hub.tokenizers"),
        "the examples in its docstrings that need no download",
        where="examples",
        needs=_HUB,
    ),
    "keras-rs": Library(
        "keras-rs",
        "keras-rs==0.4.0",
        ("checks/keras_rs_checks.py",),
        "checks of ours, as it brings no tests: losses, metrics, layers, a model, with TensorFlow's numbers",
        where="checks",
    ),
    "pennylane": Library(
        "PennyLane's TensorFlow interface",
        "PennyLane==0.45.1",
        ("checks/pennylane_checks.py",),
        "checks of ours, as it brings no tests of it: circuits, gradients, its functions of arrays",
        where="checks",
        needs=(
            *(_SCIPY, "networkx==3.6.1", "rustworkx==0.18.1", "autograd==1.8.0", "appdirs==1.4.4"),
            *(
                "autoray==0.8.4",
                "cachetools==8.0.0",
                "pennylane-lightning==0.45.0",
                "tomlkit==0.15.2",
            ),
            *("diastatic-malt==2.15.3", "packaging==26.3", "typing-extensions==4.16.0", *_REQUESTS),
        ),
    ),
    "probability": Library(
        "TensorFlow Probability",
        "tensorflow-probability==0.25.0",
        (
            "checks/probability_distributions_checks.py",
            "checks/probability_bijectors_checks.py",
            "checks/probability_inference_checks.py",
        ),
        "checks of ours, as it brings no tests, with TensorFlow's numbers: densities, moments, samples and gradients of"
        " distributions, bijectors, Markov chains, variational inference, minimizers",
        where="checks",
        # The checks ask for more of each. It takes an hour, most of it TensorFlow's tracing.
        options=(
            "-k",
            "(log_prob or moments or sample] or gradient or there_and_back or volume or chain or program)"
            " and not BetaQuotient",
        ),
        reasons={
            "ExponentiallyModifiedGaussian-gradient": "terms that cancel to 0.003 are rounded otherwise, by 2e-6"
        },
        needs=_PROBABILITY,
        environment={"TF_USE_LEGACY_KERAS": "1"},
    ),
    "gpflow": Library(
        "GPflow",
        "gpflow==2.11.2",
        (
            *("tests/gpflow/test_base.py", "tests/gpflow/test_base_prior.py"),
            *("tests/gpflow/test_functions.py", "tests/gpflow/test_logdensities.py"),
            *("tests/gpflow/test_kullback_leiblers.py", "tests/gpflow/utilities"),
            *("tests/gpflow/models/test_gpr.py", "tests/gpflow/models/test_sgpr.py"),
            *("tests/gpflow/models/test_svgp.py", "tests/gpflow/models/test_vgp.py"),
            *("tests/gpflow/models/test_mcmc.py", "tests/gpflow/optimizers"),
        ),
        "its tests of parameters, priors, mean functions, densities, utilities, optimizers, GPR, SGPR,"
        " SVGP, VGP; not of kernels, likelihoods, conditionals and posteriors",
        where="sdist",
        options=("--import-mode=importlib",),
        needs=(
            *("tensorflow-probability==0.25.0", *_PROBABILITY, _SCIPY, "check-shapes==1.1.1"),
            *("lark==1.3.1", "dropstackframe==0.1.1", "multipledispatch==1.0.0"),
            *("Deprecated==1.3.1", "tabulate==0.10.0", "packaging==26.3"),
            "typing-extensions==4.16.0",
        ),
        environment={"TF_USE_LEGACY_KERAS": "1"},
        reasons={
            "test_print_summary_for_keras_model": "it makes a model of Keras 2's class with arguments by position"
        },
    ),
    "spektral": Library(
        "spektral",
        "spektral==1.3.1",
        ("tests/test_layers",),
        "the tests of layers in 1.0.4, the last archive that has them",
        where="sdist",
        sources="spektral==1.0.4",
        edits={
            "import numpy as np": "import numpy as np\nimport spektral",
            "from spektral.layers.ops import sp_matrix": "from spektral.utils.sparse import sp_matrix",
            "ops.sp_matrix": "spektral.utils.sparse.sp_matrix",
            "from .test_convolutional": "from test_convolutional",
            "np.int)": "int)",
        },
        needs=("lxml==6.1.3", "networkx==3.6.1", "tqdm==4.70.1", *_SKLEARN, *_REQUESTS),
    ),
    "datasets": Library(
        "Hugging Face datasets",
        "datasets==5.2.0",
        ("checks/datasets_checks.py",),
        "checks of ours, as its archive lacks a module of its tests: TensorFlow's format, `to_tf_dataset`",
        where="checks",
        needs=(
            *("pyarrow==25.0.1", "dill==0.4.1", "multiprocess==0.70.19", "xxhash==4.0.1"),
            *("huggingface-hub==2.4.0", "fsspec==2026.9.0", "filelock==4.2.10", "tqdm==4.70.1"),
            *("PyYAML==6.0.3", "pandas==3.1.1", "python-dateutil==4.0.0", "six==1.17.0"),
            *("httpx2==2.16.0", "httpcore2==2.16.0", "h11==0.16.0", "anyio==4.16.0"),
            *("truststore==0.10.5", "typing-extensions==4.16.0", "click==8.5.1", *_REQUESTS),
        ),
    ),
}
