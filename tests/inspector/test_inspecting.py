"""What `tapeflow.inspect` finds out: ops, links, bytes, gradients, and why there is none."""

import contextlib
import tracemalloc

import numpy as np
import pytest
from tests.core.interruptions import interrupted

import tapeflow
import tapeflow as tf
from tapeflow._src.autodiff.tape import debugging
from tapeflow._src.core.context import context
from tapeflow._src.engines import choice
from tapeflow._src.engines.numpy.engine import NumpyEngine
from tapeflow._src.inspector.clock import Clock
from tapeflow._src.inspector.collecting import take_times
from tapeflow._src.inspector.explaining import explanations
from tapeflow._src.inspector.observer import Observer


def named(page, name, phase=None):
    return [s for s in page.data["steps"] if s["name"] == name and s.get("phase") == phase]


def peak_of(data):
    """The highest point of the curve, as the page draws it."""
    steps = data["steps"]
    return max(
        sum(size for born, died, size in data["arrays"] if born <= i and (died is None or died > i))
        + step.get("workspace", 0)
        for i, step in enumerate(steps)
    )


class Network:
    """Two layers, and a step that trains them."""

    def __init__(self, width=64, batch=32):
        rng = np.random.default_rng(0)
        self.w1 = tf.Variable(rng.normal(size=[20, width]), name="w1", dtype=tf.float32)
        self.w2 = tf.Variable(rng.normal(size=[width, 5]), name="w2", dtype=tf.float32)
        self.x = tf.constant(rng.normal(size=[batch, 20]), tf.float32)
        self.y = tf.constant(rng.integers(0, 5, batch))

    def loss(self, x, y):
        with tf.name_scope("hidden"):
            h = tf.nn.relu(x @ self.w1)
        with tf.name_scope("output"):
            logits = h @ self.w2
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        gradients = tape.gradient(loss, [self.w1, self.w2])
        self.w1.assign_sub(0.1 * gradients[0])
        self.w2.assign_sub(0.1 * gradients[1])
        return gradients


@pytest.fixture
def network():
    return Network()


class TestAStep:
    def test_its_ops_are_there_in_order_with_lines_and_scopes(self, network):
        page = tapeflow.inspect(network.step, network.x, network.y)
        forward = [s for s in page.data["steps"] if "phase" not in s]
        assert [s["name"] for s in forward] == [
            *("matmul", "relu", "matmul", "sparse_softmax_cross_entropy", "mean")
        ]
        assert [s.get("scope") for s in forward] == ["hidden", "hidden", "output", None, None]
        first = forward[0]
        file = page.data["files"][first["file"]]
        assert file["name"] == "test_inspecting.py"
        assert file["code"][str(first["line"])] == "h = tf.nn.relu(x @ self.w1)"
        assert first["shapes"] == ["float32[32, 64]"]
        assert first["inputs"] == [None, "w1:0"]
        assert forward[1]["inputs"] == [0]

    def test_backward_ops_lead_to_the_op_whose_gradient_they_are(self, network):
        data = tapeflow.inspect(network.step, network.x, network.y).data
        steps = data["steps"]
        (relu,) = [i for i, s in enumerate(steps) if s["name"] == "relu_gradient"]
        assert steps[steps[relu]["of"]]["name"] == "relu"
        products = [s for s in steps if s["name"] == "matmul" and s.get("phase") == "backward"]
        assert sorted(s["of"] for s in products) == [0, 2, 2]
        assert {s["scope"] for s in products} == {"hidden", "output"}

    def test_what_is_kept_and_by_which_formula(self, network):
        page = tapeflow.inspect(network.step, network.x, network.y)
        (relu,) = named(page, "relu")
        assert relu["kept"] == 32 * 64 * 4  # its output, which the next product needs, too
        assert relu["keeps"] == ["y"]
        assert "relu_gradient" in relu["formula"]
        # The product keeps x, which is not ours, and what relu keeps already.
        assert all("kept" not in s for s in named(page, "matmul"))
        (tanh,) = named(tapeflow.inspect(lambda x: tf.tanh(x), tf.ones([10])), "tanh")
        assert tanh["keeps"] == ["y"]
        assert "y * y" in tanh["formula"]

    @pytest.mark.exhaustive
    def test_norms_of_gradients(self, network):
        expected = [float(tf.norm(g)) for g in tapeflow_gradients(network)]
        page = tapeflow.inspect(network.step, network.x, network.y)
        found = {g["name"]: g["numbers"]["norm"] for g in page.data["gradients"]}
        assert list(found) == ["w1", "w2"]
        np.testing.assert_allclose(list(found.values()), expected, rtol=1e-4)
        with tf.GradientTape() as tape:
            h = tf.nn.relu(network.x @ network.w1)
            tape.watch(h)
            logits = h @ network.w2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(network.y, logits))
        (relu,) = named(page, "relu")
        np.testing.assert_allclose(
            relu["gradient"]["norm"], float(tf.norm(tape.gradient(loss, h))), rtol=1e-4
        )

    @pytest.mark.exhaustive
    def test_variables_hold_what_they_held(self, network):
        before = network.w1.numpy()
        tapeflow.inspect(network.step, network.x, network.y)
        np.testing.assert_array_equal(network.w1.numpy(), before)

    @pytest.mark.exhaustive
    def test_updates_are_told_apart(self, network):
        page = tapeflow.inspect(network.step, network.x, network.y)
        names = [s["name"] for s in page.data["steps"] if s.get("phase") == "update"]
        assert names == ["multiply", "assign", "multiply", "assign"]

    @pytest.mark.exhaustive
    def test_shares_of_zeros(self):
        page = tapeflow.inspect(tf.nn.relu, tf.constant([-1.0, -2.0, 3.0, -4.0]))
        (relu,) = named(page, "relu")
        assert relu["values"]["zeros"] == 0.75
        assert relu["values"]["norm"] == 3.0


def tapeflow_gradients(network):
    with tf.GradientTape() as tape:
        loss = network.loss(network.x, network.y)
    return tape.gradient(loss, [network.w1, network.w2])


class TestMemory:
    @pytest.mark.exhaustive
    def test_the_curve_counts_arrays(self):
        def f(x):
            y = x + 1
            z = tf.reshape(y, [10, 100])
            del y
            return tf.reduce_sum(z * 2)

        data = tapeflow.inspect(f, tf.range(1000)).data  # integers, so no gradient is taken
        assert [s["name"] for s in data["steps"]] == ["add", "reshape", "multiply", "sum"]
        assert [a[:1] + a[2:] for a in data["arrays"]] == [[0, 4000], [2, 4000]]
        assert peak_of(data) == 8000

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("kind", ["attention", "dense", "convolution"])
    def test_the_peak_is_that_of_the_process(self, kind):
        step, arguments = STEPS[kind]()
        data = tapeflow.inspect(step, *arguments).data
        assert peak_of(data) == pytest.approx(process_peak(step, *arguments), rel=0.1)

    @pytest.mark.exhaustive
    def test_the_update_of_an_optimizer_writes_where_variables_are(self):
        keras = pytest.importorskip("keras", reason="Keras is not installed") and tf.keras
        weights = [tf.Variable(tf.ones([160, 160])) for _ in range(16)]
        optimizer = keras.optimizers.Adam()

        def step(x):
            with tf.GradientTape() as tape:
                for w in weights:
                    x = x @ w
                loss = tf.reduce_sum(x)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

        x = tf.ones([2, 160])
        step(x)
        data = tapeflow.inspect(step, x).data
        assert peak_of(data) == pytest.approx(process_peak(step, x), rel=0.1)

    @pytest.mark.exhaustive
    def test_the_peak_of_a_program(self, monkeypatch):
        monkeypatch.setattr(choice, "ENGINES", [NumpyEngine()])
        step, arguments = attention()
        traced = tf.function(step)
        data = tapeflow.inspect(traced, *arguments).data
        measured = process_peak(traced, *arguments)
        assert data["functions"][0]["peak"] == pytest.approx(measured, rel=0.1)
        assert data["functions"][0]["peak"] < peak_of(data)  # it lets go of more than Python does


def process_peak(step, *arguments):
    """The bytes that a call allocates at most, as Python counts them."""
    step(*arguments)
    tracemalloc.start()
    try:
        base = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        step(*arguments)
        return tracemalloc.get_traced_memory()[1] - base
    finally:
        tracemalloc.stop()


def dense():
    network = Network(width=512, batch=256)
    return network.step, (network.x, network.y)


def convolution():
    rng = np.random.default_rng(0)
    kernels = [
        tf.Variable(rng.normal(size=[3, 3, 3, 16]), dtype=tf.float32),
        tf.Variable(rng.normal(size=[3, 3, 16, 16]), dtype=tf.float32),
    ]

    def step(x):
        with tf.GradientTape() as tape:
            for kernel in kernels:
                x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
            loss = tf.reduce_mean(x)
        return tape.gradient(loss, kernels)

    return step, (tf.constant(rng.normal(size=[8, 32, 32, 3]), tf.float32),)


def attention():
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=[64, 64]), dtype=tf.float32) for _ in range(3)]

    def step(x):
        with tf.GradientTape() as tape:
            query, key, value = (x @ w for w in weights)
            looks = tf.nn.softmax(tf.matmul(query, key, transpose_b=True))
            loss = tf.reduce_mean(looks @ value)
        return tape.gradient(loss, weights)

    return step, (tf.constant(rng.normal(size=[8, 128, 64]), tf.float32),)


STEPS = {"dense": dense, "convolution": convolution, "attention": attention}


class TestWhatIsInspected:
    @pytest.mark.exhaustive
    def test_a_function_that_takes_no_gradient(self, network):
        page = tapeflow.inspect(network.loss, network.x, network.y)
        assert [g["name"] for g in page.data["gradients"]] == ["w1", "w2"]
        assert any(s.get("phase") == "backward" for s in page.data["steps"])

    def test_a_function_of_integers_has_no_gradient(self):
        page = tapeflow.inspect(lambda x: x + 1, tf.constant([1, 2]))
        assert [s["name"] for s in page.data["steps"]] == ["add"]

    def test_a_traced_function(self, network):
        page = tapeflow.inspect(tf.function(network.step), network.x, network.y)
        facts = page.data["functions"][0]
        assert facts["name"] == "step"
        assert "ops traced" in facts["report"]
        assert "relu" in facts["before"]
        assert "def program" in facts["program"]
        assert named(page, "relu")

    @pytest.mark.exhaustive
    def test_what_passes_do(self):
        @tf.function
        def f(x):
            a = tf.sin(x) * tf.sin(x)
            tf.exp(x)
            return a * 1.0 + tf.exp(tf.cast(tf.size(x), tf.float32))

        facts = tapeflow.inspect(f, tf.ones([3])).data["functions"][0]
        fates = {}
        for fate in facts["fates"]:
            fates.setdefault(fate["what"], []).append(fate["name"])
        assert fates["merged"] == ["sin"]
        assert "multiply" in fates["simplified"]
        assert "exp" in fates["folded"]
        assert fates["unused"] == ["exp"]

    def test_a_keras_model(self):
        keras = pytest.importorskip("keras", reason="Keras is not installed") and tf.keras
        first = keras.layers.Dense(4, activation="relu", name="first")
        model = keras.Sequential([first, keras.layers.Dense(2, name="second")])
        model.compile("sgd", "mse")
        x, y = np.ones([3, 5], "float32"), np.ones([3, 2], "float32")
        page = tapeflow.inspect(model, x, y)
        scopes = {s.get("scope", "") for s in page.data["steps"]}
        assert any(scope.endswith("/first") for scope in scopes)
        assert any(scope.endswith("/second") for scope in scopes)
        assert len(page.data["gradients"]) == 4
        assert len(tapeflow.inspect(model, x).data["gradients"]) == 4
        data = tapeflow.inspect(model.train_step, (x, y)).data
        assert "update" in {s.get("phase") for s in data["steps"]}
        assert all(died is None or died >= born for born, died, _ in data["arrays"])

    @pytest.mark.exhaustive
    def test_a_function_that_calls_a_traced_one(self, network):
        traced = tf.function(network.loss)

        def step(x, y):
            with tf.GradientTape() as tape:
                loss = traced(x, y)
            return tape.gradient(loss, [network.w1, network.w2])

        page = tapeflow.inspect(step, network.x, network.y)
        assert named(page, "relu")[0]["scope"] == "hidden"
        assert any(s.get("phase") == "backward" for s in page.data["steps"])

    def test_the_time_of_a_program_is_divided_among_its_ops(self, network):
        traced = tf.function(network.step)
        for _ in range(3):
            traced(network.x, network.y)
        with Observer() as observer:
            traced(network.x, network.y)
        with Clock() as clock:
            traced(network.x, network.y)
        [numbers] = observer.calls
        [program] = [op for op in clock.ops if op.name is None]
        assert len(numbers) > 10 and len(clock.ops) < len(observer.steps)
        take_times(observer, clock)
        kernels = [observer.steps[number].kernel for number in numbers]
        assert program.kernel - len(numbers) <= sum(kernels) <= program.kernel
        assert sum(kernel > 0 for kernel in kernels) > 10

    def test_times_add_up_to_those_of_a_run_that_nobody_watches(self, network):
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu")] * 3)
        model.compile("adam", "mse")
        x = tf.ones([8, 4])
        for step, args in ((network.step, (network.x, network.y)), (model.train_step, ((x, x),))):
            data = tapeflow.inspect(step, *args).data
            times = sum(s.get("kernel", 0) + s.get("before", 0) for s in data["steps"])
            assert times == pytest.approx(data["wall"], abs=2 * len(data["steps"]))

    def test_times_add_up_where_a_function_fails_and_the_step_goes_on(self, network):
        @tf.function
        def positive(x):
            tf.debugging.assert_positive(x)
            return x * 2.0

        def step():
            with contextlib.suppress(tf.errors.InvalidArgumentError):
                positive(tf.constant([-1.0]))
            return tf.exp(positive(tf.constant([1.0])))

        data = tapeflow.inspect(step).data
        times = sum(s.get("kernel", 0) + s.get("before", 0) for s in data["steps"])
        assert times == pytest.approx(data["wall"], abs=2 * len(data["steps"]))

    def test_times_of_another_run_are_not_taken(self, network):
        with Observer() as observer:
            network.step(network.x, network.y)
        before = [step.kernel for step in observer.steps]
        with Clock() as clock:
            network.loss(network.x, network.y)
        take_times(observer, clock)
        assert [step.kernel for step in observer.steps] == before

    def test_ops_that_recorders_are_not_told_of(self):
        w = tf.Variable(tf.ones([1000]), name="w")

        def step():
            with tf.GradientTape() as tape:
                y = tf.recompute_grad(lambda: tf.tanh(w * 2.0) * 3.0)()
            return tape.gradient(y, w)

        steps = tapeflow.inspect(step).data["steps"]
        names = [(s["name"], s.get("phase"), s.get("made")) for s in steps[:3]]
        assert names == [("multiply", None, 4000), ("tanh", None, 4000), ("multiply", None, 4000)]
        again = [s["name"] for s in steps if s.get("phase") == "backward"]
        assert again.count("tanh") == 1

    def test_what_cannot_be_inspected(self):
        with pytest.raises(TypeError, match="a function, a model or a tape, got 3"):
            tapeflow.inspect(3)

    def test_a_function_that_fails_leaves_nothing_behind(self):
        from tapeflow._src.core.context import context

        before = context.dispatch

        def fails():
            tf.sin(1.0)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            tapeflow.inspect(fails)
        assert context.dispatch == before
        assert not tracemalloc.is_tracing()


class TestTapes:
    def test_its_records_and_the_walk_back(self):
        x = tf.Variable(tf.ones([100]), name="x")
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(x) * x)
        page = tapeflow.inspect(tape, y, x)
        assert [s["name"] for s in page.data["steps"]][:3] == ["tanh", "multiply", "sum"]
        assert page.data["steps"][0]["kept"] == 400
        expected = float(tf.norm(tape.gradient(y, x)))  # the tape can still be used
        (gradient,) = page.data["gradients"]
        assert gradient["name"] == "x"
        np.testing.assert_allclose(gradient["numbers"]["norm"], expected, rtol=1e-5)

    def test_alone(self):
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            tf.sin(x)
        assert [s["name"] for s in tapeflow.inspect(tape).data["steps"]] == ["sin"]

    def test_why_there_is_no_gradient(self):
        a, b, c = (tf.Variable(1.0, name=name) for name in "abc")
        x = tf.constant(2.0)
        with tf.GradientTape(debug=True) as tape:
            y = a * x + tf.stop_gradient(b * 2.0)
        page = tapeflow.inspect(tape, y, [a, b, c, x])
        missing = {g["name"]: g["missing"] for g in page.data["gradients"]}
        assert missing["a"] is None
        path = [(hop["op"], hop["cut"]) for hop in missing["b"]["path"]]
        assert path == [("multiply", False), ("stop_gradient", True), ("add", False)]
        assert "never read" in missing["c"]["text"]
        assert "tape.watch(x)" in missing["x"]["fix"]

    def test_one_that_let_go(self):
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = tf.sin(x)
        tape.gradient(y, x)
        with pytest.raises(RuntimeError, match="nothing left to show"):
            tapeflow.inspect(tape, y, x)

    @pytest.mark.exhaustive
    def test_why_inside_of_a_step(self):
        a, lost = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="lost")

        def step():
            with tf.GradientTape() as tape:
                y = a * tf.stop_gradient(lost)
            return tape.gradient(y, [a, lost])

        page = tapeflow.inspect(step)
        (missing,) = [g for g in page.data["gradients"] if g["missing"]]
        assert missing["name"] == "lost"
        assert "stop_gradient" in missing["missing"]["text"]

    def test_why_there_is_none_at_all(self):
        a = tf.Variable(1.0, name="a")

        def step():
            with tf.GradientTape() as tape:
                y = tf.stop_gradient(a)
            return tape.gradient(y, [a])  # no op runs

        page = tapeflow.inspect(step)
        (missing,) = page.data["gradients"]
        assert missing["name"] == "a"
        (told,) = page.data["advice"]
        assert "test_inspecting.py" in told["where"]

    def test_arguments_without_gradients_are_named(self):
        page = tapeflow.inspect(lambda x: tf.stop_gradient(x * 2.0), tf.constant(1.0))
        assert [g["name"] for g in page.data["gradients"]] == ["argument 0"]


class TestAdvice:
    def texts(self, *arguments):
        return [each["text"] for each in tapeflow.inspect(*arguments).data["advice"]]

    def test_where_numbers_stop_being_finite(self):
        def f(x):
            y = tf.math.log(x)
            return tf.reduce_sum(y * 0.0)

        page = tapeflow.inspect(f, tf.constant([1.0, 0.0]))
        first = page.data["advice"][0]
        assert "log is the first" in first["text"]
        assert "1 infinity" in first["text"]
        assert page.data["steps"][first["step"]]["name"] == "log"

    def test_numbers_that_were_not_finite_before(self):
        w = tf.Variable([1.0, np.nan], name="w")
        first = tapeflow.inspect(lambda: tf.reduce_sum(w * 2.0)).data["advice"][0]
        assert first["text"].endswith("1 NaN. Its input w had such before the step.")

    @pytest.mark.exhaustive
    def test_recomputing(self):
        w = tf.Variable(tf.ones([1000]))

        def f(x):
            for name in ("first", "second", "last"):
                with tf.name_scope(name):
                    for _ in range(3):
                        x = tf.tanh(x * w)
            return tf.reduce_sum(x)

        texts = [t for t in self.texts(f, tf.ones([300, 1000])) if "recompute" in t]
        assert "around first would lower the peak" in texts[0]
        assert not any("around last" in text for text in texts)  # it is computed again at once

    @pytest.mark.exhaustive
    def test_loops_that_are_unrolled(self):
        @tf.function
        def f(x):
            for _ in range(60):
                x = tf.sin(x)
            return x

        assert any("sin 60 times" in t and "tf.range" in t for t in self.texts(f, tf.ones([2])))

    @pytest.mark.exhaustive
    def test_traces(self):
        f = tf.function(lambda x, n: x * n)
        for n in range(6):
            f(tf.ones([2]), n)
        (text,) = [t for t in self.texts(f, tf.ones([2]), 5) if "traced" in t]
        assert (
            "was traced 6 times. The Python value of the argument 'n' changes (4, then 5)" in text
        )


def test_who_looks_for_questions_is_gone_after_an_interruption():
    before, at = debugging.everywhere, 0
    for at in range(1_000):
        is_inside = interrupted(lambda: explanations(lambda: None), at)
        assert context.witness is None
        assert debugging.everywhere is before
        if not is_inside:
            break
    assert at > 3
