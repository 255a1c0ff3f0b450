"""What the scopes around ops need: a signal handler may be the first to ask for one, while ops are being imported."""

import subprocess
import sys

PROGRAM = """
import sys
import tapeflow as tf
before = set(sys.modules)
with tf.init_scope(), tf.control_dependencies(None):
    pass
print(*sorted(set(sys.modules) - before))
"""


def test_they_import_no_ops():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert set(run.stdout.split()) <= {
        "tapeflow._src.ops",
        "tapeflow._src.ops.control",
        "tapeflow._src.ops.control.scopes",
    }
