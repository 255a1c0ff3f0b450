"""Builds the documentation as a site: the pages of docs/, and a reference of every public name.

    python scripts/documentation            builds all of it, and fails at the first warning
    python scripts/documentation --quick    builds the pages, and of the reference tf.linalg alone, whatever is wrong

The Markdown goes to build/docs, and MkDocs makes HTML of it in build/site, in which no link may be dead. The reference
is written by these scripts and not by mkdocstrings: what is public is known by the exports and not by modules, what
differs from TensorFlow is known by the tests, and a page that is plain Markdown takes MkDocs a hundredth of a second.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import differences
import links
import reference
import sources
from names import ROOT

PAGES = ROOT / "build/docs"
SITE = ROOT / "build/site"
THEME = ROOT / "build/theme"  # what MkDocs makes pages with

# Pages that lie elsewhere, with their place on the site.
ELSEWHERE = {
    "README.md": "index.md",
    "docs/start.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results.md": "benchmarks.md",
    "tests/README.md": "insides/tests.md",
    "src/tapeflow/_src/function/README.md": "insides/function.md",
    "src/tapeflow/_src/insides/README.md": "insides/other-libraries.md",
}
WIDE = ("index.md", "gallery.md")  # pages that stand alone in the menu
LISTS = ("compatibility.md", "changelog.md", "benchmarks.md")
NAMED = re.compile(r"\[([\w/-]+\.md)\]\(([\w/.-]+\.md)")  # links that show a file's name
LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Builds the documentation as a site.")
    parser.add_argument("--quick", action="store_true", help="leave most of the reference out")
    options = parser.parse_args()
    write(options.quick)
    command = [sys.executable, "-m", "mkdocs", "build", "--clean", "--quiet"]
    command += [] if options.quick else ["--strict"]
    # The warning is about versions to come, which pyproject.toml does not ask for.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    status = subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    if status or options.quick:
        return status
    dead = list(links.dead(SITE))
    for page, link in dead:
        print(f"{page} has a dead link: {link}")
    return int(bool(dead))


def write(quick: bool = False) -> None:
    """Writes build/docs and build/theme anew."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.rmtree(THEME, ignore_errors=True)
    made = {**guides(), **reference.pages()}
    if quick:
        kept = ("api/tf/linalg/", "api/tf/index", "api/index", "api/tf/Grad")
        made = {p: t for p, t in made.items() if not p.startswith("api/") or p.startswith(kept)}
    linked = set(re.findall(r"source/([\w/.-]+\.py)\.html", "\n".join(made.values())))
    if not sources.REPOSITORY:
        made |= {f"source/{path}.html": sources.page(path) for path in sorted(linked)}
    for path, text in made.items():
        place = PAGES / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    shutil.copytree(ROOT / "docs/images", PAGES / "images")
    shutil.copytree(Path(__file__).with_name("assets"), PAGES / "assets")
    shutil.copytree(Path(__file__).with_name("theme"), THEME)
    (THEME / "names").mkdir()
    for place, text in reference.lists().items():
        (THEME / f"names/{place}.html").write_text(text, "utf-8")


def guides() -> dict[str, str]:
    """The pages that were written by hand, with links that lead to pages of the site."""
    files = {path.relative_to(ROOT).as_posix(): path.name for path in ROOT.glob("docs/*.md")}
    files |= {source: page for source, page in ELSEWHERE.items() if source != "README.md"}
    return {page: _guide(source, page) for source, page in files.items()}


def _guide(source: str, page: str) -> str:
    text = (ROOT / source).read_text("utf-8")
    if source == "docs/compatibility.md":
        text = differences.with_headings(text)
    text = NAMED.sub(lambda match: f"[{_title(source, match[2])}]({match[2]}", text)
    # Searches find what explains before what lists.
    head = [] if page in LISTS else ["search:", "  boost: 4"]
    head += ["hide: [navigation]"] if page in WIDE else []
    text = "\n".join(["---", *head, "---", "", text]) if head else text
    return LINK.sub(lambda match: moved(match[1], source, page) + (match[2] or ""), text)


def _title(source: str, link: str) -> str:
    """What a page that is linked to calls itself."""
    first = ((ROOT / source).parent / link).read_text("utf-8").partition("\n")[0]
    return first.removeprefix("# ")


def moved(link: str, source: str, page: str) -> str:
    """The link of a page of the repository as one of a page of the site."""
    if "://" in link:
        return link
    up = "../" * page.count("/")
    target = os.path.relpath((ROOT / source).parent / link, ROOT).replace(os.sep, "/")
    if target in ELSEWHERE:
        return up + ELSEWHERE[target]
    if target.startswith("docs/"):
        return up + target.removeprefix("docs/")
    if target.endswith(".py") or sources.REPOSITORY:
        address = sources.address(target)
        return address if "://" in address else up + address
    raise SystemExit(f"{source} links to {target}, which is not on the site")


if __name__ == "__main__":
    sys.exit(main())
