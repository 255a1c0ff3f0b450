"""The pages of the reference, as Markdown: one for each public name, one for each namespace, one above all."""

from __future__ import annotations

import functools
import html
from collections import defaultdict
from collections.abc import Iterator

import differences
import raw_ops
import sources
from docstrings import Link, markdown, prose
from names import Entry, Member, by_name, classes, entries, members, namespaces, shown, signature


def pages() -> dict[str, str]:
    """All pages by their paths, such as `api/tf/linalg/svd.md`."""
    made = {"api/index.md": _front()}
    for place in namespaces():
        made[path_of(place)] = _namespace(place)
    for entry in entries():
        main, *others = entry.names
        made[path_of(main)] = _page(entry)
        for name in others:
            made[path_of(name)] = _alias(name, entry)
    return made


@functools.cache
def _paths() -> dict[str, str]:
    """The path of each name, with no two that differ in capital letters alone: some disks see no difference."""
    paths, taken = {}, set()
    for place in namespaces():
        paths[place] = f"api/{place.replace('.', '/')}/index.md"
    for name in sorted(by_name()):
        path = f"api/{name.replace('.', '/')}"
        path = f"{path}_1" if path.lower() in taken else path
        taken.add(path.lower())
        paths[name] = f"{path}.md"
    return paths


def path_of(name: str) -> str:
    """The page of a public name or of a namespace."""
    return _paths()[name]


def _up(name: str) -> str:
    """From the page of a name to the top of the site."""
    return "../" * path_of(name).count("/")


def _link(here: str) -> Link:
    def link(name: str) -> str:
        known = name in _paths() and name != here
        return f"[`{name}`]({_up(here)}{path_of(name)})" if known else f"`{name}`"

    return link


def _head(name: str, boost: float = 1) -> list[str]:
    """What MkDocs is told of a page: which names to show beside it, and how early searches should find it."""
    place = name if name in namespaces() else name.rpartition(".")[0]
    if name.startswith(("tf.raw_ops.", "tf.compat.", "tf.experimental.numpy.")):
        boost = boost / 4  # what few look for
    lines = ["---", f"title: {name}", f"namespace: {place}", "search:", f"  boost: {boost}"]
    return [*lines, "---", ""]


def _crumbs(name: str) -> str:
    places = [p for p in namespaces() if name.startswith(f"{p}.")]
    links = [f"[`{p}`]({_up(name)}{path_of(p)})" for p in places]
    return f"[Reference]({_up(name)}api/index.md) / {' / '.join(links)}\n{{ .crumbs data-search-exclude }}"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _source(here: str, place: str) -> str:
    if not place:
        return ""
    address = sources.address(place)
    address = address if "://" in address else _up(here) + address
    return f'<a class="source" href="{html.escape(address)}">{place}</a>'


def _page(entry: Entry) -> str:
    """The page of an entry under its main name."""
    name, *others = entry.names
    link = _link(name)
    lines = [*_head(name, 2), f"# {name}", "", _crumbs(name), ""]
    if entry.kind == "value":
        lines += [_code(f"{name} = {shown(entry.value)}"), "", _of_a_value(entry, link), ""]
    elif entry.kind == "exception":
        lines += [_code(f"class {name}({entry.value.__bases__[0].__name__})"), ""]
    else:
        word = "class " if entry.kind == "class" else ""
        lines += [_code(word + signature(name, entry.value)), ""]
    if entry.doc:
        lines += [markdown(entry.doc, link), ""]
    if raw_ops.is_raw(entry):
        lines += [*_of_a_raw_op(entry, link), ""]
    if others:
        lines += [f"Also: {', '.join(f'`{other}`' for other in others)}.", ""]
    lines += [f"Source: {_source(name, entry.place)}", ""]
    # Else searches would find each page twice.
    lines += [
        "## Differences from TensorFlow { data-search-exclude }",
        "",
        *_differences(entry),
        "",
    ]
    if entry.kind == "class":
        lines += _members(entry)
    return "\n".join(lines)


def _of_a_value(entry: Entry, link: Link) -> str:
    kind = type(entry.value).__name__
    owner = classes().get(type(entry.value))
    return f"A value: {link(owner.names[0]) if owner else f'`{kind}`'}."


def _of_a_raw_op(entry: Entry, link: Link) -> Iterator[str]:
    """Which function to use instead, and an example."""
    found = raw_ops.instead(entry)
    yield "Graphs and saved models are made of raw ops. All arguments are passed by name."
    if len(found) == 1:
        yield f"In a program, use {link(found[0].names[0])}. {prose(found[0].summary, link)}"
    elif found:
        yield f"It is made of {', '.join(link(each.names[0]) for each in found)}."
    yield ""
    session = raw_ops.example(entry)
    if session:
        yield f"```pycon\n{session}\n```"


def _differences(entry: Entry) -> Iterator[str]:
    up = _up(entry.names[0])
    found = [line.replace("](", f"]({up}") for line in differences.of(entry)]
    yield from (f"- {line}" for line in found) if len(found) > 1 else found


def _members(entry: Entry) -> Iterator[str]:
    name = entry.names[0]
    link = _link(name)
    inherited: dict[str, list[str]] = defaultdict(list)
    own: list[Member] = []
    for owner, member in members(entry.value):
        base = classes().get(owner)
        if base is None or base is entry:
            own.append(member)
        else:
            inherited[base.names[0]].append(member.name)
    own.sort(key=lambda member: (not member.is_property, member.name.lower()))
    for title, wanted in (("Properties", True), ("Methods", False)):
        part = [member for member in own if member.is_property is wanted]
        if part:
            yield from ("", f"## {title}", "")
        for member in part:
            yield from _member(member, name, link)
    if inherited:
        yield from ("", "## Inherited", "")
    for base, found in inherited.items():
        yield f"From {link(base)}: {', '.join(f'`{word}`' for word in sorted(found))}."
        yield ""


def _member(member: Member, name: str, link: Link) -> Iterator[str]:
    yield f"### {member.name}"
    yield ""
    if not member.is_property:
        yield _code(
            (f"@{member.prefix}\n" if member.prefix else "") + signature(member.name, member.value)
        )
        yield ""
    yield markdown(member.doc, link)
    yield ""
    yield _source(name, member.place)
    yield ""


def _alias(name: str, entry: Entry) -> str:
    """The page of another name of an entry."""
    main = entry.names[0]
    link = _link(name)
    lines = [*_head(name), f"# {name}", "", _crumbs(name), "", f"Another name of {link(main)}.", ""]
    if entry.kind in ("class", "function"):
        lines += [_code(signature(name, entry.value)), ""]
    lines += [prose(entry.summary, link) if entry.doc else entry.summary, ""]
    lines += [f"Source: {_source(name, entry.place)}"]
    return "\n".join(lines)


def _inside(place: str) -> tuple[list[str], list[str]]:
    """The namespaces and the names directly in a namespace."""
    spaces = sorted(p for p in namespaces() if p.rpartition(".")[0] == place)
    names = sorted((n for n in by_name() if n.rpartition(".")[0] == place), key=str.lower)
    return spaces, names


def _namespace(place: str) -> str:
    link = _link(place)
    spaces, names = _inside(place)
    crumbs = [_crumbs(place), ""] if place != "tf" else []
    lines = [*_head(place), f"# {place}", "", *crumbs, markdown(namespaces()[place], link), ""]
    groups = (
        ("class", "Classes"),
        ("function", "Functions"),
        ("value", "Values"),
        ("exception", "Exceptions"),
    )
    if spaces:
        lines += ["## Namespaces", "", "| | |", "| --- | --- |"]
        lines += [f"| {link(p)} | {_says(p, link)} |" for p in spaces] + [""]
    for kind, title in groups:
        found = [name for name in names if by_name()[name].kind == kind]
        if found:
            lines += [f"## {title}", "", "| | |", "| --- | --- |"]
            lines += [f"| {link(name)} | {_row(by_name()[name], link)} |" for name in found] + [""]
    if place == "tf":
        lines += [_KERAS]
    return "\n".join(lines)


_KERAS = """## Keras

`tf.keras`, `tf.initializers`, `tf.losses`, `tf.metrics` and `tf.optimizers` are Keras 3 itself, with tapeflow as its
backend: [Keras](../../keras.md)."""


def _row(entry: Entry, link: Link) -> str:
    text = prose(entry.summary, link) if entry.doc else entry.summary
    return text.replace("|", "\\|").replace("\n", " ")


def _says(place: str, link: Link) -> str:
    first = namespaces()[place].partition("\n")[0]
    said = first.partition(": ")[2] or first
    return prose(said[:1].upper() + said[1:], link).replace("|", "\\|")


def _front() -> str:
    lines = ["---", "title: Reference", "---", "", "# Reference", ""]
    lines += [
        f"All {len(by_name())} public names: each with its signature, an example that is run as a test, the line where "
        "it is defined, and how it differs from TensorFlow's. To find one, press `/` and type.",
        "",
        "| namespace | names | |",
        "| --- | ---: | --- |",
    ]
    for place in namespaces():
        said = _says(place, lambda name: f"`{name}`")
        path = path_of(place).removeprefix("api/")
        lines.append(f"| [`{place}`]({path}) | {len(_inside(place)[1])} | {said} |")
    return "\n".join(lines)


def lists() -> dict[str, str]:
    """For each namespace, what is shown at the left of its pages, as HTML. They lie in one folder."""
    return {place: _list(place) for place in namespaces()}


def _list(place: str) -> str:
    spaces, names = _inside(place)
    depth = path_of(place).count("/")
    parent = place.rpartition(".")[0]
    links = [("Start here", "../" * depth + "index.html", "names__space names__site")]
    links += [("Reference", "../" * (depth - 1) + "index.html", "names__space names__site")]
    links += [(parent, "../index.html", "names__space")] if parent else []
    links += [(place, "index.html", "names__space")]
    short = place.count(".") + 1
    links += [
        (f"{p.split('.', short)[-1]} …", f"{p.split('.')[-1]}/index.html", "") for p in spaces
    ]
    for name in names:
        file = path_of(name).rpartition("/")[2].removesuffix(".md")
        links.append((name.rpartition(".")[2], f"{file}.html", ""))
    items = [
        f'<li class="md-nav__item"><a class="md-nav__link {kind}" href="{href}">{html.escape(text)}</a></li>'
        for text, href, kind in links
    ]
    return "\n".join(
        [
            '<nav class="md-nav md-nav--primary names" aria-label="Names" data-md-level="0">',
            f'<label class="md-nav__title" for="__drawer">{place}</label>',
            '<ul class="md-nav__list" data-md-scrollfix>',
            *items,
            "</ul>",
            "</nav>",
        ]
    )
