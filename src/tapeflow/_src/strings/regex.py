"""Regular expressions over strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bool_
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.strings.re2 import compiled, may_be_empty
from tapeflow._src.strings.rows import elementwise, listed, scalar_of, strings_of, the
from tapeflow._src.strings.structures import on_values


def _texts(x: Any) -> list[str]:
    return [s.decode("utf-8", "surrogateescape") for s in listed(x)]


def _match_kernel(x: Any, pattern: Any) -> np.ndarray:
    match = compiled("regex_full_match", the(pattern)).fullmatch
    return np.array([match(s) is not None for s in _texts(x)], bool).reshape(np.shape(x))


_full_match = elementwise("regex_full_match", "input pattern", _match_kernel, bool_)


@export("strings.regex_full_match")
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string.

    >>> tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$").numpy()
    array([ True, False])

    Args:
      input: strings.
      pattern: the expression, in the syntax of RE2.
      name: accepted for compatibility.
    """
    op = "regex_full_match"
    expression = scalar_of(op, "pattern", pattern)
    return on_values(lambda x: _full_match(strings_of(op, "input", x), expression), input)


def _replace_kernel(x: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> np.ndarray:
    op = "regex_replace"
    found = compiled(op, the(pattern))
    new = _rewriting(op, the(rewrite), found.groups)
    count = 0 if replace_global else 1
    if replace_global and may_be_empty(op, the(pattern)):
        texts = [_all_replaced(s, found, new) for s in _texts(x)]
    else:
        replaced = found.sub
        texts = [replaced(new, s, count) for s in _texts(x)]
    return bytes_array([t.encode("utf-8", "surrogateescape") for t in texts], np.shape(x))


def _rewriting(op: str, rewrite: bytes, groups: int) -> Callable[[re.Match[str]], str] | str:
    """What is put in the place of a match: a text, as Python's `sub` takes it."""
    text = rewrite.decode("utf-8", "surrogateescape")
    parts = re.split(r"\\(.?)", text, flags=re.DOTALL)
    for sign in parts[1::2]:
        if sign != "\\" and not (sign.isascii() and sign.isdigit() and int(sign) <= groups):
            raise invalid(
                f"{op}: rewrite {text!r} has \\{sign}, and only \\\\ and \\0 to \\{groups} mean anything there"
            )
    if len(parts) == 1:
        return text
    signs = [s if s == "\\" else int(s) for s in parts[1::2]]
    plain = parts[::2]

    def filled(match: re.Match[str]) -> str:
        out = [plain[0]]
        for sign, after in zip(signs, plain[1:], strict=True):
            out.append("\\" if sign == "\\" else match[sign] or "")
            out.append(after)
        return "".join(out)

    return filled


def _all_replaced(
    text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str] | str
) -> str:
    """All matches replaced, as RE2 finds them: no empty one is where the one before it ends."""
    out: list[str] = []
    at, last = 0, -1
    while at <= len(text):
        match = pattern.search(text, at)
        if match is None:
            break
        start, end = match.span()
        out.append(text[at:start])
        if start == end == last:
            out.append(text[start : start + 1])
            at = start + 1
            continue
        out.append(new if isinstance(new, str) else new(match))
        at = last = end
    return "".join([*out, text[at:]])


_replace = elementwise("regex_replace", "input pattern rewrite", _replace_kernel)


@export("strings.regex_replace")
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Strings in which what a regular expression matches is replaced.

    >>> tf.strings.regex_replace("Text with tags.<br /><b>bold</b>", "<[^>]+>", " ").numpy()
    b'Text with tags.  bold '

    Args:
      input: strings.
      pattern: the expression, in the syntax of RE2.
      rewrite: what is put there; `\1` to `\9` are what groups matched.
      replace_global: whether all that matches is replaced, or the first.
      name: accepted for compatibility.
    """
    op = "regex_replace"
    expression, new = scalar_of(op, "pattern", pattern), scalar_of(op, "rewrite", rewrite)
    return on_values(
        lambda x: _replace(
            strings_of(op, "input", x), expression, new, replace_global=bool(replace_global)
        ),
        input,
    )
