"""Links of a site that lead nowhere: to a page that is not there, or to a place that a page does not have."""

from __future__ import annotations

import functools
import html
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# A parser of HTML takes minutes for what was written by a program, with quotes around every value.
_LINKS = re.compile(r'\s(?:href|src)="([^"]+)"')
_ANCHORS = re.compile(r'\s(?:id|name)="([^"]+)"')


class Page(NamedTuple):
    """What a page links to, and what can be linked to on it."""

    links: set[str]
    anchors: set[str]


@functools.cache
def _read(page: Path) -> Page:
    text = page.read_text("utf-8")
    links = {html.unescape(link) for link in _LINKS.findall(text)}
    return Page(links, {"", "__comments", *map(html.unescape, _ANCHORS.findall(text))})


def dead(site: Path) -> Iterator[tuple[str, str]]:
    """Each page of a folder with each of its links that leads nowhere."""
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":  # its links are from the top of a server
            continue
        for link in sorted(_read(page).links):
            inside = link.startswith("#")
            if not (_has(page, link[1:]) if inside else _leads_somewhere(page.parent, link)):
                yield page.relative_to(site).as_posix(), link


@functools.cache  # the pages of a folder have most of their links in common
def _leads_somewhere(folder: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # elsewhere: nothing is fetched to see
    target = Path(os.path.normpath(folder / unquote(parts.path)))
    if target.is_dir():
        target /= "index.html"
    return target.is_file() and (target.suffix != ".html" or _has(target, parts.fragment))


def _has(page: Path, fragment: str) -> bool:
    return unquote(fragment) in _read(page).anchors
