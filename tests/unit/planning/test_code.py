"""The hash of a job's code: an edit of whatever can change a result changes it, how code is written does not."""

from pathlib import Path
from textwrap import dedent

import pytest

from headtypes.core.errors import InputError
from headtypes.planning import code
from headtypes.planning.code import check_code, code_hash, loaded_modules
from tests.support.places import SCRIPTS

FILES = {
    "headtypes/measure.py": """
        from headtypes.core.progress import warn
        from headtypes.heads import measure
        def run(): measure()
    """,
    "headtypes/heads.py": '''
        """Heads."""
        from typing import TYPE_CHECKING
        import numpy
        from headtypes.table import TABLE
        from headtypes.values import chosen
        if TYPE_CHECKING:
            from headtypes.typed import Typed
        SMALL = 0.05
        RESULT = dict(path="heads.csv", content="each head")

        class Settings:
            restarts = 10
            """How often."""

        def measure(given=chosen, most=3):
            """Measure."""
            from headtypes.later import told
            # Doubled.
            return told(given) * 2
    ''',
    "headtypes/table.py": """
        TABLE = {}
        for name in ("dense", "vertical"):
            TABLE[name] = 1
    """,
    "headtypes/values.py": "def chosen(): return 1",
    "headtypes/later.py": "def told(it): return it",
    "headtypes/typed.py": "class Typed: pass",
    "headtypes/kinds/text.py": "samples = 1",
    "headtypes/kinds/treebank.py": "samples = 1",
    "headtypes/core/progress.py": "def warn(): pass",
}
COUNTS = {
    "the module that is loaded": ("headtypes/measure.py", "measure()", "measure(most=2)"),
    "the body of a function": ("headtypes/heads.py", "* 2", "* 3"),
    "a default argument": ("headtypes/heads.py", "most=3", "most=4"),
    "an attribute of a class": ("headtypes/heads.py", "restarts = 10", "restarts = 11"),
    "what else a result is": ("headtypes/heads.py", "heads.csv", "of_heads.csv"),
    "a constant": ("headtypes/heads.py", "0.05", "0.06"),
    "a table that is filled at import": ("headtypes/table.py", '"vertical"', '"vertical", "diagonal"'),
    "a function that is handed over as a value": ("headtypes/values.py", "return 1", "return 2"),
    "a module that is imported inside of a function": ("headtypes/later.py", "return it", "return -it"),
    "the kind of the job's task": ("headtypes/kinds/text.py", "1", "2"),
}
DOES_NOT_COUNT = {
    "a docstring": ("headtypes/heads.py", '"""Measure."""', '"""Measures heads."""'),
    "what stands below an attribute": ("headtypes/heads.py", "How often", "Restarts"),
    "a comment": ("headtypes/heads.py", "# Doubled.", "# Twice."),
    "what the documentation says of a result": ("headtypes/heads.py", "each head", "of each head, its values"),
    "formatting": ("headtypes/heads.py", "given=chosen, most=3", "given = chosen,\n        most = 3,"),
    "another kind of task": ("headtypes/kinds/treebank.py", "1", "2"),
    "what only type checkers import": ("headtypes/typed.py", "pass", "of = int"),
    "what prints": ("headtypes/core/progress.py", "pass", "return 1"),
}


def hash_in(folder: Path, file: str = "headtypes/measure.py", old: str = "", new: str = "") -> str:
    for name, text in FILES.items():
        text = dedent(text)
        assert name != file or old in text
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace(old, new) if name == file else text)
    return code_hash(("headtypes.measure", "headtypes.kinds.text"), folder)


@pytest.mark.parametrize("edit", COUNTS.values(), ids=COUNTS)
def test_what_can_change_a_result_counts(edit, tmp_path):
    assert hash_in(tmp_path / "after", *edit) != hash_in(tmp_path / "before")


@pytest.mark.parametrize("edit", DOES_NOT_COUNT.values(), ids=DOES_NOT_COUNT)
def test_what_cannot_does_not(edit, tmp_path):
    assert hash_in(tmp_path / "after", *edit) == hash_in(tmp_path / "before")


def test_the_version_of_an_imported_package_counts_and_that_of_another_does_not(tmp_path, monkeypatch):
    before = hash_in(tmp_path / "before")
    for changed in ("numpy", "torch"):
        monkeypatch.setattr(code, "package_version", lambda name, changed=changed: "9" * (name == changed))
        tell = hash_in(tmp_path / changed)
        monkeypatch.setattr(code, "package_version", lambda name: "")
        assert (tell != hash_in(tmp_path / f"not {changed}")) == (changed == "numpy")
    assert len(before) == 16


def test_a_job_refuses_code_that_was_edited_since_it_was_planned_and_that_of_another_folder(tmp_path):
    loaded = ("headtypes.analyses.types.clustering",)
    check_code(code_hash(loaded), loaded, SCRIPTS)
    with pytest.raises(InputError, match="has changed since this run was planned; run again"):
        check_code("0" * 16, loaded, SCRIPTS)
    with pytest.raises(
        InputError, match=f"was imported from {SCRIPTS}, and is not the one of this workflow in {tmp_path}"
    ):
        check_code(code_hash(loaded), loaded, tmp_path)


def test_a_file_of_the_users_counts_by_its_syntax_tree_alone(tmp_path):
    hashes = []
    for number, text in enumerate(("least = 1", "# How many.\nleast  = 1", "least = 2")):
        file = tmp_path / f"{number}" / "mine.py"
        file.parent.mkdir()
        file.write_text(f"from headtypes import HeadAnalysis\n{text}\n")
        hashes.append(code_hash(loaded_modules("analyses.own.measure:run", {"kind": "text", "file": str(file)})))
    assert hashes[0] == hashes[1] != hashes[2]
