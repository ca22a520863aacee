"""The harness's model type: its log-likelihoods are those of the model that `ablated` gives."""

import json

import pytest
import torch

pytest.importorskip("lm_eval", reason="lm-eval is not installed (docs/run/python.md)")

from lm_eval import simple_evaluate
from lm_eval.api.registry import get_model
from lm_eval.tasks import TaskManager

from headtypes.analyses.ablation.results import write_head_outputs
from headtypes.analyses.types.partitions import write_partition
from headtypes.api.ablation import ablated
from headtypes.api.harness import AblatedLM
from headtypes.core.errors import InputError
from tests.support.dense import head_outputs_for
from tests.support.models import tiny_language_model
from tests.support.planted import typed

# The answers have one token and several; two texts of a batch have different lengths.
ASKED = [("the cat sat by the", "river"), ("a dog ran under", "the old house"), ("it was", "a young dog by the river")]
COLUMNS = {"cluster": 0, "silhouette": 0.0, "near": 0.1, "special": 0.1, "far": 0.1}


@pytest.fixture
def folder(tmp_path):
    """A model, a task, and the files of a partition and of mean head outputs."""
    model, tokenizer = tiny_language_model("llama")
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    rows = [json.dumps({"asked": asked, "choices": [answer, "cat"]}) for asked, answer in ASKED]
    (tmp_path / "asked.jsonl").write_text("\n".join(rows))
    (tmp_path / "asked.yaml").write_text(
        "task: asked\ndataset_path: json\noutput_type: multiple_choice\ntest_split: test\n"
        f"dataset_kwargs: {{data_files: {{test: {tmp_path / 'asked.jsonl'}}}}}\n"
        'doc_to_text: "{{asked}}"\ndoc_to_choice: "{{choices}}"\ndoc_to_target: 0\n'
    )
    types = [["dense", "diagonal", "diagonal", "dense"]] * model.config.num_hidden_layers
    write_partition(tmp_path / "types.csv", typed(types, **COLUMNS))
    write_head_outputs(tmp_path / "means.h5", head_outputs_for(model), {})
    return tmp_path


def likelihoods(folder, **model_args) -> list[float]:
    """The log-likelihoods of the answers, by the harness."""
    found = simple_evaluate(
        model="headtypes",
        model_args={"pretrained": str(folder / "model"), **model_args},
        tasks=["asked"],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        device="cpu",
        batch_size=2,
        bootstrap_iters=0,
    )
    samples = sorted(found["samples"]["asked"], key=lambda sample: sample["doc_id"])
    return [float(sample["filtered_resps"][0][0]) for sample in samples]


def expected(model, tokenizer) -> list[float]:
    """The same, token by token."""
    sums = []
    for asked, answer in ASKED:
        begin, ids = (tokenizer(text, return_tensors="pt")["input_ids"] for text in (asked, f"{asked} {answer}"))
        with torch.inference_mode():
            of_next = model(ids).logits[0, :-1].log_softmax(-1)
        places = range(begin.shape[1], ids.shape[1])
        sums.append(sum(float(of_next[place - 1, ids[0, place]]) for place in places))
    return sums


def test_the_likelihoods_are_those_of_the_ablated_model(folder):
    model, tokenizer = tiny_language_model("llama")
    means = head_outputs_for(model)
    plain = expected(model, tokenizer)
    assert likelihoods(folder, ablate={}) == pytest.approx(plain, abs=1e-4)
    of_files = {"partition": str(folder / "types.csv"), "head_outputs": str(folder / "means.h5")}
    by_head = {"1-1": "dense", "1-4": "dense", "2-1": "dense", "2-4": "dense"}
    for ablate, same, more in (
        ({"1-1": "zero", "2-3": "uniform"}, None, {}),
        ({"dense": "mean", "1-2": "zero"}, dict.fromkeys(by_head, "mean") | {"1-2": "zero"}, of_files),
    ):
        with ablated(model, same or ablate, head_outputs=means):
            without = expected(model, tokenizer)
        assert likelihoods(folder, ablate=ablate, **more) == pytest.approx(without, abs=1e-4)
        assert without != pytest.approx(plain, abs=1e-2)


def test_a_model_that_is_loaded_already_is_ablated_as_long_as_the_harness_has_it():
    model, tokenizer = tiny_language_model("llama")
    harness = get_model("headtypes")(pretrained=model, tokenizer=tokenizer, ablate={"1-1": "zero"})
    with pytest.raises(InputError, match="are ablated already"), ablated(model, {"1-2": "zero"}):
        pass
    del harness
    with ablated(model, {"1-2": "zero"}):
        pass


def test_what_cannot_be_done_is_refused_before_anything_is_evaluated():
    model, tokenizer = tiny_language_model("llama")
    with pytest.raises(InputError, match=r'as in {"1-1": "zero"}; found \'1-1:zero\''):
        AblatedLM(model, "1-1:zero", tokenizer=tokenizer)
    with pytest.raises(InputError, match="There is no head 9-1"):
        AblatedLM(model, {"9-1": "zero"}, tokenizer=tokenizer)
