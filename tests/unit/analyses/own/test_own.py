"""Analyses of a user's own: files as somebody writes them who has read the tutorial, beside dense computations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headtypes
from headtypes.analyses.own.analysis import class_in, own_analysis, read_values
from headtypes.analyses.own.figure import values_figure
from headtypes.analyses.own.measure import HeadAnalysis, load_analysis, measure_heads
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.planted import typed
from tests.support.reading import WAYS, cut_into_blocks
from tests.support.records import SAMPLES, recorded, shortened_samples

HOW = {"task": "squad", "kind": "question_answering", "precision": "float32", "batch_tokens": 512}
BEGIN = "import torch\n\nfrom headtypes import HeadAnalysis\n\n\n"
FILES = {
    "reach": """class Reach(HeadAnalysis):
    unit = "tokens"

    def add(self, block):
        return (block.weights * abs(block.queries[:, None] - block.keys)).sum(-1)
""",
    "first": """class ToTheFirst(HeadAnalysis):
    label = "to the first token"
    unit = "%"

    def add(self, block):
        return 100 * block.weights[:, :, 0]
""",
    "same": """class SameToken(HeadAnalysis):
    def add(self, block):
        same = (block.ids[block.queries][:, None] == block.ids) & (block.queries[:, None] != block.keys)
        share = (block.weights * same).sum(-1)
        share[:, ~same.any(-1)] = float("nan")
        return share
""",
    "spread": """class Spread(HeadAnalysis):
    start = "the"

    def add(self, block):
        number = torch.exp(torch.special.entr(block.weights).sum(-1))
        begins = torch.tensor([block.tokens[query] == self.start for query in block.queries])
        return torch.where(begins, number, torch.nan)
""",
}


def dense(name: str, attention: np.ndarray, ids: np.ndarray, tokens: list[str]) -> np.ndarray:
    """The numbers of a sample, [layer, head, query], of the whole attention [layer, head, query, key]."""
    index = np.arange(len(ids))
    if name == "reach":
        return (attention * abs(index[:, None] - index)).sum(-1)
    if name == "first":
        return 100 * attention[..., 0]
    if name == "same":
        same = (ids[:, None] == ids) & ~np.eye(len(ids), dtype=bool)
        return np.where(same.any(-1), (attention * same).sum(-1), np.nan)
    number = np.exp(-(attention * np.log(np.maximum(attention, 1e-300))).sum(-1))
    return np.where(np.array(tokens) == "the", number, np.nan)


def written(folder: Path, text: str, name: str = "mine") -> Path:
    file = folder / f"{name}.py"
    file.write_text(BEGIN + text)
    return file


@pytest.mark.parametrize(("family", "way"), [*(("bert", way) for way in WAYS), ("gpt2", "")])
def test_an_analysis_in_one_file_is_what_the_whole_attention_gives(family, way, tmp_path, monkeypatch):
    model, tokenizer = tiny_bert() if family == "bert" else tiny_language_model("gpt2")
    cut_into_blocks(monkeypatch, way)
    analyses = [load_analysis(written(tmp_path, text, name), {}) for name, text in FILES.items()]
    pairs = [(sample.first, sample.second) for sample in SAMPLES]
    _, *tables = headtypes.read_heads(model, tokenizer, pairs, kind="sentence_pair", analyses=analyses)
    for name, table in zip(FILES, tables, strict=True):
        expected = []
        for pair in pairs:
            encoded = tokenizer(*pair)
            ids, types = encoded["input_ids"], encoded.get("token_type_ids")
            numbers = dense(name, plain_attentions(model, ids, types), np.array(ids), encoded.tokens())
            if not np.isnan(numbers).all():
                expected.append(np.nanmean(numbers, -1))
        assert set(table["samples"]) == {len(expected)}
        means = np.mean(expected, 0).ravel() if expected else np.nan
        np.testing.assert_allclose(table["value"], means, rtol=1e-4)
        assert table["low"].isna().all()  # So few samples say nothing of others.


def test_a_table_is_shown_and_drawn_and_python_gives_the_same(tmp_path):
    model, tokenizer = tiny_bert()
    analysis = load_analysis(written(tmp_path, FILES["first"]), {})
    samples = shortened_samples(4)
    table = measure_heads(analysis, samples, recorded(model, tokenizer, tmp_path / "model"), **HOW)
    write_csv(tmp_path / "first.csv", table)
    read = read_values(tmp_path / "first.csv")
    assert (read["low"] < read["value"]).all()
    assert (read["value"] < read["high"]).all()
    mine = own_analysis("first")
    (column,) = mine.per_head("squad", tmp_path / "first.csv")
    assert (column.label, column.unit) == ("to the first token on squad", "%")
    np.testing.assert_allclose(column.values, table["value"], rtol=1e-6)
    mean, smallest, _ = mine.per_set("squad", tmp_path / "first.csv", {}, 0)
    assert mean[:4] == ("first", "squad", "to the first token (%)", "mean")
    assert smallest.values(np.ones((1, len(table)), bool))[0] == pytest.approx(table["value"].min())
    texts = [(sample.first, sample.second) for sample in samples]
    how = {"kind": "question_answering", "batch_tokens": 512}
    features, found = headtypes.read_heads(model, tokenizer, texts, analyses=[type(analysis)], **how)
    pd.testing.assert_frame_equal(found, table, rtol=1e-5)
    assert features.distance.shape[0] == len(texts)
    types = np.full((3, 5), "dense", dtype=object)
    types[1] = "vertical"
    axes = values_figure(read, typed(types)).axes[0]
    drawn = {each.get_gid(): each.get_offsets()[:, 1] for each in axes.collections if each.get_gid()}
    np.testing.assert_allclose(drawn["vertical"], read.loc[read["layer"] == 1, "value"])
    assert axes.get_ylabel() == "to the first token (%)"


def test_parameters_replace_attributes_and_one_that_is_none_is_refused(tmp_path):
    file = written(tmp_path, FILES["spread"])
    assert load_analysis(file, {"start": "a"}).start == "a"
    with pytest.raises(InputError, match="Spread has no parameter begin"):
        load_analysis(file, {"begin": "a"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class Mine: pass\n", "no class derives from HeadAnalysis, and exactly one has to"),
        (FILES["reach"] + FILES["first"], "the classes Reach and ToTheFirst derive from HeadAnalysis"),
        ("class Mine(HeadAnalysis)\n", r"mine\.py cannot be read as Python: expected ':'"),
    ],
)
def test_a_file_without_one_analysis_is_refused(text, told, tmp_path):
    with pytest.raises(InputError, match=told):
        class_in(written(tmp_path, text))


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (
            lambda block: block.weights.sum(),
            r"Mine\.add gave numbers \[\], and has to give one for each head .*, \[5, ",
        ),
        (lambda block: None, r"Mine\.add gave a NoneType, and has to give numbers, one for each head and query"),
        (lambda block: block.weights[:, :, 0] / 0, r"Mine\.add gave an infinite number; give NaN"),
    ],
)
def test_what_is_no_number_for_each_head_and_query_is_refused(made, told):
    class Mine(HeadAnalysis):
        def add(self, block):
            return made(block)

    with pytest.raises(InputError, match=told):
        headtypes.read_heads(*tiny_bert(), ["the cat sat"], analyses=[Mine])


def test_weights_that_are_damaged_are_no_missing_values():
    class Mine(HeadAnalysis):
        def add(self, block):
            return block.weights[:, :, 0]

    model, tokenizer = tiny_bert()
    model.bert.encoder.layer[1].attention.self.query.weight.data[:] = float("nan")
    with pytest.raises(InputError, match="of head 2-1"):
        headtypes.read_heads(model, tokenizer, ["the cat sat"], analyses=[Mine])
    with pytest.raises(InputError, match="analyses should be subclasses of HeadAnalysis; found a int"):
        headtypes.read_heads(model, tokenizer, ["the cat sat"], analyses=[3])
