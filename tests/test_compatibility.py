"""The page on compatibility is what its script writes, and says what is true."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import tapeflow as tf

ROOT = Path(__file__).parents[1]


def load_script():
    spec = importlib.util.spec_from_file_location(
        "compatibility", ROOT / "scripts/compatibility.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
TEXT = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")


def is_there(name):
    found = tf
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)[1]


def test_the_page_is_up_to_date():
    assert SCRIPT.page(TEXT) == TEXT, "run `make docs`"


def test_the_page_notices_a_name_that_is_gone(monkeypatch):
    monkeypatch.delattr(tf, "convert_to_tensor")
    assert SCRIPT.page(TEXT) != TEXT


def test_names_that_are_not_there_yet_are_not_there():
    # The first column of the table; the second says what to use in its place.
    rows = [row.split("|")[1] for row in section("Not there yet").strip().split("\n")]
    absent = re.findall(r"`(tf\.[\w.]+)`", "\n".join(rows))
    assert absent
    assert [name for name in absent if is_there(name)] == []


NAMES = json.loads(SCRIPT.NAMES.read_text(encoding="utf-8"))["names"]


@pytest.mark.parametrize("place", NAMES)
def test_the_table_names_what_is_there(place):
    facts = NAMES[place]
    part = re.search(
        rf"^### `{re.escape(place)}`\n(.*?)(?=^##|<!-- end)", TEXT, re.DOTALL | re.MULTILINE
    )[1]
    there, _, absent = part.partition("Not there: ")
    there, absent = (re.findall(r"`(\w+)`", names) for names in (there, absent))
    assert sorted(there + absent) == sorted(facts)
    assert [name for name in there if not is_there(f"{place}.{name}")] == []
    assert [name for name in absent if is_there(f"{place}.{name}")] == []


def test_every_accepted_difference_says_why():
    from tests.differential.accepted import ACCEPTED

    titles = [entry.title for entry in ACCEPTED]
    assert len(set(titles)) == len(titles)
    for entry in ACCEPTED:
        assert len(entry.why) > 20 and entry.why in TEXT
