"""Entries keep the order of the files that name them, and no key stands in a file twice."""

import pytest

from headtypes.base.errors import InputError
from headtypes.config.files import in_order_of_files, read_keys


@pytest.fixture
def file(tmp_path):
    def written(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_an_overlay_that_names_an_entry_does_not_move_it(file):
    base = file("config.yaml", "models:\n  a: {tasks: [x], parent: b}\n  b: {tasks: [x]}\nseed: 1\n")
    overlay = file("mine.yaml", "seed: 2\nmodels:\n  c: {tasks: [y]}\n  b: {parent: null, tasks: [y]}\n")
    # As Snakemake merges them.
    merged = {
        "seed": 2,
        "models": {
            "c": {"tasks": ["y"]},
            "b": {"parent": None, "tasks": ["y"]},
            "a": {"tasks": ["x"], "parent": "b"},
        },
    }
    ordered = in_order_of_files(merged, [base, overlay])
    assert ordered == merged
    assert list(ordered) == ["models", "seed"]
    assert list(ordered["models"]) == ["a", "b", "c"]
    assert list(ordered["models"]["b"]) == ["tasks", "parent"]


def test_what_stands_in_no_file_comes_last(file):
    ordered = in_order_of_files({"x": 1, "b": {"z": 1, "y": 2}}, [file("config.yaml", "b: {y: 0}\na: 3\n")])
    assert list(ordered) == ["b", "x"]
    assert list(ordered["b"]) == ["y", "z"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed: 1\nseed: 2\n", "line 2: the key seed stands there twice, first in line 1."),
        ("models:\n  a: {}\n  b: {}\n  a: {x: 1}\n", "line 4: the key models.a stands there twice, first in line 2."),
        ('{"a": {"b": 1,\n"b": 2}}', "line 2: the key a.b stands there twice, first in line 1."),
    ],
)
def test_a_key_that_stands_twice_is_refused(file, text, sentence):
    path = file("mine.yaml", text)
    with pytest.raises(InputError) as caught:
        read_keys(path)
    assert str(caught.value) == f"{path}, {sentence}"


def test_a_file_that_holds_no_mapping_has_no_keys(file):
    assert read_keys(file("a.yaml", "")) == {}
    assert read_keys(file("b.yaml", "- 1\n")) == {}
    assert read_keys(file("c.yaml", "a: [{b: 1}]\n")) == {"a": {}}
