# pyright: reportInvalidTypeForm=false
"""Extension types: their fields, specs, functions and dispatch."""

import dataclasses
import typing


def _masked(tf):
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor

    return Masked


def _example(tf, kind):
    return kind([[1, 2], [3, 4]], [[True, False], [True, True]])


def fields(tf):
    x = _example(tf, _masked(tf))
    return x.values, x.mask, repr(x), repr(tf.type_spec_from_value(x)), tf.is_tensor(x)


def components(tf):
    return tf.nest.flatten([_example(tf, _masked(tf)), 1], expand_composites=True)


def mapped_components(tf):
    x = tf.nest.map_structure(lambda t: t[:1], _example(tf, _masked(tf)), expand_composites=True)
    return repr(x)


def packed_components(tf):
    return repr(tf.nest.pack_sequence_as(_example(tf, _masked(tf)), [1, 2], expand_composites=True))


def missing_argument(tf):
    return _masked(tf)(1)


def too_many_arguments(tf):
    return _masked(tf)(1, 2, 3)


def not_a_tensor(tf):
    return _masked(tf)(object(), 1)


def mutation(tf):
    _example(tf, _masked(tf)).values = 1


def equality(tf):
    kind = _masked(tf)
    x, y = _example(tf, kind), kind([[1, 2], [3, 5]], [[True, False], [True, True]])
    return x == x, x == y, x != y, x == 3, x == kind([1], [True])


def no_conversion(tf):
    return tf.convert_to_tensor(_example(tf, _masked(tf)))


def no_operator(tf):
    x = _example(tf, _masked(tf))
    return x + x


def no_op(tf):
    return tf.abs(_example(tf, _masked(tf)))


def no_source(tf):
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(tf.constant(1.0), _example(tf, _masked(tf)))


def all_kinds_of_fields(tf):
    class Kinds(tf.experimental.ExtensionType):
        x: tf.Tensor
        n: int = 3
        names: typing.Tuple[str, ...] = ()  # noqa: UP006
        parts: typing.Mapping[str, tf.Tensor] = {}
        rows: typing.Optional[tf.RaggedTensor] = None  # noqa: UP045
        dtype: tf.DType = tf.float32
        shape: tf.TensorShape = (2, 3)

    x = Kinds(1.0, names=["a"], parts={"b": 1, "a": 2}, rows=tf.ragged.constant([[1], [2, 3]]))
    return repr(x), repr(x._type_spec), tf.nest.flatten(x, expand_composites=True)


def _field(tf, annotation, value):
    namespace = {"__annotations__": {"x": annotation}, "__module__": __name__}
    kind = type(tf.experimental.ExtensionType)("Kind", (tf.experimental.ExtensionType,), namespace)
    return repr(kind(value).x)


def function_with_a_loop_and_a_branch(tf):
    kind = _masked(tf)

    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = kind(x.values + 1, x.mask)
        if n > 2:
            x = kind(x.values, ~x.mask)
        return x

    x = _example(tf, kind)
    return [repr(f(x, tf.constant(n))) for n in (1, 3)]


def concrete_function(tf):
    kind = _masked(tf)
    f = tf.function(lambda x: x, autograph=False).get_concrete_function(_example(tf, kind))
    return repr(f.structured_input_signature[0][0])


def dispatch(tf):
    kind = _masked(tf)

    @tf.experimental.dispatch_for_unary_elementwise_apis(kind)
    def unary(api, x):
        return kind(api(x.values), x.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(kind, kind)
    def binary(api, x, y):
        return kind(api(x.values, y.values), x.mask & y.mask)

    @tf.experimental.dispatch_for_api(tf.stack, {"values": typing.List[kind]})  # noqa: UP006
    def stack(values, axis=0):
        return kind(
            tf.stack([x.values for x in values], axis), tf.stack([x.mask for x in values], axis)
        )

    x = _example(tf, kind)
    found = [
        tf.negative(x),
        tf.cast(x, tf.int64),
        tf.add(x, x),
        tf.stack([x, x]),
        tf.maximum(x, y=x),
    ]
    for target in (unary, binary, stack):
        tf.experimental.unregister_dispatch_for(target)
    return [repr(each) for each in found]


def dispatch_is_taken_back(tf):
    kind = _masked(tf)

    @tf.experimental.dispatch_for_unary_elementwise_apis(kind)
    def unary(api, x):
        return x

    tf.experimental.unregister_dispatch_for(unary)
    return tf.abs(_example(tf, kind))


def dispatch_was_not_registered(tf):
    return tf.experimental.unregister_dispatch_for(len)


def dispatch_with_other_parameters(tf):
    return tf.experimental.dispatch_for_api(tf.shape)(lambda x: x)


def dispatch_of_an_unknown_parameter(tf):
    return tf.experimental.dispatch_for_api(tf.shape, {"foo": _masked(tf)})


def batches(tf):
    class Point(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        n: int = 3

    points = tf.data.Dataset.from_tensor_slices(Point([[1, 2], [3, 4], [5, 6]]))
    rows = tf.map_fn(lambda p: Point(p.x * 2), Point([[1, 2], [3, 4]]))
    return (
        repr(points.element_spec),
        [repr(p) for p in points.batch(2)],
        [repr(p) for p in points.map(lambda p: Point(p.x + 1)).batch(3)],
        [p.x for p in points.batch(2).unbatch()],
        repr(rows),
    )


def dataclass(tf):
    @dataclasses.dataclass
    class Pair:
        name: str
        value: typing.Any

        def __tf_flatten__(self):
            return (self.name,), (self.value,)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(metadata[0], components[0])

    x = Pair("a", tf.constant([1.0, 2.0]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x.value * 2.0
    return (
        tf.nest.flatten(x),
        tf.nest.is_nested(x),
        tf.nest.map_structure(lambda t: t * 2.0, x).value,
        tf.function(lambda p: p, autograph=False)(x).value,
        tape.gradient(y, x).value,
    )


CASES = {
    "field_int": lambda tf: _field(tf, int, 3),
    "field_int_of_float": lambda tf: _field(tf, int, 3.5),
    "field_int_of_bool": lambda tf: _field(tf, int, True),
    "field_float_of_int": lambda tf: _field(tf, float, 3),
    "field_bool_of_int": lambda tf: _field(tf, bool, 1),
    "field_tuple": lambda tf: _field(tf, tuple[int, tf.Tensor], (1, 2)),
    "field_tuple_of_another_length": lambda tf: _field(tf, tuple[int, tf.Tensor], (1,)),
    "field_mapping": lambda tf: _field(tf, typing.Mapping[str, int], {"a": 1}),
    "field_list": lambda tf: _field(tf, list, [1]),
    "field_any": lambda tf: _field(tf, typing.Any, 1),
    "field_variable": lambda tf: _field(tf, tf.Variable, 1),
    "field_callable": lambda tf: _field(tf, typing.Callable, len),
    "field_shape": lambda tf: _field(tf, tf.TensorShape, [2, None]),
    "field_dtype": lambda tf: _field(tf, tf.DType, "int32"),
    "field_ragged_of_a_list": lambda tf: _field(tf, tf.RaggedTensor, [[1]]),
}
