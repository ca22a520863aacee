"""Probes equal their definition, computed pair by pair, and find what is planted in the maps."""

import copy

import numpy as np
import pytest
import torch
from transformers import AutoModel

from headtypes.analyses.probes.measure import (
    Attention,
    AttentionAndWords,
    DistanceAndWords,
    ProbedSentence,
    Trainer,
    generators_of,
    random_network,
    vectors_of_file,
    vectors_of_model,
)
from headtypes.analyses.probes.scores import PROBES, measure_probes
from headtypes.analyses.relations.guesses import ArcGuesses
from headtypes.core.errors import InputError
from tests.support.models import tiny_bert, tiny_family
from tests.support.word_maps import sentence

HEADS, CHANNELS, STARTS = 4, 3, 2


def random_sentence(words: int) -> tuple[ProbedSentence, np.ndarray, np.ndarray]:
    """A sentence as probes read it, and its word-level maps [head, index, index] and vectors in float64."""
    rng = np.random.default_rng(0)
    maps = rng.random((HEADS, words + 2, words + 2)).astype(np.float32)
    vectors = rng.standard_normal((words, CHANNELS)).astype(np.float32)
    both = np.concatenate([maps, maps.swapaxes(1, 2)])
    return ProbedSentence(torch.from_numpy(both), torch.from_numpy(vectors)), maps.astype(float), vectors.astype(float)


def feature(maps: np.ndarray, special: np.ndarray, i: int, j: int) -> np.ndarray:
    """What all heads say of candidate i (0: the root) for word j (from 1), in both directions: [2 * head]."""
    last = maps.shape[-1] - 1
    if i == 0:
        a, b = special
        return np.concatenate([a * maps[:, 0, j] + b * maps[:, last, j], a * maps[:, j, 0] + b * maps[:, j, last]])
    return np.concatenate([maps[:, i, j], maps[:, j, i]])


def pair_of(vectors: np.ndarray, i: int, j: int, root: str) -> np.ndarray:
    word = i if root == "released" else i - 1
    if 0 <= word < len(vectors):
        return np.concatenate([vectors[word], vectors[j - 1]])
    return np.zeros(2 * vectors.shape[1])


def values(parameter) -> np.ndarray:
    return parameter.detach().double().numpy()


@pytest.mark.parametrize("root", [None, "first", "released"])
@pytest.mark.parametrize("words", [1, 2, 7])
def test_attention_is_a_sum_over_heads_whose_weights_may_be_a_linear_layer_over_vectors(words, root):
    generators = generators_of(0, "attention", STARTS)
    if root is None:
        probe = Attention(2 * HEADS, generators, True)
    else:
        probe = AttentionAndWords(2 * HEADS, CHANNELS, generators, True, root)
        torch.nn.init.normal_(probe.weights)
    sentence, maps, vectors = random_sentence(words)
    found = probe(sentence).detach().numpy()
    assert found.shape == (STARTS, words + 1, words)
    for start, i, j in np.ndindex(found.shape):
        weights = values(probe.weights)[start]
        if root is not None:
            weights = weights + pair_of(vectors, i, j + 1, root) @ values(probe.word_weights)[start]
        of_pair = feature(maps, values(probe.special)[start], i, j + 1)
        assert found[start, i, j] == pytest.approx(weights @ of_pair, abs=1e-4 if root else 1e-5)


@pytest.mark.parametrize("root", ["first", "released"])
@pytest.mark.parametrize("words", [1, 2, 7])
def test_distance_and_words_is_a_hidden_layer_over_vectors_and_eight_features(words, root):
    probe = DistanceAndWords(CHANNELS, generators_of(0, "distance", STARTS), root)
    torch.nn.init.normal_(probe.bias)
    sentence, _, vectors = random_sentence(words)
    found = probe(sentence).detach().numpy()
    for start, i, j in np.ndindex(found.shape):
        far = i - (j + 1)
        distance = [max(far, 0) / words, max(-far, 0) / words, *(far == each for each in (0, -1, 1, -2, 2)), 0]
        joined = np.concatenate([pair_of(vectors, i, j + 1, root), distance if i else [0] * 7 + [1]])
        weights = np.concatenate([values(probe.word_weights)[start], values(probe.distance_weights)[start]])
        hidden = np.tanh(joined @ weights + values(probe.bias)[start])
        assert found[start, i, j] == pytest.approx((hidden @ values(probe.output)[start]).item(), abs=1e-5)


def test_weights_begin_in_the_range_of_the_whole_layer_that_they_are_part_of():
    """Glorot and Bengio 2010, equation 16: of one layer over both words and, where it reads them, their distance."""
    maps, channels, hidden = 40, 30, 256
    generators = generators_of(0, "range", STARTS)
    of_pairs = DistanceAndWords(channels, generators, "first")
    for weights, inputs, outputs in (
        (AttentionAndWords(maps, channels, generators, True, "first").word_weights, 2 * channels, maps),
        (of_pairs.word_weights, 2 * channels + 8, hidden),
        (of_pairs.distance_weights, 2 * channels + 8, hidden),
        (of_pairs.output, hidden, 1),
    ):
        # The largest of so many lies close to the end of the range.
        assert np.abs(values(weights)).max() == pytest.approx(np.sqrt(6 / (inputs + outputs)), rel=0.01)


def test_only_the_released_reading_lets_a_word_be_its_own_head():
    sentence, *_ = random_sentence(4)
    for root, own in (("first", True), ("released", False)):
        probe = Attention(2 * HEADS, generators_of(0, "attention", STARTS), True)
        scores = Trainer(probe, 0.002, root).scores(sentence)
        assert torch.isinf(scores[:, range(1, 5), range(4)]).all() == own
        assert torch.isinf(scores).sum() == (STARTS * 4 if own else 0)


def test_without_special_tokens_the_score_of_the_root_is_learned():
    probe = Attention(2 * HEADS, generators_of(0, "attention", STARTS), False)
    sentence, *_ = random_sentence(4)
    trainer = Trainer(probe, 0.1, "first")
    for _ in range(20):
        trainer.train(sentence, torch.zeros(4, dtype=torch.int64))
    assert (trainer.guess(sentence) == 0).all()
    assert (probe.constant > 0.5).all()


def test_a_step_is_adam_s_on_the_sum_of_cross_entropies_and_starts_share_nothing():
    sentence, *_ = random_sentence(5)
    heads = torch.tensor([2, 0, 2, 3, 3])
    together = Trainer(Attention(2 * HEADS, generators_of(0, "a", 2), True), 0.01, "first")
    alone = [Attention(2 * HEADS, [generator], True) for generator in generators_of(0, "a", 2)]
    optimisers = [torch.optim.Adam(probe.parameters(), 0.01) for probe in alone]
    for _ in range(3):
        together.train(sentence, heads)
        for probe, optimiser in zip(alone, optimisers, strict=True):
            scores = probe(sentence)[0].masked_fill(torch.eye(6, dtype=torch.bool)[:, 1:], -torch.inf)
            loss = -torch.log_softmax(scores, 0)[heads, range(5)].sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    for start, probe in enumerate(alone):
        torch.testing.assert_close(together.probe.weights[start], probe.weights[0])
        torch.testing.assert_close(together.probe.special[start], probe.special[0])


def test_a_planted_head_is_learnt():
    rng = np.random.default_rng(0)
    trainer = Trainer(Attention(2 * HEADS, generators_of(0, "a", STARTS), True), 0.02, "first")

    def planted() -> tuple[ProbedSentence, torch.Tensor]:
        words = int(rng.integers(2, 9))
        heads = np.array([0, *(rng.integers(1, word) for word in range(2, words + 1))])
        maps = rng.random((HEADS, words + 2, words + 2)) * 0.2
        for word, head in enumerate(heads, start=1):
            maps[1, word, head if head else 0] = 1
        both = torch.from_numpy(np.concatenate([maps, maps.swapaxes(1, 2)]).astype(np.float32))
        return ProbedSentence(both, torch.zeros(words, CHANNELS)), torch.from_numpy(heads)

    for _ in range(300):
        trainer.train(*planted())
    right = [(trainer.guess(sentence) == heads).float().mean() for sentence, heads in (planted() for _ in range(50))]
    assert np.mean(right) > 0.95


def test_a_random_network_has_the_weights_of_its_seed():
    model = tiny_bert()[0].base_model
    drawn, again, other = (dict(random_network(model, seed).named_parameters()) for seed in (3, 3, 4))
    for name, parameter in drawn.items():
        torch.testing.assert_close(parameter, again[name], rtol=0, atol=0)
        if name.endswith("bias"):
            assert (parameter == 0).all() or name.startswith("embeddings.")
        elif parameter.ndim > 1 and not name.startswith("embeddings."):
            assert parameter.std().item() == pytest.approx(0.02, rel=0.15)
            assert not torch.equal(parameter, other[name])


@pytest.mark.parametrize(
    "family",
    [
        *("bert", "roberta", "distilbert", "mobilebert", "modernbert", "gpt2", "gpt_neox", "opt"),
        *("llama", "gemma", "gemma3_text", "olmo2"),
    ],
)
def test_embeddings_of_every_family_are_kept_layers_are_not_and_norms_scale_by_one(family, tmp_path):
    """Norms of Gemma add 1 to their weight. The model is one from disk, whose norms have learnt something."""
    model = tiny_family(family)[0].base_model
    untrained, trained = dict(model.named_parameters()), copy.deepcopy(model)
    with torch.no_grad():
        for parameter in trained.parameters():
            parameter += 0.5
    trained.save_pretrained(tmp_path)
    drawn, norms, kept = random_network(AutoModel.from_pretrained(tmp_path), 3), 0, set()
    for name, before in trained.named_parameters():
        after = dict(drawn.named_parameters())[name]
        if before.ndim > 1 and torch.equal(before, after):
            kept.add(name)
            assert ".0." not in name
            assert ".1." not in name
        elif "embedding" not in name and before.ndim == 1 and not name.endswith("bias"):
            # The families' models are drawn by Transformers, and so their norms are those of no training.
            torch.testing.assert_close(after, untrained[name], rtol=0, atol=0)
            norms += 1
    assert norms >= 2
    assert any(trained.get_parameter(name) is trained.get_input_embeddings().weight for name in kept)


@pytest.mark.parametrize(
    ("text", "encoding"),
    # With spaces at the end, a mark of bytes and equal lines, as fastText and some editors write them.
    [("the 1 2\n. . 3 4\ncat -1 0.5\n", "utf-8"), ("the 1 2 \n. . 3 4 \n. . 3 4\ncat -1 0.5\n", "utf-8-sig")],
)
def test_vectors_are_of_words_in_lower_case_and_split_from_the_right(text, encoding, tmp_path):
    (tmp_path / "vectors.txt").write_text(text, encoding=encoding)
    by_sentence, known = vectors_of_file(str(tmp_path / "vectors.txt"), [["The", "cat"], ["Dog"], [". ."]])
    assert [vectors.tolist() for vectors in by_sentence] == [[[1, 2], [-1, 0.5]], [[0, 0]], [[3, 4]]]
    assert known == 0.75


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_probe_whose_numbers_overflow_guesses_nothing(number):
    sentence, *_ = random_sentence(5)
    trainer = Trainer(Attention(2 * HEADS, generators_of(0, "attention", STARTS), True), 0.1, "first")
    trainer.guess(sentence)
    trainer.probe.weights.data[0, 0] = number
    with pytest.raises(InputError, match=r"not finite; check the numbers of the word vectors"):
        trainer.guess(sentence)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("the\n", "line 1"), ("the 1 2\ncat 1\n", "line 2"), ("the 1 x\n", "line 1"),
     ("the 1 nan\n", "not finite"),
     ("2 3 \nthe 1 2 3 \n", "'2 3' is a header"),
     ("dog 1 2\nthe 1 2 3\n", "line 2: a word and 2 numbers are needed"),
     ("dog 1\nat home 1 2e-1\n", "line 2: a word and 1 numbers are needed, as many as on line 1"),
     ("the 1 2\ncat 3 4\nthe 1 3\n", "line 3: the word 'the' has other numbers"),
     ("le 1 2\nThe 1 2\n", r"vectors\.txt has no vector of any word")],
)  # fmt: skip
def test_a_file_of_other_things_is_refused_by_line(text, problem, tmp_path):
    (tmp_path / "vectors.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        vectors_of_file(str(tmp_path / "vectors.txt"), [["The", "cat"]])
    with pytest.raises(InputError, match="cannot be read"):
        vectors_of_file("none.txt", [["The"]])


def test_a_model_s_own_embeddings_are_averaged_over_subwords():
    model = tiny_bert()[0].base_model
    (vectors,) = vectors_of_model(model, [[2, 7, 8, 9, 3]], [[-1, 0, 1, 1, -1]])
    weight = model.get_input_embeddings().weight.detach()
    expected = torch.stack([weight[7], (weight[8] + weight[9]) / 2])
    np.testing.assert_allclose(vectors, expected.numpy(), atol=1e-6)


def test_scores_stand_beside_the_best_fixed_guesses_and_differences_pair_sentences():
    sentences = [
        sentence("the cat saw a dog .", (2, 3, 0, 5, 3, 3), "det nsubj root det obj punct"),
        sentence("it ran", (2, 0), "nsubj root"),
        sentence("too long", (0, 1), "root obj"),
    ]
    heads = np.array([2, 3, 0, 5, 3, 3, 2, 0])
    guess = np.full((8, 1, 2, 2), -1, np.int16)
    # The second head finds all heads of the first sentence that are not the root; counting its full stop gains nothing.
    guess[:6, 0, 1, 0] = heads[:6]
    guess[5, 0, 0, 1] = 3
    visible = np.zeros((8, 1, 2, 2), np.int16)
    to_sep = np.zeros((8, 1, 2), np.float16)
    arcs = ArcGuesses(np.array([0, 1], np.int32), np.array([6, 2], np.int32), guess, visible, to_sep)
    right = {name: [[number, 1], [number, 2]] for number, name in enumerate(PROBES)}
    table, found = measure_probes({"right": right, "words": [5, 2]}, sentences, arcs)
    scores = table[table["minus"] == ""].set_index("system")
    assert scores["uas"]["attention"] == pytest.approx(100 * 1.5 / 7)
    assert (scores["least"]["attention"], scores["most"]["attention"]) == pytest.approx((100 / 7, 200 / 7))
    # Heads behind their dependents: the cat and the verb, the dog, and the verb of the second sentence.
    assert scores["uas"]["right_branching"] == scores["uas"]["best_offset"] == pytest.approx(400 / 7)
    # The root of the first sentence was guessed here as well, which no head of a model does.
    assert scores["uas"]["best_head"] == pytest.approx(500 / 7)
    difference = table.query("system == 'best_head' and minus == 'attention'").iloc[0]
    assert difference["uas"] == pytest.approx(350 / 7)
    # So few sentences say nothing of others.
    assert np.isnan(difference["low"])
    assert len(table) == 7 * 7
    of_system = dict(zip(found.system, found.right.T.tolist(), strict=True))
    assert (of_system["attention"], of_system["best_head"]) == ([0, 1.5], [5, 0])
    with pytest.raises(InputError, match="have not parsed the sentences"):
        measure_probes({"right": right, "words": [5, 1]}, sentences, arcs)
