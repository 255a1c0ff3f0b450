"""What the README and the pages in docs/ show is true: code runs, excerpts are in their files."""

import doctest
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tapeflow as tf

ROOT = Path(__file__).parents[1]
INSIDE = sorted(ROOT.glob("src/**/README.md"))
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *INSIDE])
MAPS = [ROOT / "docs" / "architecture.md", *INSIDE]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def words(code):
    """Code without its layout, which is free to differ."""
    return " ".join(code.split())


def test_the_readme_runs_from_top_to_bottom(tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks(ROOT / "README.md", "python")), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    first, rest = done.stdout.split("\n", 1)
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d*", first)]
    assert numbers == pytest.approx([2.0, -1.0, 0.5, 0.3], abs=0.01)
    assert rest == blocks(ROOT / "README.md", "text")[0]


def test_the_page_on_keras_runs_from_top_to_bottom(tmp_path):
    pytest.importorskip("keras", reason="Keras is not installed")
    script = tmp_path / "keras_page.py"
    script.write_text("\n".join(blocks(ROOT / "docs" / "keras.md", "python")), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


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
    if block.startswith(("# src/", "# tests/"))
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
