"""The one place of this folder that binds late: methods and operators of `tf.RaggedTensor`."""

from __future__ import annotations

from tapeflow._src.ops.indexing import gathering
from tapeflow._src.ragged import conversion, getitem
from tapeflow._src.ragged.spec import RaggedTensorSpec
from tapeflow._src.ragged.tensor import RaggedTensor, late

setattr(RaggedTensor, "__getitem__", getitem.getitem)  # noqa: B010
setattr(RaggedTensor, "__repr__", conversion.text)  # noqa: B010
setattr(RaggedTensor, "__str__", conversion.text)  # noqa: B010
setattr(RaggedTensor, "from_tensor", classmethod(conversion.from_tensor))  # noqa: B010
for _method in (conversion.to_tensor, conversion.to_list, conversion.numpy, conversion.merge_dims):
    setattr(RaggedTensor, _method.__name__, _method)

late.gather = gathering.gather
late.spec = RaggedTensorSpec.from_value
