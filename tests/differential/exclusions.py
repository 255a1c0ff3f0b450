"""Public functions that generated calls cannot compare, with the reason."""

STATE = "changes a setting or reads one, and has no result to compare"
SCOPE = "opens a scope, which the conformance cases cover"
ADDITION = "an addition, which TensorFlow does not have"
RANDOM = "holds state of a random generator; its own tests cover it"
GRAPHS = "belongs to functions that are traced; its own tests cover it"
TYPES = "about types, which the conformance cases cover"
NO_KERNEL = "TensorFlow has it on no CPU; its own tests compare with NumPy"

KIT = "works with files, devices, threads or the process; its own tests cover it"

EXCLUDED_NAMESPACES = dict.fromkeys(
    (
        "tf.audio",
        "tf.compat",
        "tf.config",
        "tf.data",
        "tf.experimental.numpy",
        "tf.io",
        "tf.queue",
        "tf.raw_ops",
        "tf.saved_model",
        "tf.summary",
        "tf.sysconfig",
        "tf.test",
        "tf.train",
    ),
    KIT,
)

EXCLUDED: dict[str, str] = {
    "tf.inside_function": STATE,
    "tf.is_symbolic_tensor": GRAPHS,
    "tf.timestamp": "gives another number at each call",
    "tf.image.decode_bmp": KIT,
    "tf.image.decode_gif": KIT,
    "tf.image.decode_image": KIT,
    "tf.image.decode_jpeg": KIT,
    "tf.image.decode_png": KIT,
    "tf.image.encode_jpeg": KIT,
    "tf.image.encode_png": KIT,
    "tf.image.is_jpeg": KIT,
    "tf.executing_eagerly": STATE,
    "tf.get_current_name_scope": STATE,
    "tf.register_tensor_conversion_function": STATE,
    "tf.experimental.dlpack.from_dlpack": KIT,
    "tf.experimental.dlpack.to_dlpack": KIT,
    "tf.autograph.experimental.do_not_convert": GRAPHS,
    "tf.autograph.experimental.set_loop_options": GRAPHS,
    "tf.autograph.set_verbosity": STATE,
    "tf.autograph.to_code": GRAPHS,
    "tf.autograph.to_graph": GRAPHS,
    "tf.autograph.trace": GRAPHS,
    "tf.gradients": GRAPHS,
    "tf.hessians": GRAPHS,
    "tf.function": GRAPHS,
    "tf.get_logger": STATE,
    "tf.as_dtype": TYPES,
    "tf.control_dependencies": SCOPE,
    "tf.device": SCOPE,
    "tf.init_scope": SCOPE,
    "tf.print": "writes to a stream; its own tests cover it",
    "tf.nn.scaled_dot_product_attention": ADDITION,
    "tf.autodiff.check_gradients": ADDITION,
    "tf.autodiff.gauss_newton_product": ADDITION,
    "tf.autodiff.hessian": ADDITION,
    "tf.autodiff.hvp": ADDITION,
    "tf.debugging.enable_check_numerics": STATE,
    "tf.debugging.disable_check_numerics": STATE,
    "tf.debugging.enable_traceback_filtering": STATE,
    "tf.debugging.disable_traceback_filtering": STATE,
    "tf.debugging.is_traceback_filtering_enabled": STATE,
    "tf.debugging.get_log_device_placement": STATE,
    "tf.debugging.set_log_device_placement": STATE,
    "tf.linalg.experimental.conjugate_gradient": "takes an operator; the conformance cases cover it",
    "tf.random.set_seed": STATE,
    "tf.signal.fftnd": NO_KERNEL,
    "tf.signal.ifftnd": NO_KERNEL,
    "tf.signal.irfftnd": NO_KERNEL,
    "tf.signal.rfftnd": NO_KERNEL,
    "tf.random.experimental.get_global_generator": RANDOM,
    "tf.random.experimental.set_global_generator": RANDOM,
}
