"""Links of a site that lead nowhere: to a page that is not there, or to a place that a page does not have."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Reader(HTMLParser):
    """Notes what a page links to, and what can be linked to on it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "__comments"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Reads one tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@functools.cache
def _read(page: Path) -> _Reader:
    reader = _Reader()
    reader.feed(page.read_text("utf-8"))
    return reader


def dead(site: Path) -> Iterator[tuple[str, str]]:
    """Each page of a folder with each of its links that leads nowhere."""
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":  # its links are from the top of a server
            continue
        for link in sorted(_read(page).links):
            if not _leads_somewhere(page, link):
                yield page.relative_to(site).as_posix(), link


def _leads_somewhere(page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # elsewhere: nothing is fetched to see
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    return target.suffix != ".html" or unquote(parts.fragment) in _read(target).anchors
