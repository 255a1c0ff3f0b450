"""What the README and the pages in docs/ show is true: code runs, excerpts are in their files."""

import doctest
import io
import re

import pytest
from tests.documentation.pages import (
    EXCERPT,
    INSIDE,
    PAGES,
    PEERS,
    ROOT,
    blocks,
    name_of,
    page_on,
    programs,
    promised,
    run,
    snippets,
)

import tapeflow as tf

MAPS = [ROOT / "docs" / "architecture.md", *INSIDE]


def words(code):
    """Code without its layout, which is free to differ."""
    return " ".join(code.split())


def test_the_readme_runs_from_top_to_bottom():
    first, rest = run("\n".join(blocks(ROOT / "README.md", "python"))).split("\n", 1)
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d*", first)]
    assert numbers == pytest.approx([2.0, -1.0, 0.5, 0.3], abs=0.01)
    assert rest == blocks(ROOT / "README.md", "text")[0]


# Those that need no more than they show; the README and the comparisons are looked at more closely below.
RUN = [p for p in PAGES if p.parent.name == "docs" and not p.name.startswith("from_")]


@pytest.mark.parametrize("page", [p for p in RUN if any(programs(p))], ids=name_of)
@pytest.mark.sample(7)
def test_what_is_in_python_runs(page):
    for program in programs(page):
        run(program)


def test_every_block_of_python_is_run_or_found():
    """What is neither in a page that is run nor an excerpt of a file would be believed unseen."""
    looked_at = {*RUN, ROOT / "README.md", *map(page_on, PEERS)}
    for page in set(PAGES) - looked_at:
        assert [b for b in blocks(page, "python") if not b.startswith(EXCERPT)] == [], page
    for page in PAGES:
        languages = re.findall(r"^```(.*)\n[^`]", page.read_text("utf-8"), re.MULTILINE)
        assert {*languages} <= {"python", "pycon", "text", "sh", ""}, page


def test_the_explanation_is_the_one_that_is_shown():
    page = ROOT / "docs/explain.md"
    assert run(blocks(page, "python")[0], "train.py") == blocks(page, "text")[0]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.sample(3)
def test_tasks_give_what_they_promise(peer):
    """Our column. The peers' is run by `make differential`."""
    page = page_on(peer)
    ours, theirs = snippets(page, "tapeflow"), snippets(page, peer)
    assert len(blocks(page, "python")) == 22  # the imports and ten tasks, twice
    assert promised(ours) == promised(theirs)
    assert len(promised(ours)) == 10
    assert ours == snippets(page_on("TensorFlow"), "tapeflow")
    if peer == "TensorFlow":
        assert run(ours).splitlines() == promised(ours)
        changed = ours.replace("# tapeflow", "# TensorFlow").replace("tapeflow", "tensorflow")
        assert theirs == changed


def test_a_promise_that_is_not_kept_is_noticed():
    assert promised('print(1 + 1)  # 3\nprint("x")\n') == ["3"]
    assert run("print(1 + 1)  # 3").splitlines() != ["3"]
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run("1 / 0")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_sessions_give_what_they_show(page):
    session = "\n".join(blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(session, {"tf": tf}, page.name, str(page), 0)
    report = io.StringIO()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=report.write)
    assert results.failed == 0, report.getvalue()
    assert bool(results.attempted) == bool(session)


EXCERPTS = [
    (page.name, *block.split("\n", 1))
    for page in PAGES
    for block in blocks(page, "python")
    if block.startswith(EXCERPT)
]


def test_how_it_works_has_excerpts():
    assert len(EXCERPTS) >= 6


@pytest.mark.parametrize(("page", "file", "excerpt"), EXCERPTS)
def test_excerpts_are_in_the_file_they_name(page, file, excerpt):
    source = (ROOT / file.removeprefix("# ")).read_text(encoding="utf-8")
    assert words(excerpt) in words(source)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    for link in [link for link in links if "://" not in link]:
        assert (page.parent / link).exists(), link
    places = (ROOT, ROOT / "src/tapeflow", ROOT / "src/tapeflow/_src", page.parent)
    for name in re.findall(r"`([\w/]+(?:/|/\w+\.py))`", text):
        assert any((place / name).exists() for place in places), name


@pytest.mark.parametrize("page", MAPS, ids=name_of)
def test_a_map_names_files_that_are_there(page):
    places = (ROOT / "src/tapeflow/_src", ROOT, page.parent)
    names = re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8"))
    assert names
    assert [name for name in names if not any((p / name).is_file() for p in places)] == []


def test_the_map_of_functions_is_complete():
    folder = ROOT / "src/tapeflow/_src/function"
    text = (folder / "README.md").read_text(encoding="utf-8")
    files = [p.relative_to(folder).as_posix() for p in folder.glob("**/*.py")]
    assert [f for f in files if not f.endswith("__init__.py") and f"`{f}`" not in text] == []


def test_the_message_that_is_shown_is_the_one_that_is_given():
    shown = blocks(ROOT / "docs/compatibility.md", "text")[0]
    with pytest.raises(AttributeError) as failure:
        tf.softmax
    assert words(shown) == f"AttributeError: {failure.value}"


@pytest.mark.parametrize(
    "page", [p for p in PAGES if "](images/" in p.read_text("utf-8")], ids=name_of
)
def test_every_picture_has_the_command_that_makes_it_beside_it(page):
    for section in re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        for picture in re.findall(r"!\[[^\]]+\]\(images/([\w/]+)\.png\)", section):
            place, _, name = picture.rpartition("/")
            command = {"gallery": f"tapeflow demo {name}", "inspect": "make pictures"}
            assert f"`{command.get(place, 'make demo')}`" in section, picture
