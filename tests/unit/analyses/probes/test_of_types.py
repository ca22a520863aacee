"""A probe of a type reads the heads of that type and no others, and random heads are drawn within layers."""

import numpy as np
import pytest
import torch

from headtypes.analyses.probes import of_types
from headtypes.analyses.probes.of_types import train_type_probes
from headtypes.analyses.probes.parsers import Attention, AttentionOfSome, ProbedSentence, Trainer, generators_of
from headtypes.analyses.probes.scores import read_type_probes, score_type_probes
from headtypes.core.errors import InputError
from tests.support.planted import typed
from tests.unit.analyses.words.test_models import HOW, PROBES, SENTENCES, fetched

HEADS, STARTS = 4, 2


def test_heads_outside_a_set_are_as_if_they_were_not_there():
    maps = torch.rand(2 * HEADS, 7, 7, generator=torch.Generator().manual_seed(0))
    heads = torch.tensor([2, 0, 2, 3, 3])
    read = torch.tensor([[True, False, False, True] * 2, [False, True, False, False] * 2])
    together = Trainer(AttentionOfSome(read, generators_of(0, "a", STARTS), True), 0.01, "first")
    for start, own in enumerate(read):
        alone = Trainer(Attention(int(own.sum()), [torch.Generator()], True), 0.01, "first")
        few = ProbedSentence(maps[own], torch.empty(0, 0))
        with torch.no_grad():
            # The same weights, by the range that Glorot gives to as many maps.
            alone.probe.weights[0] = together.probe.weights[start, own]
            alone.probe.special[0] = together.probe.special[start]
        assert together.probe.weights[start].abs().max() <= (3 / own.sum()).sqrt()
        torch.testing.assert_close(
            together.scores(ProbedSentence(maps, torch.empty(0, 0)))[start], alone.scores(few)[0]
        )
    trained = Trainer(AttentionOfSome(read, generators_of(0, "a", STARTS), True), 0.01, "first")
    alone = Trainer(AttentionOfSome(read[:1], generators_of(0, "a", 1), True), 0.01, "first")
    for _ in range(5):
        for trainer in (trained, alone):
            trainer.train(ProbedSentence(maps, torch.empty(0, 0)), heads)
    assert (trained.probe.weights[~read] == 0).all()
    assert (trained.probe.weights[read] != together.probe.weights[read]).all()
    torch.testing.assert_close(trained.probe.weights[0], alone.probe.weights[0])


def test_a_planted_type_parses_and_random_heads_of_its_layer_seldom_do(tmp_path, monkeypatch):
    record, *_ = fetched("bert", tmp_path)
    shape = (record.layers, record.heads)
    types = np.full(shape, "blind", dtype=object)
    types[1, 0] = "parser"
    generator = torch.Generator().manual_seed(0)

    def planted(model, encoded, **how):
        for index in encoded.kept:
            heads = SENTENCES[index % len(SENTENCES)].heads
            maps = torch.rand(*shape, len(heads) + 2, len(heads) + 2, generator=generator) / 10
            for word, head in enumerate(heads, start=1):
                maps[1, 0, word, head] = 1
            flat = maps.flatten(0, 1)
            yield torch.cat([flat, flat.transpose(1, 2)])

    monkeypatch.setattr("headtypes.analyses.probes.measure.maps_in_both_directions", planted)
    found = train_type_probes(SENTENCES * 15, SENTENCES, record, typed(types.tolist()), **HOW, **PROBES)
    assert found["words"] == [5, 1, 10, 3]
    assert {name: of_type["heads"] for name, of_type in found["types"].items()} == {
        "blind": types.size - 1,
        "parser": 1,
    }
    scores = score_type_probes(found, seed=1)
    assert scores["parser"].uas > 95
    assert scores["blind"].uas < 70
    # Of layer 2's heads, each draw has one; of the draws of all heads but one, most have the parser among them.
    assert scores["parser"].draws.mean() < scores["parser"].uas
    assert scores["blind"].draws.max() > 95


def test_probes_of_types_are_the_same_each_time_and_say_what_was_read(tmp_path):
    record, *_ = fetched("bert", tmp_path)
    partition = typed([["ab"[head % 2] for head in range(record.heads)]] * record.layers)
    found = train_type_probes(SENTENCES * 3, SENTENCES, record, partition, **HOW, **PROBES)
    assert found == train_type_probes(SENTENCES * 3, SENTENCES, record, partition, **HOW, **PROBES)
    assert found["training"] == {"read": 3 * len(SENTENCES), "left_out": 0}
    assert [np.shape(of_type[which]) for of_type in found["types"].values() for which in ("right", "random")] == [
        (PROBES["starts"], len(SENTENCES)),
        (5, len(SENTENCES)),
    ] * 2


def test_random_heads_are_as_many_of_each_layer():
    types = [["a", "b", "b", "b"], ["b", "b", "b", "b"], ["a", "a", "a", "b"]]
    sets = of_types._sets_of_heads(typed(types), "a", 3, seed=0)
    assert sets.sum(2).tolist() == [[1, 0, 3]] * 8
    assert (sets[:3] == (np.array(types) == "a")).all()
    assert len({each.tobytes() for each in sets[3:]}) > 1


def test_a_partition_of_another_model_is_refused(tmp_path):
    record, *_ = fetched("bert", tmp_path)
    with pytest.raises(InputError, match="other numbers of layers and heads"):
        train_type_probes(SENTENCES, SENTENCES, record, typed([["a"] * 9]), **HOW, **PROBES)


def test_scores_are_means_with_intervals_over_sentences_and_those_of_each_draw():
    right, random = [[1, 2], [1, 4]], [[0, 1], [1, 1], [2, 4]]
    scores = score_type_probes(
        {"words": [2, 4], "types": {"a": {"heads": 3, "right": right, "random": random}}}, seed=0
    )
    assert list(scores) == ["a"]
    assert scores["a"].uas == pytest.approx(100 * 4 / 6)
    assert scores["a"].draws == pytest.approx([100 / 6, 200 / 6, 100])
    assert scores["a"].low == pytest.approx(50)
    assert scores["a"].high == pytest.approx(75)


def test_probes_of_types_on_disk_are_read_if_whole(tmp_path):
    (tmp_path / "a.json").write_text('{"words": [2], "types": {"a": {"heads": 3, "right": [[1]], "random": [[1, 2]]}}}')
    with pytest.raises(InputError, match="holds no probes of types"):
        read_type_probes(tmp_path / "a.json")
