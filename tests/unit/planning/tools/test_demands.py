"""Problems visible in a model's files are reported when a run is planned, else by the job that fetches the model."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from transformers import AutoModelForSequenceClassification

from headtypes.core.errors import InputError
from headtypes.core.files import write_json
from headtypes.models.demands import Demands, check_demands
from headtypes.models.outline import check_outline, layers_in, layers_said, outline_of
from headtypes.planning.config.messages import mistakes_in
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.stages.models import fetch_model
from headtypes.planning.tools.demands import check_models, demands_as_text
from tests.support.configs import edited
from tests.support.models import FAMILIES, tiny_family

TYPES = [f"{layer},{head},{'dense' if head else 'odd'}" for layer in range(2) for head in range(4)]
RULED = ("jamba", "bamba", "recurrent_gemma")
LABELLED = {"id2label": {"0": "no", "1": "yes"}}


def model(folder: Path, layers: int = 2, head: str = "qa_outputs.weight", kind=np.float32, **config) -> str:
    """The head of a model's files, with weights of one number each."""
    folder.mkdir()
    shape = {"model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 4}
    (folder / "config.json").write_text(json.dumps({**shape, **config}))
    names = [f"bert.encoder.layer.{number}.output.dense.weight" for number in range(layers)]
    save_file({name: np.ones(1, kind) for name in (*names, head)}, folder / "model.safetensors")
    return str(folder)


def config(folder: Path, source: dict, task: dict | None = None) -> dict:
    (folder / "mine.csv").write_text("\n".join(["layer,head,type", *TYPES]))
    (folder / "squad.json").write_text("{}")
    return {
        "tasks": {"one": task or {"source": {"file": str(folder / "squad.json")}}},
        "models": {"tiny": {"source": source, "tasks": ["one"], "evaluate": "one"}},
        "partitions": {"mine": {"file": str(folder / "mine.csv"), "model": "tiny", "task": "one"}},
        "conditions": {"baseline": {}, "zero-dense": {"dense": "zero"}, "one": {"2-4": "zero"}},
    }


def told(given: dict, results: Path) -> str | None:
    """What is said when a run is planned; None if nothing is."""
    try:
        check_models(Plan(read_config(given)), results)
    except InputError as error:
        message = str(error)
    else:
        return None
    assert message.splitlines() == [message]
    assert message.endswith(".")
    return message


def pairs(folder: Path, suffix: str = ".tsv") -> dict:
    rows = [{"a": "one", "b": 'two "', "l": "yes"}, {"a": "three", "b": "four", "l": "perhaps"}]
    by = {".tsv": "\t", ".csv": ","}.get(suffix)
    lines = [by.join(rows[0]), *(by.join(row.values()) for row in rows)] if by else map(json.dumps, rows)
    (folder / f"pairs{suffix}").write_text("\n".join(lines).replace(' "', "" if suffix == ".csv" else ' "') + "\n")
    columns = {"first": "a", "second": "b", "label": "l"}
    return {"kind": "sentence_pair", "source": {"file": str(folder / f"pairs{suffix}")}, "columns": columns}


def test_a_model_that_is_as_asked_for_is_planned(tmp_path):
    assert told(config(tmp_path, {"folder": model(tmp_path / "model")}), tmp_path / "results") is None


@pytest.mark.parametrize(
    ("files", "edits", "words"),
    [
        ({"head": "classifier.weight"}, {}, "has no question-answering head: none of its weights is called qa_outputs"),
        ({}, {"conditions/one": {"9-9": "zero"}}, "has 2 layers of 4 heads, and conditions.one names 9-9"),
        ({}, {"conditions/one": {"3-1": "zero", "2-5": "zero", "1-1": "zero"}}, "conditions.one names 3-1, 2-5; name"),
        ({}, {"clustering": {"k": [2, 9]}}, "8 in all, which cannot be divided into 9 types"),
        ({"layers": 3}, {}, "has weights of 3 layers, and its config.json says 2"),
        ({"kind": np.int8}, {}, "weight as I8, which are not the numbers that a model computes with"),
    ],
)
def test_what_config_json_and_the_head_of_the_weights_tell_is_told(tmp_path, files, edits, words):
    given = config(tmp_path, {"folder": model(tmp_path / "model", **files)})
    for path, value in edits.items():
        given = edited(given, path, value)
    message = told(given, tmp_path / "results")
    assert re.match(r"config: ((conditions\.one|clustering\.k): )?models\.tiny: ", message)
    assert words in message


def test_what_several_models_lack_is_told_once_and_with_what_else_they_lack(tmp_path):
    given = config(tmp_path, {"folder": model(tmp_path / "model")})
    given["models"]["twin"] = {**given["models"]["tiny"], "source": {"folder": model(tmp_path / "twin")}}
    given["models"]["other"] = {**given["models"]["tiny"], "source": {"folder": model(tmp_path / "int", kind=np.int8)}}
    given = edited(edited(given, "conditions/one", {"9-9": "zero"}), "clustering", {"k": [9]})
    begun = [
        mistake.split(" has ")[0].split(" holds ")[0] for mistake in mistakes_in(told(given, tmp_path / "results"))
    ]
    assert begun == [
        f"config: clustering.k: models.tiny: {tmp_path / 'model'}",
        f"config: conditions.one: models.tiny: {tmp_path / 'model'}",
        f"config: models.other: {tmp_path / 'int'}",
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (TYPES[:-2], "layer 1, head 2 and 1 more heads are missing"),
        ([*TYPES, TYPES[0]], "line 10: layer 0, head 0 is already on line 2"),
        (
            [f"{layer},{head},dense" for layer in (1, 2) for head in (1, 2, 3, 4)],
            "line 6: there is no layer 2; the model has 2, counted from 0 to 1. It looks as if the file counts layers "
            "from 1: subtract 1.",
        ),
    ],
)
def test_a_partition_that_does_not_fit_the_model_is_told(tmp_path, rows, words):
    given = config(tmp_path, {"folder": model(tmp_path / "model")})
    (tmp_path / "mine.csv").write_text("\n".join(["layer,head,type", *rows]))
    message = told(given, tmp_path / "results")
    assert message.startswith(f"config: partitions.mine.file: {tmp_path / 'mine.csv'}")
    assert words in message


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
def test_labels_that_the_model_does_not_know_are_told(tmp_path, suffix):
    folder = model(tmp_path / "model", head="classifier.weight", **LABELLED)
    given = config(tmp_path, {"folder": folder}, pairs(tmp_path, suffix))
    message = told(given, tmp_path / "results")
    assert message.startswith(f"config: tasks.one.labels: models.tiny: {folder} knows the labels no, yes,")
    assert "and tasks.one has 'perhaps'; write" in message
    assert told(edited(given, "tasks/one/labels", {"perhaps": "No"}), tmp_path / "results") is None
    wrong = edited(given, "tasks/one/labels", {"perhaps": 2})
    assert "knows the labels no, yes, and tasks.one has 'perhaps' (for which tasks.one.labels says '2'); write" in told(
        wrong, tmp_path / "results"
    )
    row = json.dumps({"a": "five", "b": "six", "l": "maybe"}) if suffix == ".jsonl" else "five,six,maybe"
    file = Path(given["tasks"]["one"]["source"]["file"])
    with open(file, "a") as rows:
        rows.write(row.replace(",", "\t" if suffix == ".tsv" else ",") + "\n")
    both = told(given, tmp_path / "results")
    assert "tasks.one has 'maybe', 'perhaps'; write" in both
    assert 'labels: {"maybe": ..., "perhaps": ...}, or' in both
    assert told(edited(given, "tasks/one/labels", {"perhaps": "No", "maybe": "no"}), tmp_path / "results") is None
    file.write_text(file.read_text().replace("maybe", "yes").replace("perhaps", "NO"))
    assert told(given, tmp_path / "results") is None


ON_TEXT = {"kind": "text", "source": {"world": "text"}}


@pytest.mark.parametrize(
    ("files", "kind", "words"),
    [
        ({"head": "cls.predictions.bias"}, "text", None),
        ({"head": "pooler.weight"}, "text", "has no head for language: its weights hold no more than the bare model; "),
        ({"head": "qa_outputs.weight"}, "text", "has no head for language, but one for another task, qa_outputs; "),
        ({"head": "cls.predictions.bias"}, "multiple_choice", "is a bert model, for masked words, which predicts no "),
        ({"head": "lm_head.weight", "model_type": "llama"}, "multiple_choice", None),
        ({"head": "norm.weight", "model_type": "llama"}, "multiple_choice", None),
        (
            {"head": "norm.weight", "model_type": "llama", "tie_word_embeddings": False},
            "multiple_choice",
            "has no head for language: its weights hold no more than the bare model; name a causal language model, or ",
        ),
        ({"head": "score.weight", "model_type": "llama"}, "multiple_choice", "but one for another task, score; "),
    ],
)
def test_a_model_without_the_head_that_a_language_model_needs_is_told(tmp_path, files, kind, words):
    (tmp_path / "exam.jsonl").write_text("{}")
    task = ON_TEXT if kind == "text" else {"kind": kind, "source": {"file": str(tmp_path / "exam.jsonl")}}
    given = config(tmp_path, {"folder": model(tmp_path / "model", **files)}, task)
    message = told(given, tmp_path / "results")
    assert (message is None) == (words is None)
    if words is not None:
        assert message.startswith(f"config: models.tiny: {tmp_path / 'model'} ")
        assert words in message
        assert message.endswith("language model, or leave models.tiny.evaluate out.")


def test_a_model_of_the_hub_without_a_head_for_language_is_told_when_it_has_been_fetched(tmp_path):
    given = config(tmp_path, {"hub": "some/model"}, ON_TEXT)
    assert told(given, tmp_path / "results") is None
    demands = Demands(**json.loads(demands_as_text(Plan(read_config(given)), "tiny")))
    outline = outline_of("models.tiny", model(tmp_path / "snapshot", head="classifier.weight"))
    with pytest.raises(InputError, match=r"snapshot has no head for language, .*, or leave models\.tiny\.evaluate out"):
        check_demands("models.tiny", outline, demands)


def test_a_model_that_the_workflow_makes_has_the_heads_of_its_base_and_answers_what_it_learns(tmp_path):
    base = {"source": {"folder": model(tmp_path / "model", head="pooler.weight")}, "tasks": ["one"]}
    given = config(tmp_path, {"finetuned": {"base": "base", "task": "one"}})
    given["models"]["base"] = base
    given["tasks"]["one"]["source"]["training_file"] = str(tmp_path / "squad.json")
    assert told(given, tmp_path / "results") is None
    assert "models.tiny: " in told(edited(given, "conditions/one", {"9-9": "zero"}), tmp_path / "results")
    given["tasks"]["two"] = pairs(tmp_path)
    other = edited(edited(given, "models/tiny/tasks", ["one", "two"]), "models/tiny/evaluate", "two")
    assert "is fine-tuned on one (question_answering) and cannot answer two" in told(other, tmp_path / "results")


def fetched(results: Path, given: dict, folder: str) -> None:
    """As if the model had been fetched into a folder."""
    spec = fetch_model(Plan(read_config(given)), "tiny")
    write_json(results / "sources/models/tiny.json", {"folder": folder, "weights": {"model.safetensors": "1" * 64}})
    rest = {"rule": "fetch_model", "wildcards": {}, "code": "", "sources": {}, "inputs": {}, "sha256": ""}
    rest |= {"packages": {}, "python": "", "threads": 1}
    write_json(results / "provenance/sources/models/tiny.json.json", {"spec": spec, **rest})


def test_a_model_of_the_hub_is_checked_when_it_has_been_fetched(tmp_path):
    given = config(tmp_path, {"hub": "some/model"})
    pinned = edited(given, "models/tiny/source/sha256", "0" * 64)
    assert told(pinned, tmp_path / "results") is None
    fetched(tmp_path / "results", given, model(tmp_path / "snapshot", head="classifier.weight"))
    assert "models.tiny.source.sha256: it is not that of " in told(pinned, tmp_path / "results")
    assert "has no question-answering head" in told(given, tmp_path / "results")
    # From elsewhere, so that it will be fetched again.
    assert told(edited(pinned, "models/tiny/source/hub", "other/model"), tmp_path / "results") is None


def test_the_job_that_fetches_a_model_gets_what_is_asked_of_it(tmp_path):
    given = edited(config(tmp_path, {"hub": "some/model"}), "models/tiny/source/sha256", "0" * 64)
    demands = Demands(**json.loads(demands_as_text(Plan(read_config(given)), "tiny")))
    assert (demands.sha256, demands.head, demands.clusters) == ("0" * 64, "question_answering", 4)
    assert (demands.named, demands.partitions) == ({"one": [[1, 3]]}, {"mine": str(tmp_path / "mine.csv")})
    outline = outline_of("models.tiny", model(tmp_path / "model", head="classifier.weight"))
    with pytest.raises(InputError, match=r"models.tiny: .* has no question-answering head"):
        check_demands("models.tiny", outline, demands)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_that_answers_questions_is_seen_to_do_so(family, tmp_path):
    tiny, _ = tiny_family(family)
    tiny.save_pretrained(tmp_path / "answers")
    outline = outline_of("models.tiny", tmp_path / "answers")
    # Which layers have heads, the files of these leave to Transformers.
    assert (outline.layers, outline.heads) == (None if family in RULED else 2, 4)
    assert layers_in(outline.tensors) <= tiny.config.num_hidden_layers
    check_outline("models.tiny", outline)
    if "QuestionAnswering" in type(tiny).__name__:
        check_demands("models.tiny", outline, Demands(head="question_answering"))


@pytest.mark.parametrize(
    ("said", "layers"),
    [
        ({"num_hidden_layers": 3}, (3, 3)),
        ({"num_hidden_layers": 3, "layer_types": ["sliding_attention", "full_attention", "conv"]}, (3, 2)),
        ({"layers_block_type": ["mamba", "attention", "moe", "mlp"]}, (4, 1)),
        ({"num_hidden_layers": 3, "attn_layer_period": 2}, (3, None)),
        ({"num_hidden_layers": 3, "attn_layer_indices": None}, (3, 3)),
        ({"num_hidden_layers": 3, "layer_types": {}}, (3, None)),
        ({}, (None, None)),
    ],
)
def test_only_layers_with_heads_count(said, layers):
    assert layers_said(said) == layers


def test_weights_of_layers_without_heads_are_not_too_many(tmp_path):
    kinds = ["linear_attention", "full_attention", "full_attention"]
    hybrid = {"num_hidden_layers": 3, "layer_types": kinds}
    check_outline("models.tiny", outline_of("models.tiny", model(tmp_path / "three", layers=3, **hybrid)))
    with pytest.raises(InputError, match=r"has weights of 4 layers, and its config\.json says 3;"):
        check_outline("models.tiny", outline_of("models.tiny", model(tmp_path / "four", layers=4, **hybrid)))


@pytest.mark.parametrize(
    "family", ["bert", "roberta", "distilbert", "albert", "electra", "gpt2", "llama", "modernbert"]
)
def test_every_classifier_is_seen_to_be_one(family, tmp_path):
    torch.manual_seed(0)
    tiny, _ = tiny_family(family)
    AutoModelForSequenceClassification.from_config(tiny.config).save_pretrained(tmp_path / "classifies")
    outline = outline_of("models.tiny", tmp_path / "classifies")
    check_demands("models.tiny", outline, Demands(head="sequence_classification", labels=("one", {"0": "0", "1": "1"})))
    with pytest.raises(InputError, match="knows the labels 0, 1, and one has '2'"):
        check_demands("models.tiny", outline, Demands(labels=("one", {"2": "2"})))
