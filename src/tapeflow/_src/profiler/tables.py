"""A profile as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow._src.profiler.counting import Row, by_line, by_op
from tapeflow._src.profiler.profile import Profile


def text(profile: Profile, by: str | Sequence[str] = ("op", "line"), rows: int = 15) -> str:
    """The tables that are asked for, with a heading that says how long it took in all."""
    whole = profile.end - profile.begin
    parts = [
        f"{seconds(whole)} in all, {len(profile.events)} events in {len(profile.threads)} "
        f"thread{'' if len(profile.threads) == 1 else 's'}; arrays at most {size(profile.memory.peak)}"
    ]
    for kind in [by] if isinstance(by, str) else by:
        found = by_op(profile) if kind == "op" else by_line(profile)
        parts.append(_table(kind, found, whole, rows))
    return "\n\n".join(parts)


def _table(kind: str, found: list[Row], whole: int, most: int) -> str:
    shown = found[:most]
    width = max([len(kind), *(len(row.name) for row in shown)])
    width = min(width, 60)
    lines = [
        f"{kind:<{width}}  {'calls':>7}  {'total':>9}  {'own':>9}  {'share':>6}  {'bytes':>9}  phase"
    ]
    for row in shown:
        share = f"{row.own / whole:.1%}" if whole else ""
        lines.append(
            f"{_short(row.name, width):<{width}}  {row.calls or '':>7}  {seconds(row.total):>9}  "
            f"{seconds(row.own):>9}  {share:>6}  {size(row.bytes) if row.bytes else '':>9}  {row.phase}".rstrip()
        )
    rest = found[most:]
    if rest:
        own = sum(row.own for row in rest)
        share = f"{own / whole:.1%}" if whole else ""
        name = f"({len(rest)} more)"
        lines.append(
            f"{name:<{width}}  {sum(r.calls for r in rest):>7}  {'':>9}  {seconds(own):>9}  {share:>6}"
        )
    return "\n".join(lines)


def _short(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 3]}..."


def seconds(nanoseconds: float) -> str:
    """A time with three digits and a unit."""
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= factor:
            return (
                f"{nanoseconds / factor:.3g} {unit}"
                if nanoseconds < 1e12
                else f"{nanoseconds / factor:.0f} s"
            )
    return f"{nanoseconds:.0f} ns"


def size(count: float) -> str:
    """A number of bytes with three digits and a unit."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            value = count / factor
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{count:.0f} B"
