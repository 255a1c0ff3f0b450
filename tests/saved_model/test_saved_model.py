"""What `tf.saved_model.save` saves runs after `load` as it did before, without its Python code."""

import collections
import os
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.saved_model
import tapeflow.train
from tapeflow._src.saved_model.saving import export_concrete

VECTOR = tf.TensorSpec([None], tf.float32)


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.parts = {"b": [tf.Variable([0.5, -0.5], name="b")]}
        self.count = tf.Variable(0, trainable=False)
        self.plain = 5

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.parts["b"][0])

    @tf.function
    def choose(self, x, training=False):
        self.count.assign_add(1)
        return {"y": x * 2.0 if training else x, "pair": (x, None)}

    @tf.function
    def never(self, x):
        return x


def _loaded(obj, folder, **options):
    tf.saved_model.save(obj, folder, **options)
    return tf.saved_model.load(folder)


@pytest.fixture
def net():
    net = Net()
    net.choose(tf.constant([1.0, 2.0]))
    net.choose(tf.constant(1.0), training=True)
    return net


def test_functions_give_the_same(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    for rows in (1, 3, 0):  # one trace for all sizes
        x = np.random.default_rng(0).normal(size=[rows, 2]).astype(np.float32)
        np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
    assert vars(loaded)["__call__"].experimental_get_tracing_count() <= 2
    result = loaded.choose(tf.constant([1.0, 2.0]))
    assert result["y"].numpy().tolist() == [1.0, 2.0]
    assert result["pair"][1] is None
    assert loaded.choose(tf.constant(3.0), True)["y"].numpy() == 6.0
    assert loaded.choose(tf.constant(3.0), training=True)["y"].numpy() == 6.0
    assert loaded([[1.0, 1.0]]).numpy().tolist() == [[4.5, 5.5]]


def test_variables_and_parts_are_there(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    assert loaded.w.numpy().tolist() == net.w.numpy().tolist()
    assert loaded.w.name == "w:0"
    assert loaded.parts["b"][0].numpy().tolist() == [0.5, -0.5]
    assert len(loaded.variables) == 3
    assert [v.name for v in loaded.trainable_variables] == [v.name for v in net.trainable_variables]
    assert not loaded.count.trainable
    assert not hasattr(loaded, "plain")
    loaded.w.assign(tf.zeros([2, 2]))  # functions use the variables that are attributes
    assert loaded(tf.ones([1, 2])).numpy().tolist() == [[0.5, 0.0]]
    assert net.w.numpy().any()


def test_assignments_are_part_of_a_function(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    before = int(loaded.count)
    loaded.choose(tf.constant(1.0), training=True)
    loaded.choose(tf.constant(1.0), training=True)
    assert int(loaded.count) == before + 2


def test_gradients_flow_through_loaded_functions(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    x = tf.constant([[1.0, -2.0], [0.5, 3.0]])
    found = []
    for model in (net, loaded):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x) ** 3)
            (g,) = tape.gradient(loss, [model.w])
            total = tf.reduce_sum(g**2)
        found.append((g.numpy(), outer.gradient(total, x).numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1])


def test_other_arguments_are_refused_with_what_there_is(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    with pytest.raises(
        ValueError, match=r"(?s)Could not find matching concrete function.*shape=\(2,\).*False"
    ):
        loaded.choose(tf.constant(1.0))
    with pytest.raises(ValueError, match="Could not find matching"):
        loaded(tf.ones([1, 3]))
    with pytest.raises(ValueError, match="'never' had no trace"):
        loaded.never(tf.constant(1.0))


def test_the_default_signature_is_the_only_function_with_one(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    assert list(loaded.signatures) == ["serving_default"]
    serve = loaded.signatures["serving_default"]
    assert serve(x=tf.ones([1, 2]))["output_0"].numpy().tolist() == [[4.5, 5.5]]
    assert serve(tf.ones([1, 2])).keys() == {"output_0"}
    assert serve.structured_outputs == {"output_0": tf.TensorSpec([None, 2], name="output_0")}
    assert serve.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2], name="x")})


def test_signatures_by_name(net, tmp_path):
    @tf.function
    def difference(b, a):
        return {"d": a - b, "w": net.w}

    class Two(tf.Module):
        pass

    two = Two()
    two.net = net
    concrete = difference.get_concrete_function(VECTOR, tf.TensorSpec([], tf.float32))
    loaded = _loaded(two, tmp_path, signatures={"difference": concrete, "call": net.__call__})
    assert sorted(loaded.signatures) == ["call", "difference"]
    result = loaded.signatures["difference"](a=tf.constant(5.0), b=tf.constant([1.0, 2.0]))
    assert result["d"].numpy().tolist() == [4.0, 3.0]
    assert result["w"].numpy().tolist() == net.w.numpy().tolist()
    assert list(loaded.signatures["difference"].structured_input_signature[1]) == ["b", "a"]
    assert loaded.net(tf.ones([1, 2])).numpy().tolist() == [[4.5, 5.5]]


def test_a_loaded_signature_is_saved_again(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    again = tf.Module()
    again.w, again.serve = loaded.w, loaded.signatures["serving_default"]
    again = _loaded(again, tmp_path / "again", signatures=again.serve)
    assert again.serve(tf.ones([1, 2]))["output_0"].numpy().tolist() == [[4.5, 5.5]]
    served = again.signatures["serving_default"](x=tf.ones([1, 2]))
    assert served["output_0"].numpy().tolist() == [[4.5, 5.5]]


def test_all_traces_of_a_loaded_function(net, tmp_path):
    loaded = _loaded(net, tmp_path)
    (concrete,) = vars(loaded)["__call__"].concrete_functions
    assert concrete(tf.ones([1, 2])).numpy().tolist() == [[4.5, 5.5]]


def test_tags_are_those_of_serving(net, tmp_path):
    assert _loaded(net, tmp_path).w.shape == tf.saved_model.load(tmp_path, ["serve"]).w.shape
    with pytest.raises(ValueError, match=r"no graph with the tags \['gpu'\]"):
        tf.saved_model.load(tmp_path, tags=["gpu"])


@pytest.mark.parametrize(
    "wrong",
    [5, tf.function(lambda x: x), lambda x: x],
    ids=["number", "without a signature", "plain function"],
)
def test_wrong_signatures_are_refused(net, tmp_path, wrong):
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(net, tmp_path, signatures=wrong)


def test_a_signature_returns_tensors_and_no_structures(net, tmp_path):
    concrete = net.choose.get_concrete_function(VECTOR)
    with pytest.raises(ValueError, match="must be a single Tensor"):
        tf.saved_model.save(net, tmp_path, signatures=concrete)


def test_tensors_of_unknown_rank(tmp_path, caplog):
    class Doubling(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None)])
        def twice(self, x):
            return x * 2.0

    tf.saved_model.save(Doubling(), tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    for shape in ((), (3,), (2, 3, 4)):
        np.testing.assert_array_equal(loaded.twice(np.ones(shape, np.float32)), np.full(shape, 2))
    assert not caplog.records
    signature = loaded.signatures["serving_default"]
    assert signature.structured_outputs == {"output_0": tf.TensorSpec(None, name="output_0")}
    for shape in ((), (3,), (2, 1)):
        assert signature(x=tf.ones(shape))["output_0"].shape == shape
        assert signature(tf.ones(shape))["output_0"].shape == shape
    with pytest.raises(ValueError, match="saved for these arguments"):
        loaded.twice(np.ones((1,) * 6, np.float32))
    doubling = Doubling()
    tf.saved_model.save(doubling, tmp_path / "other", signatures={"own": doubling.twice})
    assert list(tf.saved_model.load(tmp_path / "other").signatures) == ["own"]
    with pytest.raises(ValueError, match="say the rank"):
        options = tf.saved_model.SaveOptions(format="tensorflow")
        tf.saved_model.save(doubling, tmp_path / "third", doubling.twice, options)


def test_objects_without_parts_are_refused(tmp_path):
    for wrong in (5, tf.Variable(1.0), "x"):
        with pytest.raises(ValueError, match="expected an object"):
            tf.saved_model.save(wrong, tmp_path)


def _module(function, *specs):
    module = tf.Module()
    module.f = tf.function(function)
    module.f.get_concrete_function(*specs)
    return module


def _powers(x, n):
    for _ in tf.range(n):
        x = x * x
    return x


def _branches(x):
    if tf.reduce_sum(x) > 0:
        y = tf.sin(x) * x
    else:
        y = -x
    return y


def _while(x):
    while tf.reduce_sum(x * x) < 100.0:
        x = x * 1.5
    return x


def _collect(x):
    parts = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(tf.shape(x)[0]):
        parts = parts.write(i, x[i] * tf.cast(i + 1, tf.float32))
    return parts.stack()


def _growing(x):
    y = x[:1]
    for _ in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, y[-1:] * 2.0], axis=0)
    return y


def _nested(x):
    total = tf.constant(0.0)
    for row in x:
        if row > 0.5:
            total += row * row
        else:
            for _ in tf.range(2):
                total -= row
    return total


FUNCTIONS = {
    "branches": (_branches, [VECTOR]),
    "while": (_while, [VECTOR]),
    "powers": (_powers, [VECTOR, tf.TensorSpec([], tf.int32)]),
    "map_fn": (lambda x: tf.map_fn(lambda e: tf.exp(e) * e, x), [VECTOR]),
    "scan": (lambda x: tf.scan(lambda a, e: a * 0.5 + e, x), [VECTOR]),
    "collect": (_collect, [VECTOR]),
    "growing": (_growing, [VECTOR]),
    "nested": (_nested, [VECTOR]),
    "sizes": (
        lambda x: tf.reshape(tf.tile(x, [2]), [2, -1]) / tf.cast(tf.shape(x)[0], tf.float32),
        [VECTOR],
    ),
    "slices": (lambda x: x[1:-1:2][..., None] + x[None, ::-1][:, :2], [VECTOR]),
    "constants": (lambda x: x @ tf.constant(np.eye(5, 3), tf.float32), [tf.TensorSpec([None, 5])]),
    "switch": (
        lambda x, n: tf.switch_case(n, [lambda: x, lambda: x * 2.0, lambda: tf.sqrt(x)]),
        [VECTOR, tf.TensorSpec([], tf.int32)],
    ),
    "complex": (lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))), [VECTOR]),
    "einsum": (lambda x: tf.einsum("i,j->ij", x, x), [VECTOR]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_control_flow_and_unknown_sizes(name, tmp_path):
    function, specs = FUNCTIONS[name]
    module = _module(function, *specs)
    loaded = _loaded(module, tmp_path)
    for size in (4, 6):
        shape = [size if d is None else d for d in specs[0].shape.as_list()]
        x = tf.constant(np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape), tf.float32)
        arguments = [x, *[tf.constant(2) for _ in specs[1:]]]
        found = []
        for f in (module.f, loaded.f):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(*arguments)
            found.append((y.numpy(), tape.gradient(y, x).numpy()))
        np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-6)
        np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-5)


def test_a_training_step_with_a_loop_is_saved_with_its_gradients(tmp_path):
    class Recurrent(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(0.5)

        @tf.function(input_signature=[VECTOR])
        def step(self, x):
            with tf.GradientTape() as tape:
                state = tf.constant(0.0)
                for i in tf.range(tf.shape(x)[0]):
                    if x[i] > 0.0:
                        state = tf.tanh(state * self.w + x[i])
                loss = state**2
            g = tape.gradient(loss, self.w)
            self.w.assign_sub(0.1 * g)
            return loss

    model = Recurrent()
    loaded = _loaded(model, tmp_path)
    x = tf.constant([0.3, -0.2, 0.8])
    for _ in range(3):
        np.testing.assert_allclose(loaded.step(x).numpy(), model.step(x).numpy(), rtol=1e-6)
    np.testing.assert_allclose(loaded.w.numpy(), model.w.numpy(), rtol=1e-6)
    assert model.w.numpy() != 0.5


Point = collections.namedtuple("Point", "x y")


def test_structures_of_arguments_and_results(tmp_path):
    def f(pair, *, scale=2.0, more):
        return Point(pair[0] * scale, [pair[1], more["a"]]), None

    specs = (VECTOR, tf.TensorSpec([], tf.float32))
    module = tf.Module()
    module.f = tf.function(f)
    module.f.get_concrete_function(specs, more={"a": VECTOR})
    loaded = _loaded(module, tmp_path)
    one = tf.constant([1.0])
    result, none = loaded.f((one, tf.constant(2.0)), more={"a": one})
    assert none is None
    assert result.x.numpy().tolist() == [2.0]
    assert result.y[1].numpy().tolist() == [1.0]
    assert type(result).__name__ == "Point"


def test_random_numbers_are_drawn_anew(tmp_path):
    module = _module(lambda x: x + tf.random.normal([3]), tf.TensorSpec([3]))
    loaded = _loaded(module, tmp_path)
    assert (loaded.f(tf.zeros([3])).numpy() != loaded.f(tf.zeros([3])).numpy()).all()


def test_a_function_that_calls_python_is_refused(tmp_path):
    module = _module(lambda x: tf.numpy_function(np.sin, [x], tf.float32), VECTOR)
    with pytest.raises(ValueError, match="calls Python when the function runs"):
        tf.saved_model.save(module, tmp_path)


def test_printing_is_left_out_and_told(tmp_path, caplog):
    def f(x):
        tf.print("x is", x)
        return x * 2.0

    loaded = _loaded(_module(f, VECTOR), tmp_path)
    assert "left out of the saved model" in caplog.text
    assert loaded.f(tf.constant([1.0])).numpy().tolist() == [2.0]


def test_a_loaded_model_can_be_saved_again(net, tmp_path):
    loaded = _loaded(net, tmp_path / "a")
    loaded.w.assign(tf.zeros([2, 2]))
    again = _loaded(loaded, tmp_path / "b")
    assert again(tf.ones([1, 2])).numpy().tolist() == [[0.5, 0.0]]
    assert again.choose(tf.constant(3.0), True)["y"].numpy() == 6.0


def test_a_loaded_function_inside_a_function(net, tmp_path):
    loaded = _loaded(net, tmp_path)

    @tf.function
    def twice(x):
        return loaded(loaded(x))

    x = tf.ones([3, 2])
    np.testing.assert_allclose(twice(x).numpy(), net(net(x)).numpy())
    tf.config.run_functions_eagerly(True)
    try:
        np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy())
    finally:
        tf.config.run_functions_eagerly(False)


def test_variables_that_only_functions_know(tmp_path):
    hidden = tf.Variable(3.0)
    loaded = _loaded(_module(lambda x: x * hidden, VECTOR), tmp_path)
    assert loaded.f(tf.constant([2.0])).numpy().tolist() == [6.0]
    assert len(loaded.variables) == 1


def test_a_checkpoint_of_a_loaded_model(net, tmp_path):
    loaded = _loaded(net, tmp_path / "model")
    path = tf.train.Checkpoint(net=net).write(tmp_path / "ck")
    loaded.w.assign(tf.zeros([2, 2]))
    tf.train.Checkpoint(net=loaded).read(path).assert_consumed()
    assert loaded.w.numpy().tolist() == net.w.numpy().tolist()


def test_it_runs_in_another_process_without_the_code_and_without_jax(net, tmp_path):
    tf.saved_model.save(net, tmp_path)
    code = (
        "import sys; sys.modules['jax'] = None\n"
        "import tapeflow as tf, tapeflow.saved_model\n"
        f"loaded = tf.saved_model.load({str(tmp_path)!r})\n"
        "print(loaded(tf.ones([1, 2])).numpy().tolist())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert run.stdout.strip() == "[[4.5, 5.5]]", run.stderr


def test_traced_functions_by_themselves(net, tmp_path):
    concrete = net.__call__.get_concrete_function()
    export_concrete(concrete, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    x = tf.ones([1, 2])
    assert loaded.serve(x).numpy().tolist() == [[4.5, 5.5]]
    assert loaded.signatures["serving_default"](x=x)["output_0"].numpy().tolist() == [[4.5, 5.5]]
    assert len(loaded.variables) == 2


def test_what_is_no_saved_model_is_refused(net, tmp_path):
    assert not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(OSError, match="does not exist at"):
        tf.saved_model.load(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(
        tf.errors.DataLossError, match=r"saved_model\.pb cannot be used: it holds no graph"
    ):
        tf.saved_model.load(tmp_path)
    tf.saved_model.save(net, tmp_path)
    assert tf.saved_model.contains_saved_model(tmp_path)
    (file,) = [name for name in os.listdir(tmp_path) if name.endswith("safetensors")]
    os.truncate(tmp_path / file, 100)
    with pytest.raises(tf.errors.DataLossError, match="truncated"):
        tf.saved_model.load(tmp_path)
    tf.train.Checkpoint(net=net).write(tmp_path / "saved_model")
    with pytest.raises(tf.errors.DataLossError, match="not a saved model"):
        tf.saved_model.load(tmp_path)


def test_variables_of_any_size(tmp_path):
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0, 3.0], shape=[None])
    module.m = tf.Variable(np.ones([2, 3], np.float32), shape=tf.TensorShape(None))
    module.f = tf.function(lambda x: x + module.v + tf.reduce_sum(module.m, 0))
    module.f(tf.ones([3]))
    module.f(tf.ones([2, 3]))
    loaded = _loaded(module, tmp_path)
    assert loaded.f(tf.ones([3])).numpy().tolist() == [4.0, 5.0, 6.0]
    loaded.v.assign([5.0])
    assert loaded.f(tf.ones([3])).numpy().tolist() == [8.0, 8.0, 8.0]


@pytest.mark.parametrize("size", [2, 7, 1000])
def test_functions_that_were_traced_for_sizes_that_few_have(tmp_path, size):
    """A window that is larger than what one would make up, and slices that leave nothing."""

    def f(x):
        y = tf.nn.avg_pool1d(x[None, :, None], size, 1, "VALID")
        return tf.reshape(y, [-1]) + tf.reduce_sum(x[size - 1 :]) + tf.reduce_sum(x[:-size])

    module = tf.Module()
    module.f = tf.function(f, reduce_retracing=True)
    x = tf.constant(np.arange(size, dtype=np.float32))
    for _ in range(2):
        module.f(tf.zeros([size + 1]))
        wanted = module.f(x).numpy()
    loaded = _loaded(module, tmp_path)
    np.testing.assert_allclose(loaded.f(x).numpy(), wanted)


def test_what_does_not_fit_an_input_signature_is_a_type_error(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None, 2])])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    for wrong in (tf.ones([2]), tf.ones([2, 3]), tf.ones([2, 2], tf.int32)):
        for kind in (TypeError, ValueError):
            with pytest.raises(kind, match="was saved for these arguments"):
                loaded.f(wrong)
    assert loaded.signatures["serving_default"](x=np.ones([1, 2]))["output_0"].dtype is tf.float32
