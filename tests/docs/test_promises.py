"""The tests that the documentation names are there."""

import re

from tests.support.places import ROOT


def test_every_test_that_stands_behind_a_promise_is_there():
    text = (ROOT / "docs/lookup/reliability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    there = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 30
    assert named <= there
