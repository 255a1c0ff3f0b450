"""AutoGraph: Python's own control flow on symbolic tensors.

`convert` rewrites a function so that its `if`, `while`, `for`, `and`, `len`, ... are calls of operators, which do what
Python does unless they meet a symbolic tensor: then they call `tf.cond` and `tf.while_loop`. The rewriting is done by
the passes of `malt` (see `transpiler`), which is imported when the first function is converted.
"""

from tapeflow._src.function.autograph.calls import (
    convert as convert,
    do_not_convert as do_not_convert,
    is_enabled as is_enabled,
    status as status,
)
from tapeflow._src.function.autograph.directives import set_loop_options as set_loop_options
from tapeflow._src.function.autograph.inspection import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from tapeflow._src.function.autograph.options import Feature as Feature
