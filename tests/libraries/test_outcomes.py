"""How the outcomes of a library's tests are compared and counted."""

import json

from tests.libraries import outcomes
from tests.libraries.catalogue import LIBRARIES, Library

LIBRARY = Library("it", "it==1.2", ("tests",), "all", reasons={"::test_known": "a known reason"})


def of(**each):
    """Outcomes of tests, by name."""
    return {name: {"test": name, "outcome": outcome} for name, outcome in each.items()}


def test_only_what_passes_on_tensorflow_counts():
    theirs = of(a="passed", b="failed", c="skipped", d="passed", e="passed")
    ours = of(a="passed", b="failed", c="passed", d="failed", e="skipped")
    result = outcomes.compared(LIBRARY, theirs, ours)
    assert (result["passing"], result["pass here"], result["skipped here"]) == (3, 1, 1)
    assert list(result["failures"]) == ["d"]
    assert (result["version"], result["failing on both"]) == ("1.2", 1)


def test_what_was_not_run_does_not_pass():
    assert outcomes.compared(LIBRARY, of(a="passed"), {})["failures"] == {"a": "was not run"}


def test_numbers_have_to_be_tensorflows():
    theirs, ours = of(a="passed", b="passed"), of(a="passed", b="passed")
    theirs["a"]["numbers"], ours["a"]["numbers"] = {"loss": [1.0, 2.0]}, {"loss": [1.00001, 2.0]}
    theirs["b"]["numbers"], ours["b"]["numbers"] = {"loss": [1.0]}, {"loss": [1.1]}
    assert list(outcomes.compared(LIBRARY, theirs, ours)["failures"]) == ["b"]


def test_a_failure_has_its_reason_or_its_error():
    assert outcomes.reason_for(LIBRARY, "file::test_known_thing", "x") == "a known reason"
    assert "TypeError: y" in outcomes.reason_for(LIBRARY, "file::test_other", "TypeError: y")


def test_the_last_line_of_a_test_is_read(tmp_path):
    lines = [{"test": "a", "outcome": "passed"}, {"test": "a", "outcome": "failed", "error": "e"}]
    file = tmp_path / "outcomes.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert outcomes.read(file)["a"]["outcome"] == "failed"
    assert outcomes.read(tmp_path / "none") == {}


def test_what_was_not_run_is_named_and_not_counted():
    assert "not run yet: einops, " in outcomes.table({})
    assert "| einops" not in outcomes.table({})


def test_the_page_has_the_table_of_what_was_run():
    results = json.loads(outcomes.RESULTS.read_text(encoding="utf-8"))
    assert results.keys() <= LIBRARIES.keys()
    assert outcomes.table(results) in outcomes.PAGE.read_text(encoding="utf-8")


def test_what_is_run_again_takes_the_place_of_what_failed():
    before = {"failures": {"a": "x", "b": "y", "c": "z"}, "pass here": 5, "passing": 8}
    theirs = of(a="passed", b="passed", c="failed")
    again = outcomes.compared(LIBRARY, theirs, of(a="passed", b="failed", c="passed"))
    found = outcomes.renewed(before, again, theirs)
    # What TensorFlow failed this time is no reason to call it better.
    assert found == {"failures": {"b": "", "c": "z"}, "pass here": 6, "passing": 8}
