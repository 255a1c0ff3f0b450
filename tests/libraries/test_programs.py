"""How the programs that others wrote are edited, compared and put into the table."""

import pytest
from tests.libraries.programs import comparison, sources


def of(*numbers):
    """What a driver writes."""
    return {"numbers": list(numbers), "seconds": [9.0, 2.04]}


def test_losses_above_one_are_compared_relatively():
    result = comparison.compared(of(0.5, 200.0), of(0.5, 200.2))
    assert result["difference"] == 1e-3
    assert comparison.compared(of(0.5), of(0.501))["difference"] == 1e-3
    assert (result["numbers"], result["seconds here"]) == (2, 2.0)


def test_another_count_of_numbers_is_an_error():
    with pytest.raises(ValueError, match="TensorFlow gave 2 numbers, tapeflow 1"):
        comparison.compared(of(1, 2), of(1))


def test_the_table_has_a_row_for_each_program_that_was_run():
    rows = comparison.table({"vqvae": comparison.compared(of(1), of(1))}).splitlines()
    assert len(rows) == 5 and "Sonnet: VQ-VAE" in rows[2]
    assert rows[2].endswith("| 1 | 0e+00 | 2.0 s | 2.0 s |")
    assert "not run to the end yet: GPflow" in rows[4] and "Sonnet" not in rows[4]


def test_words_that_are_to_be_replaced_have_to_be_there(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "WORK", tmp_path)
    (tmp_path / "vqvae").mkdir()
    program = tmp_path / "vqvae" / "program.py"
    program.write_text("num_training_updates = 100000\n")
    edited = sources.fetched("vqvae") / "edited.py"
    assert edited.read_text() == "num_training_updates = 7\n"
    program.write_text("num_training_updates = 5\n")
    with pytest.raises(ValueError, match="'num_training_updates = 100000' is not in"):
        sources.fetched("vqvae")
