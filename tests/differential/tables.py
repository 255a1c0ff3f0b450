"""What the accepted differences say of many ops, and of public names."""

from __future__ import annotations

SIGNATURES: dict[str, str] = {
    "tf.meshgrid": "its `indexing` is among TensorFlow's `**kwargs`",
    "tf.print": "its options are among TensorFlow's `**kwargs`",
    "tf.nn.RNNCellDeviceWrapper": "its arguments are among TensorFlow's `**kwargs`",
    "tf.nn.RNNCellDropoutWrapper": "its arguments are among TensorFlow's `**kwargs`",
    "tf.nn.RNNCellResidualWrapper": "its arguments are among TensorFlow's `**kwargs`",
    "tf.Graph": "it may have a name",
    "tf.Operation": "graphs make them",
    "tf.autodiff.GradientMismatch": "an addition",
    "tf.nn.scaled_dot_product_attention": "an addition; in TensorFlow, it is in Keras alone",
    "tf.autodiff.check_gradients": "an addition",
    "tf.autodiff.gauss_newton_product": "an addition",
    "tf.autodiff.hessian": "an addition",
    "tf.autodiff.hvp": "an addition",
    "tf.dtypes.float8_e4m3fn": "in TensorFlow, it is in `tf.dtypes.experimental`",
    "tf.dtypes.float8_e5m2": "in TensorFlow, it is in `tf.dtypes.experimental`",
    "tf.dtypes.as_string": "in TensorFlow, it is in `tf.compat.v1.dtypes`",
    "tf.transfers": "an addition",
    "tf.inspect": "an addition",
    "tf.progress": "an addition",
    "tf.config.get_default_placement": "an addition",
    "tf.config.set_default_placement": "an addition",
    "tf.export.to_onnx": "an addition",
    "tf.export.to_stablehlo": "an addition",
    "tf.compat.v1.TensorProto": "TensorFlow has it in no public place",
    "tf.compat.v1.get_variable": "None stands for the defaults of `synchronization` and `aggregation`",
    "tf.data.experimental.table_from_dataset": "None stands for the default of `hasher_spec`, which has no public name",
    "tf.data.experimental.index_table_from_dataset": "the same",
    "tf.sparse.sampled_addmm": "by default, the dtype of the result is that of the values",
}
"""Public names that TensorFlow does not have, or that take other parameters, with the reason."""

INVALID = "InvalidArgumentError"

MORE_DTYPES = {
    "linalg.tensor_diag": ("bfloat16", "bool"),
    "linalg.tensor_diag_part": ("bfloat16", "bool"),
    "math.digamma": ("float16", "bfloat16"),
    "math.lgamma": ("float16", "bfloat16"),
    "math.rint": ("float16", "bfloat16"),
    "pow": ("uint8", "uint16", "uint32", "uint64"),
    "space_to_batch": ("bool",),
    "image.resize": ("bool",),
    "nn.max_pool3d": ("int32", "float64"),
}
"""For each op, the dtypes that it takes here and not in TensorFlow."""

MORE_GRADIENTS = {
    "gather_nd": ("must match dimensions", "Updates shape must have rank at least one"),
    "image.adjust_contrast": ("AdjustContrastv2",),
    "image.adjust_hue": ("AdjustHue",),
    "image.adjust_saturation": ("AdjustSaturation",),
    "image.resize": ("ResizeArea",),
    "linalg.lu": ("no entry for: Lu",),
    "math.bincount": ("DenseBincount",),
    "math.softsign": ("SoftsignGrad",),
    "nn.conv2d": ("do not yet support dilation rates",),
    "nn.max_pool_with_argmax": ("MaxPoolGradWithArgmax",),
    "nn.convolution": ("'NoneType' object has no attribute 'decode'",),
    "nn.isotonic_regression": ("transpose expects a vector of size", "for attr 'num_split' of 0"),
    "pad": ("Total paddings must be less than the input dimension size: 0",),
    "signal.irfft": ("Incompatible shapes",),
    "signal.irfft2d": ("Incompatible shapes",),
    "signal.irfft3d": ("no entry for: IRFFT3D",),
    "signal.rfft": ("Incompatible shapes",),
    "signal.rfft2d": ("Incompatible shapes",),
    "signal.rfft3d": ("no entry for: RFFT3D",),
    "raw_ops.Mod": ("no entry for: Mod",),
    "sort": ("Requires delta != 0",),
}
"""For each op whose gradient TensorFlow does not have, or not always, the error that says so."""


KINDS = {
    "debugging.assert_same_float_dtype": [("TypeError", "ValueError", "must be of the same type")],
    "image.adjust_hue": [("FailedPreconditionError", INVALID, "input must have 3 channels")],
    "image.adjust_saturation": [("FailedPreconditionError", INVALID, "input must have 3 channels")],
    "image.crop_and_resize": [("ValueError", INVALID, "Value for attr 'method'")],
    "image.extract_patches": [
        ("ValueError", INVALID, "for attr"),
        ("ValueError", "UnimplementedError", "across space"),
    ],
    "image.sobel_edges": [("ValueError", INVALID, "paddings must be the rank of inputs")],
    "math.confusion_matrix": [(INVALID, "ValueError", "not in range")],
    "nn.atrous_conv2d": [(INVALID, "ValueError", "`padding` must be one of")],
    "nn.atrous_conv2d_transpose": [
        (INVALID, "ValueError", "`value` channel count"),
        (INVALID, "IndexError", "list index out of range"),
    ],
    "nn.conv3d": [("ValueError", INVALID, "strides")],
}
"""For each op, the exception that is raised here, TensorFlow's, and words of its message."""

UNSEEN = {
    "histogram_fixed_width_bins": ("value_range must be a vector of 2 elements",),
    "signal.frame": ("frame_step must be positive",),
}
"""For each op in which a mistake is an error here, and not in TensorFlow, what the error says."""

CASTS = {
    "clip_by_norm": ("to EagerTensor of dtype bool",),
    "image.crop_and_resize": ("Tensor conversion requested dtype",),
    "nn.conv1d": ("was expected to be a double tensor but is a float tensor",),
}
"""For each op that takes numbers of another dtype here, the error that TensorFlow raises."""

BEHAVIOR = (
    "has no attribute 'astype'",
    "has no attribute 'is_floating'",
    "to EagerTensor of dtype int",
    "cannot compute Sub as input #1(zero-based) was expected to be",
)
"""What TensorFlow's NumPy functions say where they need its NumPy behaviour, or a tensor."""
