"""`tf.Module` and `tf.name_scope`: what is found, in which order, under which name."""


def _dense(tf):
    class Dense(tf.Module):
        def __init__(self, inputs, outputs, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
            self.b = tf.Variable(tf.zeros([outputs]), name="b")

        def __call__(self, x):
            return x @ self.w + self.b

    return Dense


def _mlp(tf):
    dense = _dense(tf)

    class MLP(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.second = dense(2, 1)
            self.first = dense(3, 2)
            self.scale = tf.Variable(2.0, name="scale", trainable=False)

        def __call__(self, x):
            return self.second(tf.nn.relu(self.first(x))) * self.scale

    return MLP


def _names(variables):
    return [v.name for v in variables]


def variables_are_sorted_by_attribute(tf):
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.z = tf.Variable(1.0, name="z")
            self.a = tf.Variable(2.0, name="a")
            self.M = tf.Variable(3.0, name="M")

    return _names(M().variables)


def own_variables_come_before_submodules(tf):
    m = _mlp(tf)()
    return [(v.name, tuple(v.shape)) for v in m.variables]


def trainable_and_non_trainable(tf):
    m = _mlp(tf)()
    return _names(m.trainable_variables), _names(m.non_trainable_variables)


def variables_type(tf):
    return type(_mlp(tf)().variables).__name__, type(_mlp(tf)().submodules).__name__


def submodules(tf):
    return [type(s).__name__ for s in _mlp(tf)().submodules]


def nested_submodules(tf):
    a, b, c = tf.Module(name="a"), tf.Module(name="b"), tf.Module(name="c")
    a.b = b
    b.c = c
    return [m.name for m in a.submodules], list(c.submodules)


def containers(tf):
    m = tf.Module()
    m.layers = [tf.Variable(1.0, name="l0"), tf.Variable(2.0, name="l1")]
    m.table = {"y": tf.Variable(3.0, name="dy"), "x": tf.Variable(4.0, name="dx")}
    m.pair = (tf.Variable(5.0, name="p"), [tf.Variable(6.0, name="q")])
    return _names(m.variables)


def modules_in_containers(tf):
    m = tf.Module()
    m.layers = [_dense(tf)(1, 1) for _ in range(2)]
    return len(m.variables), [s.name for s in m.submodules]


def shared_variable_is_listed_once(tf):
    m = tf.Module()
    m.a = m.b = tf.Variable(1.0, name="v")
    m.c = [m.a]
    return _names(m.variables)


def cycle(tf):
    a, b = tf.Module(name="a"), tf.Module(name="b")
    a.b, b.a = b, a
    a.v = tf.Variable(1.0, name="v")
    return _names(b.variables), [m.name for m in a.submodules]


def variable_added_later(tf):
    m = tf.Module()
    before = len(m.variables)
    m.v = tf.Variable(1.0)
    return before, len(m.variables)


def no_variables(tf):
    return tf.Module().variables, tf.Module().submodules


def default_names(tf):
    class MyDenseLayer(tf.Module):
        pass

    class HTTPServer2(tf.Module):
        pass

    return MyDenseLayer().name, HTTPServer2().name, tf.Module().name


def given_name(tf):
    return tf.Module(name="encoder").name, tf.Module(name="encoder").name_scope.name


def bad_name(tf):
    return tf.Module(name="my layer")


def slash_in_name(tf):
    return tf.Module(name="a/b")


def name_scope_of_a_module(tf):
    class M(tf.Module):
        def __init__(self):
            super().__init__(name="m")
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")

    return M().w.name


def with_name_scope(tf):
    class M(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self):
            self.w = tf.Variable(1.0, name="w")
            return self.w.name

    return M(name="outer")()


def nested_name_scopes_of_modules(tf):
    class Inner(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")

    class Outer(tf.Module):
        def __init__(self):
            super().__init__(name="outer")
            with self.name_scope:
                self.inner = Inner(name="inner")

    m = Outer()
    return m.inner.w.name, m.inner.name, m.inner.name_scope.name


def init_not_called(tf):
    class M(tf.Module):
        def __init__(self):
            self.w = tf.Variable(1.0, name="w")

    return _names(M().variables)


def init_not_called_name(tf):
    class M(tf.Module):
        def __init__(self):
            self.w = tf.Variable(1.0)

    return M().name


def plain_object_is_not_searched(tf):
    class Box:
        def __init__(self):
            self.v = tf.Variable(1.0)

    m = tf.Module()
    m.box = Box()
    return len(m.variables)


def property_is_not_searched(tf):
    class M(tf.Module):
        @property
        def v(self):
            return tf.Variable(1.0)

    return len(M().variables)


def private_attribute_is_found(tf):
    m = tf.Module()
    m._hidden = tf.Variable(1.0, name="hidden")
    return _names(m.variables)


def gradients_of_a_module(tf):
    m = _mlp(tf)()
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(m(x) ** 2)
    return loss, tape.gradient(loss, m.trainable_variables)


def training_steps(tf):
    m = _dense(tf)(2, 1)
    x, t = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0]])
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((m(x) - t) ** 2)
        for v, g in zip(m.variables, tape.gradient(loss, m.variables), strict=True):
            v.assign_sub(0.01 * g)
        losses.append(float(loss))
    return losses, m.w, m.b


def name_scope(tf):
    with tf.name_scope("a") as scope:
        inside = tf.Variable(1.0, name="v").name
        with tf.name_scope("b"):
            deeper = tf.Variable(1.0, name="v").name
    return scope, inside, deeper, tf.Variable(1.0, name="v").name


def name_scope_repeated(tf):
    names = []
    for _ in range(2):
        with tf.name_scope("again"):
            names.append(tf.Variable(1.0, name="v").name)
    return names


def name_scope_with_trailing_slash(tf):
    with tf.name_scope("outer"), tf.name_scope("absolute/") as scope:
        return scope, tf.Variable(1.0, name="v").name


def name_scope_property(tf):
    return tf.name_scope("x").name


def name_scope_not_a_string(tf):
    with tf.name_scope(3):
        return 1


def name_scope_none(tf):
    with tf.name_scope(None):
        return 1


def name_scope_after_an_exception(tf):
    try:
        with tf.name_scope("broken"):
            raise KeyError
    except KeyError:
        pass
    return tf.Variable(1.0, name="v").name


def flatten_a_module(tf):
    return [type(x).__name__ for x in tf.nest.flatten([_dense(tf)(1, 1)])]


def recompute_grad_of_a_module(tf):
    m = _dense(tf)(2, 1)
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(m)(x)
    return y, tape.gradient(y, [x, m.w, m.b])
