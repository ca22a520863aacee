"""Kinds of task: what they say of themselves fits the rest, and a further one needs a module and a line."""

import json
import sys
from dataclasses import dataclass, fields

import pytest

from headtypes.analyses.ablation.evaluation import Settings
from headtypes.attention.operations import Reading
from headtypes.data import tasks
from headtypes.data.encoding import encode_samples, sample_inputs
from headtypes.data.fetching import fetch_task
from headtypes.data.tasks import KINDS, LANGUAGE_MODEL, MEASURES, Kind, Sample, read_rows, write_records
from headtypes.models.loading import HEADS
from headtypes.planning import config
from tests.support.tiny import bert_tokenizer


@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_says_of_the_configuration_is_there(name):
    kind = KINDS[name]
    assert kind.name == name
    assert set(kind.window_keys) | set(kind.answer_keys) <= set(config.WindowsSection.model_fields)
    assert set(kind.answer_keys) <= {field.name for field in fields(Settings)}
    assert set(kind.keys) <= set(config.Task.model_fields)
    assert set(kind.without_reading) <= {field.name for field in fields(Reading)}
    assert set(kind.source_keys) <= set(config.TaskSource.model_fields)
    assert kind.head in {*HEADS, LANGUAGE_MODEL}
    assert (name in MEASURES) == (kind.head is not None)


@dataclass(frozen=True)
class Note:
    id: str
    paragraphs: tuple[str, ...]


class Notes(Kind):
    name, row, form = "notes", Note, "json"

    def rows_of_file(self, data, where, key, columns):
        return [Note(name, tuple(paragraphs)) for name, paragraphs in data.items()]

    def draw_samples(self, rows, draw):
        paragraphs = [(f"{row.id}-{place}", text) for row in rows for place, text in enumerate(row.paragraphs)]
        return [Sample(*paragraphs[place], None) for place in draw(len(paragraphs))]


def test_a_further_kind_is_read_drawn_and_encoded_by_its_module_and_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "_NAMES", ["notes"])
    monkeypatch.setitem(sys.modules, tasks.module_of("notes"), sys.modules[__name__])
    (tmp_path / "notes.json").write_text(json.dumps({"a": ["The cat sat.", "It ran."], "b": ["A dog."]}))
    rows, _ = fetch_task("mine", "notes", {"file": str(tmp_path / "notes.json")}, None)
    write_records(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl", "notes") == rows
    samples = sample_inputs(rows, kind="notes", samples=2, seed=0)
    assert {sample.id for sample in samples} < {"a-0", "a-1", "b-0"}
    assert len(samples) == 2
    encoded = encode_samples(samples, bert_tokenizer(), "notes", 5)
    assert max(encoded.lengths) == 5
