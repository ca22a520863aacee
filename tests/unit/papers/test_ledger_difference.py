"""The difference between two ledgers, as a person and a test read it."""

import pytest

from commands.compare_ledgers import main
from headtypes.core.table_files import write_csv
from headtypes.papers.ledger.table import read_ledger
from tests.support.ledgers import made_ledger


@pytest.fixture
def files(tmp_path):
    for name in ("old", "new"):
        write_csv(tmp_path / f"{name}.csv", made_ledger(tmp_path))
    return tmp_path / "old.csv", tmp_path / "new.csv"


def edited(file, id_: str, model: str, **values) -> None:
    ledger = read_ledger(file)
    rows = (ledger["id"] == id_) & (ledger["model"] == model) & (ledger["reading"] == "")
    assert rows.any()
    ledger.loc[rows, list(values)] = list(values.values())
    write_csv(file, ledger)


def test_equal_ledgers_have_no_difference(files, capsys):
    assert main([*map(str, files)]) == 0
    said = capsys.readouterr().out
    assert "The verdict of 0 of them changed; of 0 further ones" in said
    assert "## " not in said


def test_a_changed_verdict_is_listed_with_both_values_and_fails(files, capsys):
    edited(files[1], "few", "other", verdict="holds", value=3.25)
    assert main([*map(str, files)]) == 1
    said = capsys.readouterr().out
    row = "| parted | few | other, qa-kmeans-k4, qa | fails 2 [1.5, 2.5] | holds (corrected: fails) 3.25 [1.5, 2.5] |"
    assert row in said
    assert said.count("| parted |") == 1


def test_a_verdict_that_changes_after_correction_alone_fails_too(files, capsys):
    edited(files[1], "few", "root", verdict_holm="open")
    assert main([*map(str, files)]) == 1
    said = capsys.readouterr().out
    assert "holds (corrected: open) 2" in said


def test_a_changed_value_and_cells_of_one_ledger_are_listed_and_pass(files, capsys):
    edited(files[1], "few", "root", value=2.125)
    ledger = read_ledger(files[1])
    write_csv(files[1], ledger[ledger["task"] != "books"])
    assert main([*map(str, files)]) == 0
    said = capsys.readouterr().out
    assert "## Changed values under the same verdict" in said
    assert "holds 2.125 [1.5, 2.5]" in said
    old_alone = said.partition("## Only in the old ledger")[2]
    assert old_alone.count("| tasked |") == 2
    assert "| tasked | root |  | books |  | 1 |" in old_alone
    assert "Only in the new ledger" not in said


def test_what_is_no_ledger_is_named(files, tmp_path, capsys):
    other = tmp_path / "parted/comparison.csv"
    assert main([str(files[0]), str(other)]) == 2
    assert capsys.readouterr().err.startswith(str(other))
    assert main([str(files[0])]) == 2
