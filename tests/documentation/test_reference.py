"""The reference: a page for every public name, made from the exports."""

import importlib.util
import inspect
import re
import sys

import pytest
from tests.documentation.pages import ROOT

from tapeflow._src.core import missing

FOLDER = ROOT / "scripts/documentation"

pytestmark = pytest.mark.exhaustive  # all pages are made


@pytest.fixture(scope="module")
def scripts():
    """The scripts that make the site, which import one another by their short names."""
    before = list(sys.path)
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module
    sys.path[:] = before


@pytest.fixture(scope="module")
def reference(scripts):
    return scripts("reference")


@pytest.fixture(scope="module")
def pages(reference):
    return reference.pages()


def test_it_covers_every_exported_name(reference, pages):
    exports = importlib.import_module("exports")
    exported = {f"tf.{each.public}" for each in exports.exports()}
    assert len(exported) > 1800
    for name in exported:
        page = pages[reference.path_of(name)]
        assert f"\n# {name}\n" in page


def test_it_covers_what_a_user_finds(reference, pages):
    for place, module in missing.namespaces():
        assert reference.path_of(place) in pages
        for name in missing.public_names(module):
            if not inspect.ismodule(getattr(module, name)):
                assert reference.path_of(f"{place}.{name}") in pages


def test_a_page_has_all_that_is_promised(reference, pages):
    page = pages[reference.path_of("tf.linalg.svd")]
    assert "tf.linalg.svd(\n    tensor: Any,\n    full_matrices: bool = False," in page
    assert "```pycon\n>>> s, u, v = tf.linalg.svd(" in page
    assert "- `full_matrices`: whether `u` and `v` are square." in page
    assert "\n## Differences from TensorFlow" in page
    file, line = re.search(r">src/tapeflow/(\S+\.py):(\d+)</a>", page).groups()
    source = (ROOT / "src/tapeflow" / file).read_text("utf-8").split("\n")
    assert source[int(line) - 1].startswith("def svd(")


def test_main_pages_have_a_source_and_say_what_differs(reference, pages, scripts):
    for entry in scripts("names").entries():
        page = pages[reference.path_of(entry.names[0])]
        file, line = re.search(r"^Source: .*>(\S+):(\d+)</a>$", page, re.MULTILINE).groups()
        assert entry.own_name in (ROOT / file).read_text("utf-8").split("\n")[int(line) - 1]
        assert page.partition("## Differences from TensorFlow")[2].partition("\n\n")[2].strip()


def test_raw_ops_say_what_to_use_instead_and_have_examples(reference, pages, scripts):
    page = pages[reference.path_of("tf.raw_ops.MatMul")]
    assert "In a program, use [`tf.linalg.matmul`]" in page
    assert "```pycon\n>>> tf.raw_ops.MatMul(a=" in page
    raw = [entry for entry in scripts("names").entries() if scripts("raw_ops").is_raw(entry)]
    without = [e.own_name for e in raw if "```pycon" not in pages[reference.path_of(e.names[0])]]
    assert len(without) < 0.1 * len(raw), without


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tf.nn.max_pool3d", "Equal values in max_pool3d."),
        ("tf.linalg.expm", "Here all digits of the dtype are right."),
        ("tf.GradientTape", "tf.GradientTape(debug=True)"),
        ("tf.autodiff.hvp", "An addition: TensorFlow has no such name."),
        ("tf.strings.substr", "[Strings](../../../compatibility.md#strings)"),
        ("tf.print", "Its options are among TensorFlow's `**kwargs`."),
        ("tf.math.sin", "None is known. Its parameters are those of TensorFlow 2.21"),
    ],
)
def test_differences_are_found_where_they_are_written(reference, pages, name, says):
    assert says in pages[reference.path_of(name)]


def test_paths_differ_by_more_than_capitals(pages):
    assert len({path.lower() for path in pages}) == len(pages)


def test_links_between_pages_lead_somewhere(pages, scripts):
    site = {**pages, **load_main(scripts).guides()}
    for path, text in site.items():
        for link in re.findall(r"\]\((?!\w+:)([^)#\s]+\.md)", text):
            folder = path.rpartition("/")[0]
            parts = [*filter(None, folder.split("/")), *link.split("/")]
            while ".." in parts:
                at = parts.index("..")
                del parts[at - 1 : at + 1]
            assert "/".join(parts) in site, f"{path} links to {link}"


def load_main(scripts):
    spec = importlib.util.spec_from_file_location("main_of_documentation", FOLDER / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_that_is_written_is_in_the_menu(scripts):
    menu = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    for page in load_main(scripts).guides():
        assert re.search(rf": {re.escape(page)}$", menu, re.MULTILINE), page


def test_pages_of_the_repository_link_to_pages_of_the_site(scripts):
    moved = load_main(scripts).moved
    assert moved("keras.md", "docs/data.md", "data.md") == "keras.md"
    assert moved("../CONTRIBUTING.md", "docs/data.md", "data.md") == "contributing.md"
    assert moved("docs/keras.md", "CONTRIBUTING.md", "insides/x.md") == "../keras.md"
    assert (
        moved("../examples/vae.py", "docs/gallery.md", "gallery.md")
        == "source/examples/vae.py.html"
    )
    with pytest.raises(SystemExit, match=r"docs/gallery\.md links to tests/examples"):
        moved("../tests/examples", "docs/gallery.md", "gallery.md")


def test_source_links_may_lead_to_a_repository(scripts, monkeypatch):
    sources = scripts("sources")
    assert sources.address("src/a.py:12") == "source/src/a.py.html#L12"
    monkeypatch.setattr(sources, "REPOSITORY", "https://example.org/blob/main")
    assert sources.address("src/a.py:12") == "https://example.org/blob/main/src/a.py#L12"
    assert load_main(scripts).moved("../examples", "docs/gallery.md", "gallery.md") == (
        "https://example.org/blob/main/examples"
    )


def test_a_file_is_shown_with_lines_that_can_be_linked_to(scripts):
    page = scripts("sources").page("examples/vae.py")
    lines = (ROOT / "examples/vae.py").read_text("utf-8").count("\n")
    assert page.count('<span id="L') == lines
    assert '<link rel="stylesheet" href="../../assets/source.css">' in page


def test_dead_links_are_noticed(scripts, tmp_path):
    links = scripts("links")
    (tmp_path / "one.html").write_text(
        '<h1 id="top"></h1><a href="two.html#there">'
        '<a href="two.html#gone"><a href="three.html"><a href="https://example.org/x">'
    )
    (tmp_path / "two.html").write_text('<p id="there"><a href="one.html#top"><img src="p.png">')
    assert list(links.dead(tmp_path)) == [
        ("one.html", "three.html"),
        ("one.html", "two.html#gone"),
        ("two.html", "p.png"),
    ]


@pytest.mark.parametrize(
    ("docstring", "page"),
    [
        ("Adds *x* and x_y.", "Adds \\*x\\* and x\\_y."),
        ("Like `tf.add`.", "Like <tf.add>."),
        ("Words:\n>>> 1\n1", "Words:\n\n```pycon\n>>> 1\n1\n```"),
        (
            "One.\n\nArgs:\n  x: a number,\n    or two.\n  *more: others.",
            "One.\n\n**Arguments**\n\n- `x`: a number, or two.\n- `*more`: others.",
        ),
        ("One.\n\nReturns:\n  A tensor\n  of ones.", "One.\n\n**Returns**\n\nA tensor\nof ones."),
    ],
)
def test_docstrings_become_markdown(scripts, docstring, page):
    assert scripts("docstrings").markdown(docstring, lambda name: f"<{name}>") == page
