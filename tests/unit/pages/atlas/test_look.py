"""A sentence of one's own: the model's attention on it, its own 21 numbers, and what the results hold of the heads."""

import base64
import gzip
import importlib
import json
import re
import signal
import subprocess
import urllib.request

import numpy as np
import pytest
import yaml

from headtypes.analyses.distances.columns import head_features
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from headtypes.pages.atlas.look import look_at
from tests.support.atlases import write_types
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.places import ROOT
from tests.support.reading import distance_features
from tests.support.records import recorded
from tests.support.warm import python

PAIR = Sample("your text", "The cat sat.", "It ran by the river.")


def test_the_page_holds_the_models_attention_on_the_text_and_its_numbers(tmp_path):
    model, tokenizer = tiny_bert()
    data = look_at(recorded(model, tokenizer, tmp_path / "model"), PAIR, {}, precision="float32", distance_bins=16)
    encoded = encode_samples([PAIR], tokenizer, "sentence_pair", 64)
    expected = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])
    (sample,) = data["samples"]
    assert (len(sample["tokens"]), sample["cut"]) == (encoded.lengths[0], False)
    numbers, rows = gzip.decompress(base64.b64decode(data["packed"][0])), expected[..., 0].size
    scale = np.frombuffer(numbers, "<u2", rows).reshape(*expected.shape[:3], 1) / 65535
    levels = np.frombuffer(numbers, np.uint8, offset=2 * rows).reshape(expected.shape) / 255
    np.testing.assert_allclose(scale * levels, expected, atol=1 / 500)
    of_text = head_features(distance_features(model, encoded)[0], 16).reshape(-1, 21)
    np.testing.assert_allclose(data["features"]["values"], of_text, atol=1e-3)
    assert data["columns"] == []


@pytest.mark.parametrize("first_token", [True, False])
def test_the_bucket_of_the_first_token_is_called_so(tmp_path, first_token):
    record = recorded(*tiny_language_model("gpt2"), tmp_path / "model")
    settings = {"precision": "float32", "distance_bins": 4, "first_token": first_token}
    features = look_at(record, Sample("your text", "the cat sat by it", None), {}, **settings)["features"]
    assert features["labels"][4:] == ["self", "first" if first_token else "cls", "sep", "comma", "period"]
    assert all((values[5] > 0) == first_token for values in features["values"])
    np.testing.assert_allclose(np.sum(features["values"], axis=1), 1, atol=1e-2)


def test_a_long_text_is_cut_and_says_so(tmp_path):
    record = recorded(*tiny_bert(), tmp_path / "model")
    data = look_at(record, Sample("your text", "the cat " * 90, None), {}, precision="float32", distance_bins=16)
    assert data["samples"][0]["cut"]
    assert len(data["samples"][0]["tokens"]) == record.max_length


def look(folder, *arguments: str) -> subprocess.CompletedProcess:
    command = [python(), str(ROOT / "commands/look.py"), "--configfile", str(folder / "mine.yaml")]
    return subprocess.run(
        [*command, "--directory", str(folder), *arguments], cwd=folder, capture_output=True, text=True
    )


@pytest.fixture
def refused(monkeypatch, tmp_path):
    """What the command, called in this process, refuses arguments with."""
    monkeypatch.syspath_prepend(ROOT / "commands")
    monkeypatch.chdir(tmp_path)
    main = importlib.import_module("look").main

    def ask(folder, *arguments: str) -> str:
        with pytest.raises(InputError) as told:
            main(["--configfile", str(folder / "mine.yaml"), "--directory", str(folder), *arguments])
        return str(told.value)

    return ask


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A working directory whose configuration has a tiny model, with types and without anything else."""
    folder = tmp_path_factory.mktemp("look")
    record = recorded(*tiny_bert(), folder / "model")
    models = {"tiny": {"source": {"folder": str(folder / "model")}, "tasks": ["qa"]}}
    (folder / "mine.yaml").write_text(yaml.safe_dump({"models": models, "select": {"models": ["tiny", "minilm-qa"]}}))
    types = folder / "results/partitions/tiny/qa-kmeans-k4.csv"
    types.parent.mkdir(parents=True)
    write_types(types, record.layers, record.heads)
    return folder


def test_the_command_writes_the_page_with_the_types_that_there_are(place):
    run = look(place, "--model", "tiny", "the cat </script>", "it ran")
    assert run.returncode == 0, run.stderr
    # As it is found from where the command was given.
    assert run.stdout.strip() == str(place / "results/look/tiny.html")
    page = (place / "results/look/tiny.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["title"] == "A text of yours in tiny"
    assert [column["key"] for column in data["columns"]] == ["type.qa-kmeans-k4"]
    # The page's data, its maps, what turns them into norms, and its script.
    assert page.count("</script>") == 4


def test_what_the_command_refuses_is_one_line(place):
    run = look(place, "--model", "nobody", "the cat")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("--model: there is no nobody; the configuration has")
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--model", "minilm-qa", "the cat"], "minilm-qa is made by the workflow"),
        (["the cat", "half \udcff"], "the text is not valid Unicode text"),
        ([" \n"], "The text is empty; write one."),
        (["the cat", ""], "The text is empty; write one."),
        (["--serve", ""], "The text is empty; write one."),
        ([], "The text is missing; write one, or --serve."),
        (["--output", "results", "the cat"], "--output: results is a folder; name a file in it."),
    ],
)
def test_a_model_a_text_or_an_output_that_cannot_be_is_told(place, refused, monkeypatch, arguments, why):
    monkeypatch.chdir(place)
    told = refused(place, "--model", "tiny", *arguments)
    assert told.startswith(why)
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (b"models: [", "cannot be read as YAML"),
        (b"layer,head,type", "holds no keys, but 'layer,head,type'"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, refused, config, why):
    (tmp_path / "mine.yaml").write_bytes(config)
    told = refused(tmp_path, "--model", "tiny", "the cat")
    assert told.startswith(f"--configfile: {tmp_path / 'mine.yaml'} {why}")
    assert len(told.splitlines()) == 1


def test_weights_that_the_configuration_does_not_expect_are_refused(place, tmp_path, refused):
    other = {"models": {"tiny": {"source": {"folder": str(place / "model"), "sha256": "0" * 64}, "tasks": ["qa"]}}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(other))
    assert "as models.tiny.source.sha256 says" in refused(tmp_path, "--model", "tiny", "the cat")
    assert not (tmp_path / "results/look").exists()


def test_weights_that_are_damaged_are_refused(tmp_path):
    model, tokenizer = tiny_bert()
    model.bert.encoder.layer[0].attention.self.query.weight.data.fill_(np.nan)
    record = recorded(model, tokenizer, tmp_path / "model")
    with pytest.raises(InputError, match="tiny on your text: the attention of head 1-1 is not finite"):
        look_at(record, PAIR, {}, precision="float32", distance_bins=16)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_interrupted(place, end):
    command = [python(), str(ROOT / "commands/look.py"), "--configfile", str(place / "mine.yaml")]
    command += ["--directory", str(place), "--model", "tiny", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        try:
            address = served.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address), served.stderr.read()
            with urllib.request.urlopen(address, timeout=20) as reply:
                page = reply.read().decode()
            data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
            assert data["live"]["first"] == "Who sat on the mat?"
            assert [column["key"] for column in data["columns"]] == ["type.qa-kmeans-k4"]
            taken = address.split(":")[2].split("/")[0]
            other = look(place, "--model", "tiny", "--serve", "--port", taken)
            assert (other.returncode, other.stderr.startswith(f"--port: {taken} cannot be used")) == (1, True)
            served.send_signal(end)
            assert served.wait(20) == 0
        finally:
            served.kill()
