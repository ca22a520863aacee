"""Clark's Figure 5: the sentences that are chosen, the maps of the plain model on them, and what is drawn."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex, to_rgba

from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.words import encode_words
from headtypes.core.style import PALETTE
from headtypes.papers.clark2019.figures import BestHead, SentenceMap, sentences_figure
from headtypes.papers.clark2019.sentences import Chosen, choose_passages, choose_sentences, map_sentences
from tests.support.drawing import drawn, lettering, texts
from tests.support.models import plain_attentions, tiny_bert, tiny_family
from tests.support.records import recorded
from tests.support.word_maps import dense_words, sentence
from tests.unit.analyses.coreference.test_coreference import DOCUMENTS, guesses_of

LABELS = "det nsubj root det obj det obl punct"
LONG = "the cat saw a dog the day ."
HEADS = (2, 3, 0, 5, 3, 7, 3, 3)
BANK = [
    sentence("the cat sat", (2, 3, 0), "det nsubj root"),
    # Three determiners; the second time one is guessed wrongly, and the third time all are right.
    sentence(LONG, HEADS, LABELS),
    sentence(
        "my cat saw his dog at noon .", (2, 3, 0, 5, 3, 7, 3, 3), "nmod:poss nsubj root nmod:poss obj case obl punct"
    ),
    sentence(LONG, HEADS, LABELS),
    sentence("a cat saw him there and then .", (2, 3, 0, 3, 3, 7, 5, 3), "det nsubj root obj advmod cc conj punct"),
    sentence(LONG, HEADS, LABELS),
]
WRONG = 1


def guesses() -> ArcGuesses:
    """Head 1-2 is right at everything from dependent to head, but for one determiner; all others guess nothing."""
    length = np.array([len(one.words) for one in BANK], np.int32)
    guess = np.full((length.sum(), 2, 3, 2), -1, np.int16)
    guess[:, 0, 1, 0] = [head for one in BANK for head in one.heads]
    guess[length[:WRONG].sum() + 3, 0, 1, 0] = 1
    visible = np.ones((length.sum(), 2, 2, 2), np.int16)
    to_sep = np.zeros(guess.shape[:3], np.float16)
    return ArcGuesses(np.arange(len(BANK), dtype=np.int32), length, guess, visible, to_sep)


def best_of(*relations: str, direction: str = DIRECTIONS[0]) -> pd.DataFrame:
    same = {"annotation": "stanford", "chosen": "file", "head": 1, "direction": direction, "accuracy": 90.0}
    scored = [{"scored": "file", "layer": 0}, {"scored": "test", "layer": 1}]
    return pd.DataFrame([same | {"relation": relation} | each for relation in relations for each in scored])


def test_sentences_of_8_to_16_words_with_the_most_words_of_a_relation_all_of_them_right():
    chosen = choose_sentences(BANK, guesses(), best_of("det", "dobj", "poss*"))
    shown = [(it.best.phenomenon, BANK.index(next(one for one in BANK if one.words == it.words))) for it in chosen]
    # In the order of the figure; the first of equal ones; the short one and that with a wrong guess are not shown.
    assert [name for name, _ in shown] == ["dobj", "dobj", "det", "det", "poss"]
    assert [it.marked for it in chosen] == [[4], [4], [0, 3, 5], [0, 3, 5], [0, 3]]
    assert chosen[1].words == BANK[2].words
    assert chosen[0].best == ("dobj", 0, 1, DIRECTIONS[0], 90)
    assert choose_sentences(BANK, guesses(), best_of("det", direction=DIRECTIONS[1])) == []
    assert choose_sentences(BANK, guesses(), best_of("auxpass")) == []


def accuracies(head: int) -> pd.DataFrame:
    same = {"system": "best_head", "type": "all", "layer": 0, "head": head, "accuracy": 50.0}
    ways = [(among, chosen) for among in ("words", "words_before") for chosen in ("documents", "halves")]
    return pd.DataFrame([same | {"candidates": among, "chosen": chosen} for among, chosen in ways])


def test_passages_with_mentions_whose_antecedent_is_looked_at():
    right = guesses_of(lambda anaphor: max(anaphor.antecedents))
    chosen = choose_passages(DOCUMENTS, right, accuracies(0))
    # The other documents have fewer than eight words.
    (passage,) = chosen
    assert (passage.best.phenomenon, passage.words) == ("coreference", DOCUMENTS[0].words)
    assert passage.shown == range(13)
    assert passage.marked == [4, 6, 9, 12]
    assert choose_passages(DOCUMENTS, right, accuracies(1)) == []


WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "ran"]


def about(phenomenon: str, shown: range, marked: list[int]) -> Chosen:
    return Chosen(BestHead(phenomenon, 1, 2, DIRECTIONS[0], 80.0), WORDS, shown, marked)


def test_maps_are_those_of_the_plain_model_with_special_tokens(tmp_path):
    model, tokenizer = tiny_bert(layers=2, heads=3)
    record = recorded(model, tokenizer, tmp_path)
    chosen = [about("det", range(8), [0, 4]), about("pobj", range(8), [5]), about("coreference", range(2, 6), [5])]
    how = {"task": "told", "max_seq_length": 40, "precision": "float32"}
    whole, other, part = map_sentences(chosen, record, **how)
    ids, word_of = encode_words(tokenizer, WORDS)
    plain = dense_words(plain_attentions(model, ids, None), word_of)[1, 2]
    np.testing.assert_allclose(whole.attention, plain, atol=1e-5)
    assert whole.words == ["[CLS]", *WORDS, "[SEP]"]
    assert whole.marked == [1, 5]
    # Of every relation alike.
    np.testing.assert_allclose(other.attention, plain, atol=1e-5)
    assert (other.words, other.marked) == (whole.words, [6])
    indices = [0, 3, 4, 5, 6, 9]
    np.testing.assert_allclose(part.attention, plain[np.ix_(indices, indices)], atol=1e-5)
    assert (part.words, part.marked) == (["[CLS]", *WORDS[2:6], "[SEP]"], [4])
    assert map_sentences([], record, **how) == []


def test_a_model_without_special_tokens_shows_words_alone(tmp_path):
    model, tokenizer = tiny_family("gpt2")
    record = recorded(model, tokenizer, tmp_path)
    one = Chosen(BestHead("det", 0, 0, DIRECTIONS[0], 80.0), WORDS, range(8), [0])
    (shown,) = map_sentences([one], record, task="told", max_seq_length=40, precision="float32")
    assert (shown.words, shown.marked) == (WORDS, [0])
    np.testing.assert_allclose(shown.attention.sum(-1), 1, atol=1e-5)


def some_maps() -> list[SentenceMap]:
    rng = np.random.default_rng(0)
    words = ["[CLS]", "the", "antidisestablishmentarian", "sat", "[SEP]"]
    return [
        SentenceMap(BestHead(name, 1, 4, direction, 76.54), words, [1], rng.dirichlet(np.ones(5), 5).astype(np.float32))
        for name in ("dobj", "det", "pobj", "coreference", "poss")
        for direction in (DIRECTIONS[name == "pobj"],)
    ]


def test_the_figure_draws_every_weight_and_marks_the_words_that_have_the_relation():
    maps = some_maps()
    figure = sentences_figure(maps)
    for shown in maps:
        lines = {kind: drawn(figure, f"{shown.best.phenomenon}-{kind}") for kind in ("marked", "others")}
        colours = {"marked": PALETTE[1], "others": PALETTE[0]}
        found = np.full((5, 5), np.nan)
        for kind, collection in lines.items():
            segments = np.array(collection.get_segments()).astype(int)
            assert set(segments[:, 0, 0]) == {0}
            assert set(segments[:, 1, 0]) == {1}
            for (query, key), weight in zip(segments[:, :, 1], collection.get_alpha(), strict=True):
                assert (1 in (query, key)) == (kind == "marked")
                found[query, key] = weight
            assert {to_hex(colour) for colour in collection.get_colors()} == {colours[kind].lower()}
        np.testing.assert_allclose(found, shown.attention, atol=1e-6)
    marked = [text for text in lettering(figure) if to_rgba(text.get_color()) == to_rgba(PALETTE[1])]
    assert [text.get_text() for text in marked] == ["the"] * 2 * len(maps)
    said = texts(figure)
    assert "head 2-5\nobjects\nlook at their verbs\ndobj: 76.5 %" in said
    assert "head 2-5\nmentions\nlook at their antecedents\ncoreference: 76.5 %" in said
    assert "antidisesta…" in said
