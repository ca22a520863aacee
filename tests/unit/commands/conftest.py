import pytest

from headtypes.core.files import write_text
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from tests.support.planned_results import config, make


@pytest.fixture(autouse=True)
def plan(tmp_path, monkeypatch) -> Plan:
    monkeypatch.chdir(tmp_path)
    write_text("qa.json", "{}")
    plan = Plan(read_config(config()))
    make(plan)
    return plan
