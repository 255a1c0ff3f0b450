"""TensorFlow's name, its insides that libraries reach for, and `tapeflow doctor`."""

import collections
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import tapeflow as tf
from tapeflow._src.core.versions import __version__
from tapeflow._src.tools import doctor, redirect
from tapeflow._src.tools.internals import modules, structures

ROOT = Path(__file__).parents[2]


@pytest.fixture
def redirected():
    redirect.install()
    yield
    redirect.uninstall()


def test_the_version_is_that_of_tensorflow_where_the_name_is(redirected):
    import tensorflow

    assert tensorflow.__version__ == tf.version.VERSION
    assert tensorflow.__doc__.startswith(f"tapeflow {__version__} in the place of TensorFlow")
    redirect.uninstall()
    assert tf.__version__ == __version__
    assert tf.__doc__.startswith("tapeflow: ")


def test_names_are_found_where_they_are_public(redirected):
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops, tensor_util
    from tensorflow.python.framework.ops import EagerTensor
    from tensorflow.python.ops import array_ops, math_ops

    assert math_ops.reduce_sum is tf.reduce_sum and array_ops.reshape is tf.reshape
    assert ops.convert_to_tensor is tf.convert_to_tensor
    assert tensor_util.constant_value(tf.constant(3)) == 3
    assert context.executing_eagerly() and context.context().executing_eagerly()
    x = tf.constant(1.0)
    seen = []

    @tf.function
    def traced(x):
        seen.append(isinstance(x, EagerTensor))
        return x

    traced(x)
    assert isinstance(x, EagerTensor) and seen == [False]
    assert not isinstance(1.0, EagerTensor)


def test_classes_of_tpus_can_be_asked_about_and_not_made(redirected):
    import tensorflow

    embedding = tensorflow.tpu.experimental.embedding
    kinds = tensorflow.tpu.experimental.HardwareFeature.EmbeddingFeature
    assert not isinstance(3, embedding.FeatureConfig) and kinds.V1 != kinds.UNSUPPORTED
    with pytest.raises(tf.errors.UnimplementedError, match=r"embedding\.Adam belongs to TPUs"):
        embedding.Adam(learning_rate=0.1)
    redirect.uninstall()
    with pytest.raises(AttributeError, match=r"does not have tf\.tpu yet"):
        tf.tpu


def test_whether_a_tape_follows(redirected):
    from tensorflow.python.eager.record import should_record_backprop

    x = tf.constant(1.0)
    assert not should_record_backprop([x])
    with tf.GradientTape() as tape:
        assert not should_record_backprop([x])
        tape.watch(x)
        assert should_record_backprop([x])


def test_what_is_not_there_is_named(redirected):
    from tensorflow.python.framework import ops

    with pytest.raises(AttributeError, match=r"python\.framework\.ops\.nonsense"):
        ops.nonsense
    with pytest.raises(ImportError, match=r"python\.nonsense"):
        import tensorflow.python.nonsense  # noqa: F401


@pytest.mark.parametrize("name", modules.MODULES)
def test_every_module_of_the_table_can_be_imported(redirected, name):
    found = __import__(f"tensorflow.python.{name}", fromlist=["x"])
    assert found.__name__ == f"tensorflow.python.{name}"
    for namespace in modules.MODULES[name].namespaces:  # each is one of ours
        part = tf
        for each in filter(None, namespace.split(".")):
            part = getattr(part, each)


def test_functions_of_structures():
    point = collections.namedtuple("Point", "x y")
    deep = {"b": [1, (2, 3)], "a": point(4, 5)}
    paths = [("a", "x"), ("a", "y"), ("b", 0), ("b", 1, 0), ("b", 1, 1)]
    assert list(structures.yield_flat_paths(deep)) == paths
    assert structures.flatten_up_to({"b": [0, 0], "a": 0}, deep) == [point(4, 5), 1, (2, 3)]
    assert structures.map_structure_with_tuple_paths(lambda p, x: len(p) * x, deep) == {
        "b": [2, (6, 9)],
        "a": point(8, 10),
    }
    with pytest.raises(ValueError, match="elements"):
        structures.assert_shallow_structure([1, 2], [1, 2, 3])
    with pytest.raises(TypeError, match="more inside"):
        structures.assert_shallow_structure([1, [2]], [1, 2])


def test_gradients_can_be_refused(redirected):
    from tensorflow.python.ops import array_ops

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = array_ops.prevent_gradient(x, message="not here") * 3.0
    assert float(y) == 6.0
    with pytest.raises(LookupError, match="not here"):
        tape.gradient(y, x)


def in_fresh_python(code):
    path = os.pathsep.join([str(ROOT / "packages/tensorflow-tapeflow"), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_package_of_that_name():
    lines = in_fresh_python(
        "import tensorflow as tf, sys; import tapeflow; print(tf is tapeflow, tf.__version__)\n"
        "from tensorflow.python.util import nest; print(nest.flatten([[1], 2]))\n"
        "from tapeflow._src.tools import doctor; print(list(doctor.lines())[-1])"
    )
    assert lines == [f"True {tf.version.VERSION}", "[1, 2]", "import tensorflow: tapeflow"]


def test_keras_takes_tapeflow_where_it_would_take_tensorflow():
    pytest.importorskip("keras")
    lines = in_fresh_python(
        "import os; os.environ.pop('KERAS_BACKEND', None)\n"
        "import tapeflow_as_tensorflow, keras; print(keras.backend.backend(), keras.src.backend.backend())"
    )
    assert lines == ["tensorflow tapeflow"]


def test_what_the_doctor_says():
    said = "\n".join(doctor.lines())
    assert f"tapeflow {__version__}" in said
    assert "processors may be used" in said
    assert "import tensorflow: " in said


def test_the_name_costs_nothing_until_an_inside_is_asked_for():
    code = """if True:
        import sys
        import tapeflow
        from tapeflow._src.tools import redirect
        before = set(sys.modules)
        redirect.install()
        import tensorflow as tf
        print([name for name in set(sys.modules) - before if name.startswith("tapeflow")])
        print(tf.__internal__ is tf.compat.v1.__internal__ is tf.compat.v2.__internal__)
        print(hasattr(tf.nn, "__internal__"))
        redirect.uninstall()
        print(hasattr(tf, "__internal__"), hasattr(tf.compat.v1, "__internal__"))
    """
    lines = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert lines == ["[]", "True", "False", "False False"]


def test_tensors_say_that_they_are_tensorflows(redirected):
    kinds = [type(tf.constant(1.0)), type(tf.Variable(1.0)), type(tf.Variable([1.0])[0])]
    assert [kind.__module__ for kind in kinds] == ["tensorflow"] * 3
    assert [kind.__name__ for kind in kinds] == ["EagerTensor", "ResourceVariable", "EagerTensor"]
    assert pickle.loads(pickle.dumps(tf.constant([1.0, 2.0]))).numpy().tolist() == [1.0, 2.0]
    redirect.uninstall()
    assert {kind.__module__.partition(".")[0] for kind in kinds} == {"tapeflow"}
    assert [kind.__name__ for kind in kinds] == ["Tensor", "Variable", "VariableSlice"]


def test_tensors_in_functions_and_batches_do_so_too():
    code = """if True:
        import tapeflow as tf
        from tapeflow._src.tools import redirect
        redirect.install()
        x = tf.Variable([1.0, 2.0])
        seen = set()
        def kinds(y):
            seen.update(type(each).__module__ for each in (y, x[0], x[0] * y))
            return y
        tf.function(kinds, autograph=False)(tf.constant(1.0))
        tf.vectorized_map(kinds, tf.constant([1.0, 2.0]))
        class Own(tf.Tensor):
            pass
        print(seen, Own.__module__)
    """
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert lines.stdout.split() == ["{'tensorflow'}", "__main__"]


def test_folders_have_what_is_in_them(redirected):
    import tensorflow.python as insides

    assert insides.eager.tape.should_record_backprop([tf.constant(1.0)]) is False
    assert insides.framework.ops.convert_to_tensor is tf.convert_to_tensor
    with pytest.raises(AttributeError, match=r"tensorflow\.python\.nothing"):
        _ = insides.nothing


def test_seeds_and_determinism_of_the_insides(redirected):
    from tensorflow.python.eager import context
    from tensorflow.python.framework import config

    tf.random.set_seed(5)
    assert context.global_seed() == 5
    assert context.context().device_spec.device_type is None
    with tf.device("CPU:0"):
        assert context.context().device_spec.device_type == "CPU"
    before = config.is_op_determinism_enabled()
    config.enable_op_determinism()
    assert config.is_op_determinism_enabled()
    config.disable_op_determinism()
    assert not config.is_op_determinism_enabled()
    if before:
        config.enable_op_determinism()
