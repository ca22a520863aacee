"""Configurations with one wrong value: refused in a line that names a key of it, or planned."""

import math
from typing import Any

import pytest

from headtypes.core.errors import InputError
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from tests.support.configs import DELETE, edited, full_config, leaves
from tests.support.job_specs import all_specs

WRONG = {
    "nothing": None,
    "no key": DELETE,
    "zero": 0,
    "minus one": -1,
    "huge": 10**30,
    "minus huge": -(10**30),
    "one half": 0.5,
    "not a number": math.nan,
    "infinite": math.inf,
    "true": True,
    "no text": "",
    "other text": "qwerty",
    "a blank": " ",
    "lines": "a\nb",
    "a null byte": "a\0b",
    "a path": "../../../etc/passwd",
    "a variable": "$NO_SUCH_VARIABLE/x",
    "long text": "x" * 5000,
    "an empty list": [],
    "a list": ["qwerty"],
    "a list of lists": [[[]]],
    "an empty mapping": {},
    "a mapping": {"qwerty": 1},
    "a mapping without text": {1: {2: 3}},
}


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> dict:
    return full_config(tmp_path_factory.mktemp("inputs"))


def parts(config: Any, path: str = "") -> list[str]:
    """The paths of everything in a configuration."""
    if not isinstance(config, dict):
        return [path]
    below = [part for key, value in config.items() for part in parts(value, f"{path}/{key}" if path else str(key))]
    return [*([path] if path else []), *below]


def outcome(config: dict) -> str | None:
    """The line that refuses a configuration; None where it is planned."""
    try:
        plan = Plan(read_config(config))
        # What rules ask of it.
        for what in ("features", "partitions", "ablations", "tabulated", "controlled", "curved", "clusterings"):
            assert getattr(plan, what) is not None
        for model in plan.models:
            plan.files.of_model(model)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("wrong", WRONG)
def test_one_wrong_value_is_refused_or_planned(config, wrong):
    # Keys that come by name come from the whole configuration as well.
    keys = {key for path in parts(config) for key in path.split("/")}
    for path in parts(config):
        message = outcome(edited(config, path, WRONG[wrong]))
        if message is not None:
            assert message.startswith("config: "), f"{path}: {message}"
            assert len(message.splitlines()) == 1, f"{path}: {message}"
            assert any(key in message for key in [*path.split("/"), *keys] if len(key) > 1), f"{path}: {message}"


@pytest.mark.parametrize("wrong", ["huge", "zero", "no key"])
def test_what_is_planned_has_a_spec_for_every_job(config, wrong):
    for path in list(leaves(config))[::3]:
        changed = edited(config, path, WRONG[wrong])
        if outcome(changed) is None:
            all_specs(changed)


@pytest.mark.parametrize("whole", [None, [], "text", 3, {}, {"tasks": {}}, {1: 2}])
def test_what_is_no_configuration_is_refused(whole):
    assert outcome(whole).startswith("config: ")
