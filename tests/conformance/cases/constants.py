"""Names of numbers, dtypes and codes, and small functions that read or write texts and bytes."""

from case_helpers import expressions

_CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "UNAUTHENTICATED RESOURCE_EXHAUSTED "
    "FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS"
)

CASES = {
    "codes of errors": lambda tf: {name: getattr(tf.errors, name) for name in _CODES.split()},
    "an operator that a graph does not have": lambda tf: [
        base.__name__ for base in tf.errors.OperatorNotAllowedInGraphError.__mro__
    ][:2],
    **expressions(
        {
            "e": "tf.dtypes.experimental",
            "tnp": "tf.experimental.numpy",
            "d": "tf.data.experimental",
            "D": "tf.data.Dataset",
        },
        """
[tf.data.AUTOTUNE, tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY]
[d.AUTOTUNE, d.INFINITE_CARDINALITY, d.UNKNOWN_CARDINALITY]
[(d.name, d.size) for d in (e.float8_e5m2, e.float8_e4m3fn, e.float8_e4m3fnuz, e.float8_e4m3b11fnuz, e.float8_e5m2fnuz)]
[d.name for d in (e.int4, e.uint4, e.int2, e.uint2, e.float4_e2m1fn)]
[tf.experimental.float8_e5m2 is e.float8_e5m2, tf.experimental.int4 is e.int4, tf.experimental.uint2 is e.uint2]
sorted(d.name for d in tf.dtypes.QUANTIZED_DTYPES if not d.name.endswith("_ref"))
[d.name for d in (tf.qint16, tf.qint32, tf.quint16, tf.dtypes.qint16, tf.dtypes.qint32, tf.dtypes.quint16)]
[tf.AggregationMethod.ADD_N, tf.AggregationMethod.DEFAULT, tf.AggregationMethod.EXPERIMENTAL_TREE]
[tf.version.GRAPH_DEF_VERSION_MIN_CONSUMER, tf.version.GRAPH_DEF_VERSION_MIN_PRODUCER]
type(tf.version.GRAPH_DEF_VERSION).__name__
tf.version.VERSION.split(".")[0]
tf.executing_eagerly(), tf.function(tf.executing_eagerly, autograph=False)()
tf.inside_function(), tf.function(tf.inside_function, autograph=False)()
tf.is_symbolic_tensor(tf.constant(1.0))
tf.timestamp().dtype, tf.timestamp() > 1.7e9
tf.fingerprint(["a", "b", ""])
tf.fingerprint([[1, 2], [3, 4]])
tf.fingerprint(tf.constant(3))
tf.fingerprint(["a"], "sha256")
tf.io.decode_raw(["abcd", "efgh"], tf.uint8)
tf.io.decode_raw(["abcd", "efgh"], tf.int16)
tf.io.decode_raw(["abcd", "efgh"], tf.int16, little_endian=False)
tf.io.decode_raw(["abcd", "ef"], tf.uint8)
tf.io.decode_raw(["abcd", "ef"], tf.uint8, fixed_length=6)
tf.io.decode_raw(["abc"], tf.int16)
tf.io.encode_base64(["", "a", "ab", "abc", b"\\xff\\xfe"])
tf.io.encode_base64(["", "a", "ab", "abc"], pad=True)
tf.io.decode_base64(["", "YQ", "YWI", "YWJj", "YWI="])
tf.io.decode_base64("a")
tf.io.decode_base64("a+b/")
tf.io.decode_base64(["YQ==", "Y-_Q", "YR"])
tf.io.decode_base64("YQ=")
tf.io.decode_base64("YQ===")
tf.io.decode_base64("YW I")
list(d.choose_from_datasets([D.range(1), D.range(7, 9)], D.from_tensor_slices(np.array([0, 0, 1]))))
tf.compat.v1.enable_eager_execution(config=None)
tf.io.decode_compressed([b"x\\x9cKLJ\\x06\\x00\\x02M\\x01'"], "ZLIB")
tf.io.decode_compressed(["abc"])
tf.io.decode_compressed(["abc"], "ZLIB")
tf.io.decode_compressed(["abc"], "LZ4")
tf.io.is_jpeg("abc"), tf.io.is_jpeg(b"\\xff\\xd8\\xff\\xe0")
tf.io.read_file("/nowhere/at/all")
tf.io.matching_files("/nowhere/at/all/*")
tf.io.gfile.exists("/nowhere/at/all"), tf.io.gfile.isdir("/tmp")
tf.io.gfile.listdir("/nowhere/at/all")
tf.io.gfile.stat("/nowhere/at/all")
tf.io.gfile.glob("/nowhere/at/all*")
tf.io.TFRecordOptions("GZIP", compression_level=9).compression_type
tf.strings.unicode_split_with_offsets("aä€", "UTF-8")
tnp.asanyarray([1, 2])
tnp.broadcast_arrays([1, 2], [[3], [4]])
[tnp.empty_like([1, 2]).shape, tnp.pi, tnp.finfo(tnp.float32).bits, tnp.iinfo(tnp.int16).max]
[tnp.issubdtype(tnp.float32, tnp.inexact), tnp.issubdtype(tnp.int32, tnp.inexact)]
[np.dtype(d).name for d in (tnp.float_, tnp.int_, tnp.complex_, tnp.object_)]
[tnp.random.rand(2, 3).shape, tnp.random.randn(2).dtype, tnp.random.randint(0, 3, size=[4]).shape]
tnp.random.standard_normal([2]).shape
tf.nn.compute_accidental_hits([[1, 2], [3, 1]], [3, 1, 7], 2)[:2]
tf.config.get_soft_device_placement(), tf.config.functions_run_eagerly()
[tf.config.optimizer.get_jit(), tf.config.experimental.get_synchronous_execution()]
[d.device_type for d in tf.config.list_physical_devices("CPU")], tf.config.list_physical_devices("FPGA")
tf.config.experimental.get_memory_growth(tf.config.list_physical_devices("CPU")[0])
tf.config.experimental.tensor_float_32_execution_enabled()
[tf.test.is_built_with_rocm(), tf.test.gpu_device_name()]
[tf.debugging.is_traceback_filtering_enabled(), tf.debugging.get_log_device_placement()]
[tf.summary.experimental.get_step(), tf.summary.should_record_summaries()]
[tf.train.latest_checkpoint("/nowhere/at/all"), tf.train.get_checkpoint_state("/nowhere/at/all")]
tf.train.load_checkpoint("/nowhere/at/all")
tf.train.load_variable("/nowhere/at/all", "x")
[tf.saved_model.contains_saved_model("/nowhere"), type(tf.saved_model.LoadOptions()).__name__]
tf.saved_model.load("/nowhere/at/all")
d.get_structure(D.range(3)), d.get_single_element(D.range(1))
list(d.Counter(3, 2).take(3)), list(D.range(5).apply(d.take_while(lambda x: x < 3)))
list(D.range(3).apply(d.enumerate_dataset(5)))
list(D.range(3).apply(d.assert_cardinality(4)))
list(d.choose_from_datasets([D.range(2), D.range(7, 9)], D.from_tensor_slices(np.array([1, 0, 1]))))
""",
    ),
}
