"""What is said of a plan that is not wrong: conditions that are left out, and small numbers that came from the demo."""

from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.tools.notes import notes_on
from tests.support.overlays import DEMO, over_the_demo

OWN = {
    "tasks": {"asked": {"source": {"hub": "x/y"}}},
    "models": {"mine": {"source": {"hub": "x/z"}, "tasks": ["asked"], "evaluate": "asked"}},
    "select": {"models": ["mine"], "tasks": ["asked"]},
}


def notes(*configs: dict) -> list[str]:
    layers = over_the_demo(*configs)
    return notes_on(Plan(read_config(layers.values, layers.removed)), layers)


def test_nothing_is_said_of_the_demo_and_of_small_edits_of_it():
    assert notes() == []
    assert notes({"seed": 3}) == []


def test_the_numbers_of_the_demo_are_said_in_an_experiment_of_ones_own():
    (note,) = notes(OWN)
    assert note.startswith(
        "controls.draws: 80, controls.questions: 24, controls.conditions: "
        "['zero-dense', 'zero-diagonal', 'zero-dense_vertical', 'zero-vertical'], curves.orders: 1, "
        "curves.questions: 20: as in config.yaml,"
    )
    assert notes({**OWN, "controls": {"draws": 5, "conditions": None}})[0].startswith(
        "controls.questions: 24, curves.orders: 1,"
    )
    # Where they are said, taken away, or of no use, there is nothing to say.
    assert (
        notes(
            {
                **OWN,
                "controls": {"draws": 2, "questions": 60, "conditions": ["zero-dense"]},
                "curves": {"orders": 1, "questions": 30},
            }
        )
        == []
    )
    assert notes({**OWN, "controls": None, "curves": None}) == []
    types_only = {**OWN, "select": {**OWN["select"], "conditions": []}}
    assert notes(types_only) == []


def test_models_of_the_demo_that_run_beside_ones_own_are_said():
    beside = {key: OWN[key] for key in ("tasks", "models")}
    (note,) = notes(beside)
    assert note.startswith("minilm, minilm-qa, minilm-paraphrase, minilm-entailment")
    assert ": models of config.yaml, the demo, which run beside those of yours." in note
    # Where they are chosen, or taken away, it is known.
    assert notes({**beside, "select": {"models": [*DEMO["models"], "mine"]}}) == []
    assert all("beside those of yours" not in note for note in notes(OWN))


def test_the_conditions_that_another_k_leaves_out_are_said():
    (note,) = notes({"clustering": {"k": [5]}})
    assert note.startswith("18 conditions name types that only k = 4 gives (dense, diagonal, dense_vertical, vertical)")
    assert "are left out: zero-dense, zero-diagonal," in note
    both = {"conditions": dict.fromkeys(list(DEMO["conditions"])[2:]), "clustering": {"k": [5]}}
    (note,) = notes(both)
    assert note == (
        "1 condition names types that only k = 4 gives (dense) and is left out: zero-dense. The types of another k are "
        "type-1, type-2, and so on."
    )
