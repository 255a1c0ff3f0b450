"""Small programs that use Python's control flow on tensors, each with the arguments it is called with.

`record.py` runs them in TensorFlow and writes what they give to `recorded.json`.
"""

# ruff: noqa: B007, B905

import functools

import tapeflow as tf

PROGRAMS = {}


def program(*arguments):
    """Registers a function with several lists of numbers to call it with."""

    def register(function):
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return register


# Branches.


@program((2.0,), (-2.0,))
def if_else(x):
    if x > 0.0:
        y = x * x
    else:
        y = -x
    return y


@program((2.0,), (-2.0,))
def if_without_else(x):
    y = x * 3.0
    if x > 0.0:
        y = y * x
    return y


@program((-3.0,), (0.5,), (3.0,))
def elif_chain(x):
    if x < -1.0:
        y = x * 2.0
    elif x < 1.0:
        y = x * x
    else:
        y = x + 1.0
    return y


@program((2.0, 1.0), (2.0, -1.0), (-2.0, 1.0), (-2.0, -1.0))
def nested_if(x, y):
    if x > 0.0:
        if y > 0.0:
            z = x * y
        else:
            z = x - y
    else:
        z = y * 2.0
        if y > 0.0:
            z = z + x
    return z


@program((2.0,), (-2.0,))
def several_variables(x):
    a, b = x, x * 2.0
    if x > 0.0:
        a, b = b, a
    else:
        a = a * 3.0
    return a - b


@program((2.0,), (-2.0,))
def python_numbers_become_tensors(x):
    n = 0
    if x > 0.0:
        n = 1
    return n, x * tf.cast(n, tf.float32)


@program((2.0,), (-2.0,))
def early_return(x):
    if x > 0.0:
        return x * x
    return x * 3.0


@program((5.0,), (2.0,), (-2.0,))
def many_returns(x):
    if x > 0.0:
        if x > 3.0:
            return x * 10.0
        y = x + 1.0
    else:
        return -x
    y = y * y
    return y


@program((2.0,), (-2.0,))
def return_in_both(x):
    if x > 0.0:
        return x, x * 2.0
    else:
        return x * 5.0, x


@program((2.0,), (-2.0,))
def return_a_dict(x):
    if x > 0.0:
        return {"a": x, "b": (x * 2.0, x * 3.0)}
    return {"a": -x, "b": (x, x)}


@program((2.0,), (-2.0,))
def conditional_expression(x):
    return x * 2.0 if x > 0.0 else x * x


@program((2.0,), (0.5,), (-2.0,))
def nested_conditional_expression(x):
    return x * 2.0 if x > 1.0 else (x * x if x > 0.0 else -x)


@program((2.0,), (-2.0,))
def branch_changes_an_attribute(x):
    box = Box(x)
    if x > 0.0:
        box.value = box.value * 2.0
    return box.value + 1.0


@program((2.0,), (-2.0,))
def branch_changes_an_item(x):
    items = {"a": x, "b": x * 2.0}
    if x > 0.0:
        items["a"] = items["a"] * items["b"]
    return items["a"]


@program((2.0,), (-2.0,))
def branch_changes_a_tuple(x):
    pair = (x, x * x)
    if x > 0.0:
        pair = (pair[1], pair[0])
    return pair[0] - 2.0 * pair[1]


@program((2.0,), (-2.0,))
def branch_in_python(x, flag=True):
    if flag:
        y = x * 2.0
    if not flag or x > 0.0:
        y = y + 1.0
    return y


class Box:
    def __init__(self, value):
        self.value = value


# Logic.


@program((2.0, 1.0), (2.0, -1.0), (-2.0, 1.0))
def and_or(x, y):
    if x > 0.0 and y > 0.0:
        return x * y
    if x > 0.0 or y > 0.0:
        return x + y
    return x - y


@program((2.0,), (-2.0,))
def negation(x):
    if not x > 0.0:
        return -x
    return x * 2.0


@program((-1.0,), (0.5,), (2.0,), (5.0,))
def comparison_chain(x):
    if 0.0 < x < 1.0:
        return x * 2.0
    if 1.0 <= x <= 3.0 != x:
        return x * 3.0
    return x


@program((2.0,), (-2.0,))
def mixed_with_python_bools(x, flag=False):
    if flag or (True and x > 0.0):
        return x * 2.0
    return x


@program(
    (2.0, 3.0, -1.0),
)
def and_guards_an_index(*xs):
    x = tf.stack(xs)
    i = 0
    total = 0.0
    while i < 3 and x[i] > 0.0:
        total = total + x[i]
        i = i + 1
    return total


# While.


@program((1.0,), (3.0,), (50.0,))
def while_loop(x):
    while x < 10.0:
        x = x * 2.0
    return x


@program((1.0,), (3.0,))
def while_with_counter(x):
    n = 0
    while x < 10.0:
        x = x * x + 1.0
        n += 1
    return x, n


@program((1.0,), (3.0,))
def while_break(x):
    y = x
    while y < 100.0:
        y = y * 3.0
        if y > 20.0:
            break
        y = y + x
    return y


@program((1.0,), (3.0,))
def while_continue(x):
    i = tf.constant(0)
    y = x
    while i < 6:
        i = i + 1
        if i % 2 == 0:
            continue
        y = y * x + 1.0
    return y


@program((1.0,), (3.0,), (-1.0,))
def while_true_break(x):
    n = tf.constant(0)
    while True:
        n = n + 1
        if x > 10.0 or n > 4:
            break
        x = x * 2.0
    return x, n


@program((1.0,), (30.0,))
def while_return(x):
    while x < 100.0:
        x = x * 2.0
        if x > 20.0:
            return x * 10.0
    return x


@program((1.0,), (4.0,))
def while_becomes_symbolic(x):
    error = 100.0
    while error > 1.0:
        error = x / 2.0
        x = x / 2.0
    return x


@program(
    (2.0,),
)
def while_over_a_tuple(x):
    state = (x, x * 2.0)
    while state[0] < 20.0:
        state = (state[1], state[0] + state[1])
    return state[0] * state[1]


@program(
    (2.0,),
)
def while_over_a_dict(x):
    state = {"a": x, "b": x * 2.0}
    while state["a"] < 20.0:
        state = {"a": state["b"], "b": state["a"] + state["b"]}
    return state["a"]


@program(
    (2.0,),
)
def while_changes_an_attribute(x):
    box = Box(x)
    while box.value < 10.0:
        box.value = box.value * 2.0
    return box.value


@program(
    (2.0,),
)
def while_else(x):
    while x < 10.0:
        x = x * 2.0
        if x < 0.0:
            break
    else:
        x = x + 1.0
    return x


@program((2.0,), (20.0,))
def while_walrus(x):
    n = 0
    while (y := x * 2.0) < 30.0:
        x = y
        n += 1
    return x, n


# For.


@program((1.0, 2.0, 3.0), (-1.0, 0.5, 2.0))
def for_over_a_tensor(*xs):
    total = 0.0
    for x in tf.stack(xs):
        total = total + x * x
    return total


@program(
    (1.0, 2.0, 3.0),
)
def for_over_rows(*xs):
    m = tf.stack([xs, xs[::-1]])
    product = tf.ones([3])
    for row in m:
        product = product * row
    return product


@program(
    (1.0, 2.0, 3.0),
)
def for_over_a_product(*xs):
    y = 1.0
    for x in tf.stack(xs) * 2.0:
        y *= x
    return y


@program(
    (2.0,),
)
def for_over_tf_range(x):
    y = 1.0
    for i in tf.range(4):
        y = y * x + tf.cast(i, tf.float32)
    return y


@program(
    (2.0,),
)
def for_over_tf_range_with_step(x):
    total = 0.0
    for i in tf.range(10, 0, -3):
        total = total + x * tf.cast(i, tf.float32)
    return total


@program(
    (2.0,),
)
def for_over_a_float_range(x):
    total = 0.0
    for t in tf.range(0.0, 1.0, 0.25):
        total = total + x * t
    return total


@program(
    (2.0,),
)
def for_over_range_of_a_tensor(x):
    n = tf.cast(x, tf.int32) + 1
    y = x
    for i in range(n):
        y = y + tf.cast(i, tf.float32) * x
    for i in range(1, n):
        y = y * tf.cast(i, tf.float32)
    return y


@program(
    (2.0,),
)
def for_over_a_python_range(x):
    for i in range(3):
        x = x * (i + 1.0)
    return x


@program((2.0,), (3.0,))
def for_break(x):
    y = x
    for i in tf.range(10):
        y = y * x
        if y > 20.0:
            break
    return y, i


@program(
    (2.0,),
)
def for_continue(x):
    y = x
    for i in tf.range(6):
        if i % 2 == 0:
            continue
        y = y + x * tf.cast(i, tf.float32)
    return y


@program(
    (2.0,),
)
def for_break_and_continue(x):
    y = x
    for i in tf.range(10):
        if i == 2:
            continue
        if y > 30.0:
            break
        y = y * 2.0 + tf.cast(i, tf.float32)
    return y


@program((-1.0, 2.0, 3.0), (-1.0, -2.0, -3.0))
def for_return(*xs):
    for x in tf.stack(xs):
        if x > 0.0:
            return x * 10.0
    return tf.reduce_sum(xs)


@program((-1.0, 2.0, 3.0), (-1.0, -2.0, -3.0))
def for_return_in_else(*xs):
    total = 0.0
    for x in tf.stack(xs):
        if x < 0.0:
            total = total + x
        else:
            return x * 10.0, total
    return total, total


@program((-1.0, 2.0, 3.0), (-1.0, -2.0, -3.0))
def for_else(*xs):
    y = 0.0
    for x in tf.stack(xs):
        y = y + x
        if x > 0.0:
            break
    else:
        y = y * 100.0
    return y


@program(
    (1.0, 2.0, 3.0),
)
def for_enumerate(*xs):
    total = 0.0
    for i, x in enumerate(tf.stack(xs)):
        total = total + x * tf.cast(i, tf.float32)
    return total


@program(
    (1.0, 2.0, 3.0),
)
def for_zip(*xs):
    a = tf.stack(xs)
    total = 0.0
    for x, y in zip(a, a * a):
        total = total + x * y
    return total


@program(
    (1.0, 2.0, 3.0),
)
def for_reversed(*xs):
    y = 0.0
    for x in reversed(tf.stack(xs)):
        y = y * 2.0 + x
    return y


@program(
    (1.0, 2.0, 3.0),
)
def for_defines_a_variable(*xs):
    for x in tf.stack(xs):
        last = x * 2.0
    return last


@program(
    (1.0, 2.0, 3.0),
)
def for_leaves_its_variable(*xs):
    for x in tf.stack(xs):
        pass
    return x * 2.0


@program(
    (2.0,),
)
def for_after_a_none(x):
    y = None
    for i in tf.range(3):
        y = x * tf.cast(i, tf.float32)
    return y


@program((2.0,), (3.0,))
def python_for_with_tensor_break(x):
    y = x
    for i in range(6):
        y = y * x
        if y > 20.0:
            break
    return y


@program((2.0,), (3.0,))
def python_for_with_tensor_return(x):
    y = x
    for i in range(6):
        y = y * x
        if y > 20.0:
            return y * 2.0
    return y


@program(
    (2.0,),
)
def nested_loops(x):
    total = 0.0
    for i in tf.range(3):
        for j in tf.range(i + 1):
            total = total + x * tf.cast(i * j, tf.float32)
    return total


@program((2.0,), (5.0,))
def nested_loops_with_breaks(x):
    total = x
    for i in tf.range(5):
        for j in tf.range(5):
            if j > i:
                break
            total = total + tf.cast(j, tf.float32) * x
        if total > 30.0:
            break
        total = total * 1.5
    return total


@program((2.0,), (50.0,))
def nested_loops_with_return(x):
    total = x
    for i in tf.range(4):
        while total < 100.0:
            total = total * 2.0
            if total > 60.0:
                return total + tf.cast(i, tf.float32)
        total = total - x
    return total


@program((2.0,), (0.1,))
def if_in_a_loop_in_an_if(x):
    y = x
    if x > 1.0:
        for i in tf.range(4):
            if i > 1:
                y = y * x
            else:
                y = y + x
    else:
        while y < 5.0:
            y = y + 1.0
    return y


@program(
    (1.0, 2.0, 3.0),
)
def tensor_array(*xs):
    x = tf.stack(xs)
    out = tf.TensorArray(tf.float32, size=3)
    running = 0.0
    for i in tf.range(3):
        running = running + x[i]
        out = out.write(i, running * running)
    return out.stack()


@program(
    (2.0,),
)
def loop_options(x):
    y = x
    for i in tf.range(10):
        tf.autograph.experimental.set_loop_options(maximum_iterations=10, parallel_iterations=1)
        y = y * 1.5
    return y


@program(
    (2.0,),
)
def growing_shape(x):
    y = tf.reshape(x, [1])
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, [tf.reduce_sum(y)]], 0)
    return tf.reduce_sum(y)


# Functions.


def helper(x):
    if x > 0.0:
        return x * 2.0
    return x * x


@program((2.0,), (-2.0,))
def calls_a_function(x):
    return helper(x) + helper(-x)


@program((2.0,), (-2.0,))
def calls_an_inner_function(x):
    scale = x * 2.0

    def inner(y):
        if y > 0.0:
            return y * scale
        return y - scale

    return inner(x) + inner(-x)


@program((2.0,), (-2.0,))
def inner_function_with_nonlocal(x):
    total = x

    def add(y):
        nonlocal total
        if y > 0.0:
            total = total + y
        else:
            total = total * 2.0

    add(x)
    add(-x)
    return total


@program((2.0,), (-2.0,))
def calls_lambdas(x):
    f, g = lambda y: y if y > 0.0 else y * y, lambda y: y * 3.0 if y > 0.0 else y
    return f(x) + g(x)


@program((2.0,), (-2.0,))
def calls_a_partial(x):
    def scaled(scale, y, shift=0.0):
        if y > 0.0:
            return y * scale + shift
        return y

    return functools.partial(scaled, 3.0, shift=1.0)(x)


class Model:
    def __init__(self):
        self.__scale = 3.0

    def half(self, x):
        if x > 0.0:
            return x / 2.0
        return x

    def __call__(self, x, *, times=2):
        for _ in range(times):
            x = self.half(x) * self.__scale
        return x


class Better(Model):
    def half(self, x):
        if x > 1.0:
            return super().half(x) + 1.0
        return x


@program((2.0,), (-2.0,))
def calls_a_method(x):
    return Model().half(x)


@program((2.0,), (-2.0,))
def calls_an_object(x):
    return Model()(x, times=3)


@program((2.0,), (-2.0,))
def calls_super(x):
    return Better().half(x)


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if args[0] > 0.0:
            return function(*args, **kwargs) + 1.0
        return function(*args, **kwargs)

    return wrapper


@logged
def decorated_helper(x, factor=2.0):
    if x > 1.0:
        return x * factor
    return x


@program((2.0,), (-2.0,))
def calls_a_decorated_function(x):
    return decorated_helper(x) + decorated_helper(x, factor=3.0)


def factorial(n):
    if n == 0:
        return 1.0
    return n * factorial(n - 1)


@program(
    (2.0,),
)
def python_recursion(x):
    return x * factorial(4)


@program((2.0,), (-2.0,))
def keyword_and_star_arguments(x):
    def f(a, /, b, *rest, c=1.0, **more):
        if a > 0.0:
            return a * b + sum(rest) * c
        return more["d"] * a

    return f(x, 2.0, *[1.0, 2.0], c=3.0, d=4.0)


@program((2.0,), (-2.0,))
def functional_ops(x):
    xs = tf.stack([x, x * 2.0])
    return tf.reduce_sum(tf.map_fn(helper, xs)) + tf.cond(x > 0.0, lambda: helper(x), lambda: x)


# Python's built-in functions and other statements.


@program(
    (1.0, -2.0, 3.0),
)
def builtins_of_vectors(*xs):
    x = tf.stack(xs)
    return max(x), min(x), sum(x), len(x), abs(x), sorted(x)


@program(
    (1.0, -2.0),
)
def builtins_of_scalars(x, y):
    return max(x, y), min(x, y, 0.5), abs(y), int(x)


@program(
    (1.0, -2.0, 3.0),
)
def any_and_all(*xs):
    x = tf.stack(xs)
    return any(x > 0.0), all(x > 0.0)


@program((2.0,), (-2.0,))
def walrus(x):
    if (y := x * 2.0) > 0.0:
        return y
    return y * y


@program((2.0,), (-2.0,))
def try_finally(x):
    try:
        if x > 0.0:
            x = x * 2.0
    finally:
        x = x + 1.0
    return x


@program((2.0,), (-2.0,))
def try_except(x):
    try:
        if x > 0.0:
            x = x * 2.0
        raise ValueError("3")
    except ValueError as error:
        x = x * float(str(error))
    return x


@program((2.0,), (-2.0,))
def match_statement(x, kind=("scale", 3.0)):
    y = x
    if x > 0.0:
        y = y + 1.0
    match kind:
        case "none":
            y = x
        case ("scale", factor) if factor > 1.0:
            if x > 0.0:
                y = y * factor
        case _:
            y = -x
    return y


@program((2.0,), (-2.0,))
def with_statement(x):
    with tf.name_scope("scope"):
        if x > 0.0:
            return x * 2.0
        x = x + 1.0
    return x


@program(
    (2.0,),
)
def list_comprehension(x):
    xs = [x * i for i in (1.0, 2.0, 3.0)]
    total = sum(y for y in xs)
    return total


@program((2.0,), (-2.0,))
def annotations_and_f_strings(x):
    y: tf.Tensor = x * 2.0
    name = f"{'positive' if True else 'negative'}_{3!r:>4}"
    if x > 0.0:
        y: tf.Tensor = y * len(name)
    return y


@program((2.0,), (-2.0,))
def deleting_a_variable(x):
    y = x * 2.0
    if x > 0.0:
        z = y + 1.0
    else:
        z = y
    del y
    return z


@program((2.0,), (-2.0,))
def asserting(x):
    assert x * x > 1.0, f"too small: {x}"
    return x


@program((4.0,), (9.0,))
def newtons_method(x):
    y = x
    while tf.abs(y * y - x) > 1e-3:
        y = 0.5 * (y + x / y)
    return y


@program((0.5,), (1.5,))
def power_series(x):
    term, total, n = 1.0, 1.0, 0
    while tf.abs(term * x) > 1e-4 and n < 20:
        n += 1
        term = term * x / tf.cast(n, tf.float32)
        total = total + term
    return total


@program((2.0,), (-2.0,))
def gradient_tape_inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        if x > 0.0:
            y = x * x * x
        else:
            y = x * x
    return tape.gradient(y, x)


@program(
    (1.0, 2.0, 3.0),
)
def recurrent_cell(*xs):
    state = tf.zeros([2])
    weights = tf.constant([[0.5, -0.2], [0.1, 0.3]])
    for x in tf.stack(xs):
        state = tf.tanh(tf.linalg.matvec(weights, state) + x)
    return state


@program(
    (3.0, 1.0, 2.0),
)
def bubble_sort(*xs):
    x = tf.stack(xs)
    for i in tf.range(3):
        for j in tf.range(2 - i):
            if x[j] > x[j + 1]:
                pair = tf.stack([x[j + 1], x[j]])
                x = tf.concat([x[:j], pair, x[j + 2 :]], 0)
                x = tf.reshape(x, [3])
    return x


@program((27.0,), (6.0,))
def collatz(x):
    n, steps = tf.cast(x, tf.int32), 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
