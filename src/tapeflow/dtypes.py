"""`tf.dtypes`: the types of elements, and converting between them."""

from tapeflow.core.dtypes import DType as DType
from tapeflow.core.dtypes import as_dtype as as_dtype
from tapeflow.core.dtypes import bfloat16 as bfloat16
from tapeflow.core.dtypes import bool_ as bool  # noqa: F401
from tapeflow.core.dtypes import complex64 as complex64
from tapeflow.core.dtypes import complex128 as complex128
from tapeflow.core.dtypes import double as double
from tapeflow.core.dtypes import float8_e4m3fn as float8_e4m3fn
from tapeflow.core.dtypes import float8_e5m2 as float8_e5m2
from tapeflow.core.dtypes import float16 as float16
from tapeflow.core.dtypes import float32 as float32
from tapeflow.core.dtypes import float64 as float64
from tapeflow.core.dtypes import half as half
from tapeflow.core.dtypes import int8 as int8
from tapeflow.core.dtypes import int16 as int16
from tapeflow.core.dtypes import int32 as int32
from tapeflow.core.dtypes import int64 as int64
from tapeflow.core.dtypes import string as string
from tapeflow.core.dtypes import uint8 as uint8
from tapeflow.core.dtypes import uint16 as uint16
from tapeflow.core.dtypes import uint32 as uint32
from tapeflow.core.dtypes import uint64 as uint64
from tapeflow.ops.array import cast as cast
from tapeflow.ops.array import complex as complex
from tapeflow.ops.array import saturate_cast as saturate_cast
