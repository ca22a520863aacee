"""Nothing that a model or the data bring is run, and no name of the configuration leaves the folder of results."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from headtypes.core.errors import InputError
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import load_model
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from tests.support.configs import full_config
from tests.support.models import saved, tiny_bert
from tests.support.places import ROOT
from tests.support.refusals import refusal

NAMES = ["../x", "/x", "", "..", "a/b", ".hidden", "x" * 81, "a\nb", "$HOME", "a b"]


def test_no_rule_has_a_line_of_shell():
    lines = r"^\s+(shell|run|wrapper|notebook|cwl|shadow)\s*:|\b(shell\s*\(|os\.system|subprocess|eval\(|exec\()"
    for file in (ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")):
        assert not re.findall(lines, file.read_text(), re.MULTILINE), file


@pytest.fixture
def folder(tmp_path) -> Path:
    return saved(*tiny_bert(layers=1, heads=2, head_size=3), tmp_path / "model")


@pytest.mark.parametrize("beside", [None, "model-of-another.safetensors"])
def test_pickled_weights_are_not_opened(folder, beside, monkeypatch):
    """Not even where another file makes the folder look as if it had safetensors."""
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("a pickle was opened"))
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04cos\nsystem\n")
    (folder / "model.safetensors").rename(folder / (beside or "weights.safetensors"))
    with pytest.raises(InputError, match=r"holds no model.safetensors.*set models.tiny.source.pickle: true"):
        load_model(fetch_model("tiny", {"folder": str(folder)}), "float32")


def test_pickled_weights_are_opened_where_the_configuration_says_so(folder, tmp_path):
    """And then without what a pickle may run; where there are safetensors, those are taken."""
    allowed = {"folder": str(folder), "pickle": True}
    safe = fetch_model("tiny", allowed)
    assert not safe.pickle
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    record = fetch_model("tiny", allowed)
    assert record.pickle
    assert list(record.weights) == ["pytorch_model.bin"]
    assert record.parameters == safe.parameters
    loaded = load_model(record, "float32", head="question_answering").state_dict()
    assert all(torch.equal(loaded[name].cpu(), weights[name]) for name in weights)
    torch.save({**weights, "own": Evil(tmp_path / "ran")}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is damaged"):
        fetch_model("tiny", allowed)
    assert not (tmp_path / "ran").exists()


class Evil:
    def __init__(self, made: Path):
        self.made = made

    def __reduce__(self):
        return Path.touch, (self.made,)


@pytest.mark.parametrize("kind", ["bert", "a_kind_of_its_own"])
def test_code_that_a_model_brings_is_not_run(folder, kind, tmp_path, monkeypatch):
    """Nor is anyone asked whether it may, which would stop a job that has a terminal."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked on the terminal"))
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    own = {"AutoConfig": "own.Own", "AutoModel": "own.Own", "AutoModelForQuestionAnswering": "own.Own"}
    for name, more in (
        ("config.json", {"auto_map": own, "model_type": kind}),
        ("tokenizer_config.json", {"auto_map": {**own, "AutoTokenizer": ["own.Own", "own.Own"]}}),
    ):
        (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()) | more))

    def load() -> None:
        record = fetch_model("tiny", {"folder": str(folder)})
        check_model(record)
        load_tokenizer(record)
        load_model(record, "float32", head="question_answering")

    if kind == "bert":  # Which Transformers has code for.
        load()
    else:
        with pytest.raises(InputError, match=re.escape(str(folder))):
            load()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("registry", ["models", "tasks", "conditions", "partitions", "readings"])
def test_no_name_of_the_configuration_leaves_the_results(registry, name, tmp_path):
    config = full_config(tmp_path)
    config[registry][name] = next(iter(config[registry].values()))
    assert refusal(lambda: Plan(read_config(config))).startswith(f"config: {registry}")


@pytest.mark.parametrize("name", ["../x", "a/b", ""])
def test_no_type_of_a_partition_leaves_the_results(name, tmp_path):
    config = full_config(tmp_path)
    shutil.copy(tmp_path / "other.csv", tmp_path / "mine.csv")
    (tmp_path / "mine.csv").write_bytes(f'layer,head,type\n0,0,"{name}"\n0,1,far\n'.encode())
    with pytest.raises(InputError, match=r"mine\.csv"):
        Plan(read_config(config))
