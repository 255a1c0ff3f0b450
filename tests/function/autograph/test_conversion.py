"""What is converted and what is not, and that converted functions are like the ones they come from."""

import ast
import functools
import inspect
import pathlib
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.autograph
from tapeflow._src.function.autograph import calls, convert, do_not_convert, errors
from tapeflow._src.function.autograph.errors import ConversionError
from tapeflow._src.function.autograph.options import Feature


def sign(x):
    """The sign."""
    if x > 0.0:
        return 1.0
    return -1.0


@pytest.fixture
def warned():
    errors._warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


# Which function it is.


def test_a_converted_function_looks_like_the_function():
    new = convert(sign)
    assert new.__name__ == "sign" and new.__doc__ == "The sign." and new.__wrapped__ is sign
    assert inspect.signature(new) == inspect.signature(sign)


def test_a_converted_function_is_not_converted_again():
    new = convert(sign)
    assert convert(new) is new


@pytest.mark.usefixtures("everything_symbolic")
def test_lambdas_on_one_line_are_told_apart():
    # fmt: off
    f, g, h = (lambda x: 1.0 if x > 0.0 else 2.0), (lambda x: 3.0 if x > 0.0 else 4.0), lambda: (lambda x: 5.0 if x > 0.0 else 6.0)  # noqa: E501
    # fmt: on
    x = tf.constant(1.0)
    assert [convert(each)(x).numpy() for each in (f, g, h())] == [1.0, 3.0, 5.0]
    assert convert(h)()(x) == 5.0


@pytest.mark.usefixtures("everything_symbolic")
def test_lambdas_over_several_lines():
    function = functools.reduce(
        lambda f, g: lambda x: (
            f(g(x))
            if x > 0.0
            else x
        ),
        [lambda x: x + 1.0, lambda x: x * 2.0],
    )  # fmt: skip
    assert convert(function)(tf.constant(3.0)) == 7.0


def swallow(function):
    @functools.wraps(function)
    def wrapper(x):
        if x > 0.0:
            return "positive"
        return function(x)

    return wrapper


@swallow
def swallowed(x):
    return "not positive"


def test_a_wrapper_is_converted_and_not_what_it_wraps():
    assert convert(swallowed)(1.0) == "positive"
    assert convert(swallowed)(-1.0) == "not positive"


def test_closures_share_their_cells():
    count = 0

    def increase(by=1, *, twice=False):
        nonlocal count
        if by > 0:
            count += by
            if twice:
                count += by
        return count

    new = convert(increase)
    assert (new(), new(5), new(1, twice=True), count) == (1, 6, 8, 8)


def test_functions_with_the_same_code_keep_their_own_closures_and_defaults():
    def make(n):
        def add(x, m=n):
            if x > 0:
                return x + n + m
            return x

        return convert(add)

    assert (make(1)(1), make(10)(1), make(1)(1, 100)) == (3, 21, 102)


calls_of_globals = 0


def test_globals():
    def change(x):
        global calls_of_globals
        if x > 0:
            calls_of_globals += 1
        return calls_of_globals

    assert convert(change)(1) == 1 == calls_of_globals


def test_python_errors_are_pythons():
    def unbound(x):
        if x > 0:
            y = 1
        return y + 1

    with pytest.raises(UnboundLocalError, match="'y'"):
        convert(unbound)(-1)


def test_frames():
    def names(a, b):
        if a:
            c = 1
        return sorted(locals()), dir(), eval("a + b"), globals()["sign"], sorted(vars())

    new = convert(names)(1, 2)
    assert new == (["a", "b", "c"], ["a", "b", "c"], 3, sign, ["a", "b", "c"])


def test_middle_of_a_chain_is_evaluated_once():
    seen = []

    def middle():
        seen.append(1)
        return 2

    def chain():
        return 1 < middle() < 3 < 2 < middle()

    assert convert(chain)() is False and seen == [1]


def test_values_of_and_and_or_are_pythons():
    def f(a, b):
        return a and b, a or b, not a

    assert convert(f)([], 3) == ([], 3, True)
    assert convert(f)("x", None) == (None, "x", False)


def test_eager_tensors_are_pythons():
    def f(x):
        xs = [int(v) for v in x]
        y = None
        if x[0] > 0:
            y = "text"
        for v in x:
            if v > 1:
                y = (y, v.numpy())
        return y, xs, len(x), float(x[0])

    x = tf.constant([1, 2])
    assert convert(f)(x) == f(x) == (("text", 2), [1, 2], 2, 1.0)


def test_generators_comprehensions_and_classes_inside():
    def f(n):
        class Local:
            factor = 2

            def times(self, x):
                if x > 0:
                    return x * self.factor
                return 0

        def numbers():
            for i in range(n):
                if i % 2:
                    yield i

        return [Local().times(x) for x in numbers()], {k: k * n for k in range(2)}

    assert convert(f)(5) == f(5) == ([2, 6], {0: 0, 1: 5})


def test_threads():
    results = []

    def run():
        results.append([convert(sign)(float(i)) for i in range(-3, 3)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == [[-1.0, -1.0, -1.0, -1.0, 1.0, 1.0]] * 4


def test_pythons_syntax_trees_are_left_clean():
    convert(sign)(1.0)
    assert ast.dump(ast.parse("a + b")) == (
        "Module(body=[Expr(value=BinOp(left=Name(id='a', ctx=Load()), op=Add(), "
        "right=Name(id='b', ctx=Load())))], type_ignores=[])"
    ) or sys.version_info >= (3, 13)
    assert not vars(ast.parse("a").body[0].value.ctx)


# Whose code is converted.


@do_not_convert
def was_converted():
    """Whether the function that calls this runs converted code."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename != __file__:
        frame = frame.f_back
    return "ag__" in frame.f_code.co_freevars


def plain():
    return was_converted()


@do_not_convert
def left_alone():
    return was_converted(), plain()


def test_what_is_called_is_converted():
    def f():
        return was_converted(), plain(), left_alone()

    assert convert(f)() == (True, True, (False, False))
    assert convert(f, recursive=False)() == (True, False, (False, False))
    assert f() == (False, False, (False, False))


def test_do_not_convert_as_a_decorator_with_parentheses():
    @tf.autograph.experimental.do_not_convert()
    def f():
        return was_converted()

    assert convert(f)() is False and f.__name__ == "f"


def test_methods_objects_and_partials():
    class Thing:
        def method(self, x=1):
            return was_converted(), x

        __call__ = method

        @classmethod
        def of_class(cls):
            return was_converted()

        @staticmethod
        def static():
            return was_converted()

        @property
        def value(self):
            return was_converted()

    thing = Thing()
    assert convert(thing.method)(2) == (True, 2)
    assert convert(thing)(3) == (True, 3)
    assert convert(functools.partial(thing.method, x=4))() == (True, 4)
    assert convert(functools.partial(thing, 5))() == (True, 5)
    assert convert(lambda: (Thing.of_class(), Thing.static(), thing.value))() == (True, True, False)


def test_libraries_are_not_converted(tmp_path, monkeypatch):
    rules = sys.modules["tapeflow._src.function.autograph.rules"]
    import sysconfig

    assert not rules.is_users(textwrap.dedent)
    assert not rules.is_users(np.pad.__wrapped__ if hasattr(np.pad, "__wrapped__") else np.pad)
    assert not rules.is_users(tf.reduce_sum)
    assert rules.is_users(sign)
    site = pathlib.Path(sysconfig.get_path("purelib"))
    installed = {"__name__": "somelib.part"}
    exec(compile("def f(x): return x", str(site / "somelib" / "part.py"), "exec"), installed)
    assert not rules.is_users(installed["f"])
    installed["tf"] = tf  # a library that is written for us
    assert rules.is_users(installed["f"])
    # One that TensorFlow leaves alone, too.
    installed["__name__"] = "tensorflow_probability.python.x"
    exec(compile("def g(x): return x", str(site / "x.py"), "exec"), installed)
    assert not rules.is_users(installed["g"])


# What cannot be converted.


def test_code_without_source_warns_once_and_runs(warned):
    names = {}
    exec(compile("def f(x):\n  if x > 0: return 1\n  return 2", "<nowhere>", "exec"), names)
    for _ in range(2):
        assert convert(names["f"])(tf.constant(1.0)) == 1
    (warning,) = warned
    assert "could not convert f" in str(warning.message) and "source" in str(warning.message)
    assert "do_not_convert" in str(warning.message) and warning.filename == __file__


def test_generators_run_as_they_are(warned):
    def numbers(n):
        yield from range(n)

    def f():
        return list(numbers(3))

    assert convert(f)() == [0, 1, 2] and not warned
    assert list(convert(numbers)(2)) == [0, 1] and len(warned) == 1


def test_asynchronous_functions_run_as_they_are(warned):
    async def later():
        return 3

    coroutine = convert(later)()
    with pytest.raises(StopIteration):
        coroutine.send(None)
    assert "async" in str(warned[0].message)


def test_builtins_and_classes_run_as_they_are(warned):
    assert convert(len)([1, 2]) == 2 and convert(dict)(a=1) == {"a": 1} and not warned


def test_conditional_walrus_is_named(warned):
    def f(x):
        return x > 0 and (y := x) > 1 and y

    assert convert(f)(2) == 2
    assert "`:=` at line" in str(warned[0].message)


def test_to_graph_refuses():
    def f(x):
        return x > 0 and (y := x) > 1 and y

    with pytest.raises(ValueError, match=r"cannot convert .*f .*`:=` at line"):
        tf.autograph.to_graph(f)
    with pytest.raises(ValueError, match="no Python code"):
        tf.autograph.to_graph(len)


def test_misplaced_loop_options_are_named(warned):
    def f(n):
        for i in range(n):
            n = i
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        return n

    assert convert(f)(3) == 2
    assert "first statement of a loop" in str(warned[0].message)


def test_a_symbolic_bool_in_unconverted_code_says_why():
    class Symbol:
        def __bool__(self):
            raise TypeError("no value")

    names = {}
    exec(compile("def f(x):\n  if x: return 1", "<elsewhere>", "exec"), names)
    with pytest.warns(UserWarning, match="could not convert"), pytest.raises(TypeError) as caught:
        convert(names["f"])(Symbol())
    assert "was not converted by AutoGraph" in caught.value.__notes__[0]


def test_without_malt():
    code = """
        import sys
        sys.modules["malt"] = None
        import tapeflow as tf
        from tapeflow._src.function.autograph import convert
        f = convert(lambda x: x)
        try:
            f(1)
        except ImportError as error:
            print(error)
    """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    ).stdout
    assert "diastatic-malt" in out and "autograph=False" in out


def test_malt_is_imported_at_the_first_conversion():
    code = "import sys, tapeflow, tapeflow.autograph; print('malt' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


# Features and the public functions.


def prints(x):
    print("x is", x, end="!\n")
    return x == 1.0, x != 1.0


@pytest.mark.usefixtures("everything_symbolic")
def test_features(capfd):
    convert(prints)(tf.constant(1.0))
    assert "tf.Tensor" in capfd.readouterr().out
    same, other = convert(prints, Feature.ALL)(tf.constant(1.0))
    captured = capfd.readouterr()
    assert "x is 1!" in captured.err + captured.out
    assert same and not other
    code = tf.autograph.to_code(prints, experimental_optional_features=Feature.EQUALITY_OPERATORS)
    assert "ag__.eq(" in code and "ag__.not_eq(" in code


def test_feature_sets():
    assert Feature.all() == tuple(Feature)
    assert set(Feature.all_but([Feature.LISTS, Feature.ALL])) == set(Feature) - {
        Feature.LISTS,
        Feature.ALL,
    }


def test_to_code_is_python():
    code = tf.autograph.to_code(sign)
    assert ast.parse(code).body[0].name == "sign" and "ag__.if_stmt" in code


@pytest.mark.usefixtures("everything_symbolic")
def test_to_graph():
    assert tf.autograph.to_graph(sign)(tf.constant(-3.0)) == -1.0


class Numbers:
    """A dataset, as far as loops care."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def __iter__(self):
        return iter(self.numbers)

    def __tf_iterate__(self):
        self.left = list(self.numbers)
        return self

    def more(self, going_on):
        return tf.constant(bool(going_on) and bool(self.left))

    def item(self):
        return tf.constant(self.left.pop(0))


def over_a_dataset(data):
    total, count = tf.constant(0.0), 0
    for x in data:
        if total > 5.0:
            break
        if x < 0.0:
            continue
        total = total + x
        count += 1
    return total, count


def test_datasets(everything_symbolic, monkeypatch):
    symbolic = sys.modules["tapeflow._src.function.autograph.symbolic"]
    expected = over_a_dataset(Numbers(1.0, -2.0, 3.0, 4.0, 5.0))
    assert convert(over_a_dataset)(Numbers(1.0, -2.0, 3.0, 4.0, 5.0)) == expected
    monkeypatch.setattr(symbolic, "is_tracing", lambda: True)
    total, count = convert(over_a_dataset)(Numbers(1.0, -2.0, 3.0, 4.0, 5.0))
    assert isinstance(count, tf.Tensor) and (total, count) == expected == (8.0, 3)


def test_conversion_errors_are_cached(monkeypatch):
    transpiler = calls.transpiler()

    def f(x):
        return [(y := x), y] if x else 0

    seen = []
    original = transpiler.source.find
    monkeypatch.setattr(transpiler.source, "find", lambda g: seen.append(g) or original(g))
    for _ in range(3):
        with pytest.raises(ConversionError):
            transpiler.code_of(f, calls.make_options())
    assert len(seen) == 1
