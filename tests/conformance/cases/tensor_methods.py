"""What a tensor can do besides arithmetic: text, iteration, truth, conversion, hashing, copies."""

import copy
import pickle

import numpy as np


def attributes(tf):
    t = tf.constant([[1.0, 2.0]])
    return t.shape, t.dtype, t.ndim, tuple(t.shape), t.shape[1]


def get_shape_and_set_shape(tf):
    t = tf.constant([[1.0, 2.0]])
    t.set_shape([1, None])
    return t.get_shape()


def set_shape_incompatible(tf):
    return tf.constant([[1.0, 2.0]]).set_shape([2, 2])


def device_is_a_string(tf):
    return isinstance(tf.constant(1.0).device, str), "CPU" in tf.constant(1.0).device


def numpy_of_a_scalar(tf):
    return tf.constant(1.5).numpy(), tf.constant(3).numpy(), tf.constant(True).numpy()


def numpy_of_a_matrix(tf):
    return tf.constant([[1, 2], [3, 4]]).numpy()


def numpy_of_a_string(tf):
    return tf.constant("abc").numpy(), tf.constant(["a", "b"]).numpy().tolist()


def numpy_copy_does_not_write_back(tf):
    t = tf.constant([1.0, 2.0])
    a = np.array(t)
    a[0] = 9.0
    return t


def asarray_with_dtype(tf):
    return np.asarray(tf.constant([1.0, 2.0]), dtype=np.float64)


def numpy_functions_take_tensors(tf):
    t = tf.constant([1.0, 4.0])
    return np.sqrt(t), np.sum(t), np.mean(t), np.concatenate([t, t])


def numpy_ufunc_with_array(tf):
    return np.add(np.array([1.0, 2.0], np.float32), tf.constant([3.0, 4.0]))


def len_of_a_matrix(tf):
    return len(tf.constant([[1, 2], [3, 4], [5, 6]]))


def iterate(tf):
    return list(tf.constant([1, 2, 3]))


def iterate_rows(tf):
    return [row.shape for row in tf.constant([[1.0, 2.0], [3.0, 4.0]])]


def unpack(tf):
    a, b = tf.constant([1, 2])
    return a, b


def unpack_wrongly(tf):
    a, b, c = tf.constant([1, 2])
    return a, b, c


def zip_two(tf):
    return [int(a + b) for a, b in zip(tf.constant([1, 2]), tf.constant([3, 4]), strict=True)]


def range_of_a_tensor(tf):
    return list(range(tf.constant(3)))


def python_list_by_tensor_index(tf):
    return ["a", "b", "c"][tf.constant(1)]


def if_on_a_tensor(tf):
    return "yes" if tf.constant(2.0) > 1.0 else "no"


def hash_of_a_tensor(tf):
    return hash(tf.constant(1.0))


def hash_of_a_variable(tf):
    return hash(tf.Variable(1.0))


def tensor_as_a_dict_key(tf):
    return {tf.constant(1.0): 1}


def ref_as_a_dict_key(tf):
    a, b = tf.constant(1.0), tf.constant(1.0)
    d = {a.ref(): "a", b.ref(): "b"}
    return d[a.ref()], d[b.ref()], len(d), a.ref() == a.ref(), a.ref() == b.ref()


def ref_gives_back_the_tensor(tf):
    a = tf.constant(1.0)
    return a.ref().deref() is a


def format_of_a_tensor(tf):
    return f"{tf.constant(1.5)} {tf.constant(1.5):.3f}"


def format_of_a_vector(tf):
    return f"{tf.constant([1.5])}"


def percent_formatting(tf):
    return "%.2f %d" % (tf.constant(1.5), tf.constant(3))  # noqa: UP031


def pickled(tf):
    return pickle.loads(pickle.dumps(tf.constant([1.0, 2.0])))


def deep_copied(tf):
    return copy.deepcopy(tf.constant([1.0, 2.0]))


def copied(tf):
    return copy.copy(tf.constant([1.0, 2.0]))


def attribute_that_is_not_there(tf):
    return tf.constant([1.0]).no_such_attribute


def numpy_method_that_is_not_there(tf):
    return tf.constant([[1.0]]).astype("int32")


def transposed_attribute(tf):
    return tf.constant([[1.0, 2.0]]).T


def shape_cannot_be_set(tf):
    t = tf.constant([1.0])
    t.shape = (1, 1)
    return t


def is_tensor(tf):
    return [
        tf.is_tensor(x) for x in (tf.constant(1), tf.Variable(1), 1.0, np.ones(1), [tf.constant(1)])
    ]


def isinstance_tensor(tf):
    t, v = tf.constant(1), tf.Variable(1)
    return [isinstance(t, tf.Tensor), isinstance(v, tf.Tensor), isinstance(v, tf.Variable)]


def bool_of_empty(tf):
    return bool(tf.constant([], tf.float32))


def max_of_tensors(tf):
    return max(tf.constant(1.0), tf.constant(3.0)), sorted([tf.constant(2), tf.constant(1)])


def complex_conversion(tf):
    return complex(tf.constant(1 + 2j))


def tolist(tf):
    return tf.constant([[1, 2]]).numpy().tolist()


REPRS = {
    "scalar_float": lambda tf: tf.constant(1.0),
    "scalar_int": lambda tf: tf.constant(3),
    "scalar_bool": lambda tf: tf.constant(True),
    "scalar_str": lambda tf: tf.constant("abc"),
    "scalar_complex": lambda tf: tf.constant(1 + 2j),
    "scalar_float64": lambda tf: tf.constant(0.1, tf.float64),
    "scalar_third": lambda tf: tf.constant(1 / 3),
    "scalar_nan": lambda tf: tf.constant(float("nan")),
    "scalar_large": lambda tf: tf.constant(1e20),
    "scalar_bfloat16": lambda tf: tf.constant(1.5, tf.bfloat16),
    "scalar_half": lambda tf: tf.constant(1.5, tf.float16),
    "vector": lambda tf: tf.constant([1.0, 2.5, -3.0]),
    "vector_int": lambda tf: tf.constant([1, 2, 3]),
    "vector_bool": lambda tf: tf.constant([True, False]),
    "vector_str": lambda tf: tf.constant(["a", "bc"]),
    "empty": lambda tf: tf.constant([]),
    "empty_matrix": lambda tf: tf.zeros([0, 3]),
    "matrix": lambda tf: tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    "cube": lambda tf: tf.reshape(tf.range(8), [2, 2, 2]),
    "wide": lambda tf: tf.range(100, dtype=tf.float32),
    "summarised": lambda tf: tf.range(2000),
    "variable_scalar": lambda tf: tf.Variable(1.0),
    "variable_named": lambda tf: tf.Variable([1, 2], name="w"),
    "variable_matrix": lambda tf: tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="kernel"),
    "variable_str": lambda tf: tf.Variable("abc", name="s"),
    "dtype": lambda tf: tf.float32,
    "shape": lambda tf: tf.TensorShape([2, None]),
    "shape_unknown": lambda tf: tf.TensorShape(None),
    "shape_scalar": lambda tf: tf.TensorShape([]),
    "shape_vector": lambda tf: tf.TensorShape([3]),
    "spec": lambda tf: tf.TensorSpec([None, 3], tf.float32, name="x"),
    "spec_unnamed": lambda tf: tf.TensorSpec([2]),
}

CONVERSIONS = {
    "bool": bool,
    "int": int,
    "float": float,
    "index": range,
    "len": len,
    "iter": list,
}

VALUES = {
    "float": lambda tf: tf.constant(2.5),
    "int": lambda tf: tf.constant(2),
    "zero": lambda tf: tf.constant(0),
    "bool": lambda tf: tf.constant(True),
    "str": lambda tf: tf.constant("2"),
    "one_element": lambda tf: tf.constant([2]),
    "vector": lambda tf: tf.constant([1, 2]),
    "variable": lambda tf: tf.Variable(2),
}


def _convert(how, value):
    def case(tf):
        result = CONVERSIONS[how](VALUES[value](tf))
        return list(result) if how == "index" else result

    return case


class _Converting:
    def __tf_tensor__(self, dtype=None, name=None):
        raise NotImplementedError


class _Acting:
    is_tensor_like = True


def what_is_a_tensor(tf):
    there = [tf.constant(1.0), tf.Variable(1.0), tf.IndexedSlices([1.0], [0]), _Acting()]
    others = [1.0, tf.TensorShape([1]), _Converting(), tf.linalg.LinearOperatorIdentity(2)]
    return [[tf.is_tensor(each) for each in each_kind] for each_kind in (there, others)]


def unique_names(tf):
    with tf.Graph().as_default() as graph, tf.name_scope("a"):
        names = [graph.unique_name("b", mark_as_used=False)]
        return names + [graph.unique_name("b") for _ in range(3)] + [graph.unique_name("B")]


def graph_of_a_constant(tf):
    same = []

    @tf.function
    def f(x):
        same.append(tf.constant(1.0).graph is x.graph)
        return x

    f(tf.constant(1.0))
    return same, hasattr(tf.constant(1.0), "graph")


CASES = {
    **{f"repr_{name}": (lambda tf, make=make: repr(make(tf))) for name, make in REPRS.items()},
    **{f"str_{name}": (lambda tf, make=make: str(make(tf))) for name, make in REPRS.items()},
    **{f"{how}_of_{value}": _convert(how, value) for how in CONVERSIONS for value in VALUES},
}
