"""Which exceptions a call may end with: those of docs/reliability.md, section "Errors"."""

from __future__ import annotations

BUILT_IN = {
    "TypeError",
    "ValueError",
    "NotImplementedError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
}

ELSEWHERE = {
    "tf.autodiff.check_gradients": {"GradientMismatch"},
    "tf.GradientTape": {"RuntimeError"},
    "tf.device": {"RuntimeError"},
    "tf.gradients": {"RuntimeError"},
    "tf.hessians": {"RuntimeError"},
    "tf.TensorShape(y)[y]": {"IndexError"},
    "tf.compat.dimension_at_index": {"IndexError"},
    "tf.distribute.cluster_resolver.": {"RuntimeError", "ImportError"},
    "tf.feature_column.shared_embeddings": {"RuntimeError"},
    "tf.parallel_stack": {"RuntimeError"},
    "x.shape[y]": {"IndexError"},
    "int(x)": {"OverflowError"},
    "tf.io.gfile.GFile.next": {"StopIteration"},
    "tf.saved_model.": {"OSError"},
    "tf.train.": {"OSError"},
    "tf.summary.": {"OSError"},
}
"""Others, for names that begin so, as those of TensorFlow and Python raise them."""

OURS = {"OpError", "TypeError", "ValueError", "NotImplementedError", "RuntimeError"}


def is_documented(label: str, kinds: list[tuple[str, str]]) -> bool:
    """Whether a call may end with an exception, given its class and those above it, by module and name."""
    module, name = kinds[0]
    names = {name for _, name in kinds}
    allowed = [kinds for start, kinds in ELSEWHERE.items() if label.startswith(start)]
    if any(names & each for each in allowed):
        return True
    if module == "builtins":
        return name in BUILT_IN
    return module.startswith("tapeflow.") and name != "InternalError" and bool(names & OURS)
