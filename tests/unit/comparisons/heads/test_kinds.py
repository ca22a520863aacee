"""Kinds of heads over models: what is planted is found where it is, and nowhere else, and beside what chance gives."""

import re
from math import comb

import numpy as np
import pandas as pd
import pytest

from headtypes.comparisons.heads.figure import MOST, kinds_figure
from headtypes.comparisons.heads.kinds import find_kinds, kinds_table
from headtypes.comparisons.heads.profiles import Profiles
from headtypes.comparisons.heads.shown import kinds_shown

MODELS = [f"model-{number}" for number in range(12)]
WITH, HEADS, SHARES = MODELS[:8], 16, 8
FAMILIES = dict(zip(MODELS, ["a", "a", "a", *MODELS[3:]], strict=True))
PLANTED = np.array([0.9, *[0.1 / (SHARES - 1)] * (SHARES - 1)])


def made(seed: int = 0, planted: bool = True) -> tuple[Profiles, np.ndarray]:
    """Twelve models whose heads are like no other; and, in eight of them, one that does the same, in other places."""
    rng = np.random.default_rng(seed)
    heads = pd.DataFrame(
        [{"model": model, "layer": head // 4, "head": head % 4} for model in MODELS for head in range(HEADS)]
    )
    shares = rng.dirichlet(np.full(SHARES, 1.0), len(heads))
    is_planted = np.zeros(len(heads), dtype=bool)
    for model in WITH if planted else ():
        is_planted[rng.choice(np.flatnonzero(heads["model"] == model))] = True
    shares[is_planted] = rng.dirichlet(400 * PLANTED, is_planted.sum())
    return Profiles(heads, shares, [f"to {name}" for name in "abcdefgh"]), is_planted


@pytest.mark.parametrize("seed", range(5))
def test_a_kind_in_eight_of_twelve_models_is_found_in_these_and_in_no_other(seed):
    profiles, planted = made(seed)
    kinds = find_kinds(profiles)
    (kind,) = set(kinds[planted])
    assert kind > 0
    assert sorted(profiles.heads["model"][kinds == kind].unique()) == sorted(WITH)
    assert (kinds == kind).tolist() == planted.tolist()
    assert len(set(profiles.heads[planted][["layer", "head"]].itertuples(index=False))) > 1
    row = kinds_table(profiles, kinds, FAMILIES, seed=1).set_index("kind").loc[kind]
    assert row[["heads", "models", "families"]].tolist() == [8, 8, 6]
    assert re.fullmatch(r"[89]\d % to a", row["looks"])


def test_of_too_many_heads_no_kinds_are_looked_for(monkeypatch, capsys):
    profiles, _ = made()
    monkeypatch.setattr("headtypes.comparisons.heads.kinds.MOST_HEADS", len(profiles.heads) - 1)
    kinds = find_kinds(profiles)
    assert not kinds.any()
    table = kinds_table(profiles, kinds, FAMILIES, seed=1)
    (said,) = kinds_figure(profiles.heads.assign(kind=kinds), table).axes[0].texts
    assert said.get_text() == "192 heads are more than the 191 whose kinds are looked for; select fewer models."
    assert said.get_text() in capsys.readouterr().out


def test_the_summary_lists_kinds_as_they_are_in_the_file(tmp_path):
    profiles, _ = made()
    table = kinds_table(profiles, find_kinds(profiles), FAMILIES, seed=1)
    for rows, number in ((table, 1), (table[:0], 0)):
        rows.to_csv(tmp_path / "kinds.csv", index=False)
        shown = [it.in_brief() for it in kinds_shown(str(tmp_path / "kinds.csv"), "text")]
        assert len(shown) == number
        if shown:
            looks, heads, models, families, random, p = shown[0].rows[0]
            assert looks.text == table["looks"][0]
            assert [it.sort for it in (heads, models, families)] == table.loc[
                0, ["heads", "models", "families"]
            ].tolist()
            assert random.below == f"{table['random_low'][0]:.1f} to {table['random_high'][0]:.1f}"
            assert p.sort == table["p_holm"][0]


def alike_in_attention(columns: int, seed: int) -> tuple[Profiles, np.ndarray]:
    """Two heads of each model that attend alike, and other heads; of which half is the first, the second, or neither.

    columns: shares that stand alone, accuracies at as many relations of 100 words, each the same but for chance.
        The last is found least.
    """
    rng = np.random.default_rng(seed)
    heads = pd.DataFrame([{"model": model, "layer": 0, "head": head} for model in MODELS for head in range(6)])
    attention = rng.dirichlet(np.ones(SHARES), len(heads))
    which = heads["head"].to_numpy()
    attention[which < 2] = rng.dirichlet(400 * PLANTED, 2 * len(MODELS))
    alone = rng.binomial(100, np.linspace(0.8, 0.1, columns), (len(heads), columns)) / 100
    names = [*(f"to {name}" for name in "abcdefgh"), *(f"of relation {number}" for number in range(columns))]
    return Profiles(heads, np.hstack([attention, alone]), names, columns), which


@pytest.mark.parametrize("seed", range(5))
def test_heads_that_are_alike_in_everything_are_one_kind_whatever_noise_many_small_shares_have(seed):
    profiles, which = alike_in_attention(80, seed)
    kinds = find_kinds(profiles)
    assert set(kinds[which < 2]) == {1}
    assert (kinds == 1).sum() == 2 * len(MODELS)


@pytest.mark.parametrize(("first", "second"), [(0.62, 0.2), (0.95, 0.02), (0.4, 0.12)])
def test_heads_that_attend_alike_but_differ_in_one_of_many_shares_are_told_apart(first, second):
    profiles, which = alike_in_attention(80, seed=0)
    for number, share in enumerate((first, second)):
        profiles.shares[which == number, -1] = share
    kinds = find_kinds(profiles)
    assert [len(set(kinds[which == number])) for number in (0, 1)] == [1, 1]
    assert kinds[which == 0][0] != kinds[which == 1][0]
    looks = kinds_table(profiles, kinds, FAMILIES, seed=1).set_index("kind")["looks"][kinds[which == 0][0]]
    assert f"{100 * first:.0f} % of relation 79" in looks


def test_heads_are_aligned_by_what_they_do_and_not_by_their_numbers():
    profiles, _ = made()
    order = np.random.default_rng(3).permutation(len(profiles.heads))
    mixed = Profiles(profiles.heads.assign(layer=0, head=0).iloc[order], profiles.shares[order], profiles.columns)
    pd.testing.assert_series_equal(
        pd.Series(find_kinds(profiles)[order] > 0), pd.Series(find_kinds(mixed) > 0), check_names=False
    )


def test_as_many_random_heads_are_in_as_many_models_as_counting_says():
    profiles, planted = made()
    row = kinds_table(profiles, planted.astype(int), FAMILIES, seed=1).iloc[0]
    # A model has none of eight heads with the probability that all of them are others'.
    absent = comb(11 * HEADS, 8) / comb(12 * HEADS, 8)
    assert row["random"] == pytest.approx(12 * (1 - absent), abs=0.03)
    each = np.prod([(12 - number) * HEADS / (12 * HEADS - number) for number in range(8)])
    assert row["p"] == pytest.approx(2 * each, rel=0.15)
    of_one = np.zeros(len(planted), dtype=int)
    of_one[:8] = 1
    assert kinds_table(profiles, of_one, FAMILIES, seed=1).iloc[0]["p"] < 0.001


def test_a_kind_is_said_to_be_in_more_or_fewer_models_than_chance_gives_in_five_percent_of_random_kinds():
    profiles, _ = made()
    rng, found = np.random.default_rng(5), 0
    for trial in range(200):
        kinds = np.zeros(len(profiles.heads), dtype=int)
        kinds[rng.choice(len(kinds), 12, replace=False)] = 1
        found += kinds_table(profiles, kinds, FAMILIES, seed=trial)["p"].iloc[0] < 0.05
    assert found <= 18


def test_without_heads_that_are_alike_there_is_no_kind_and_the_figure_says_so():
    rng = np.random.default_rng(0)
    heads = pd.DataFrame({"model": ["one", "two"], "layer": 0, "head": 0})
    profiles = Profiles(heads, rng.dirichlet(np.ones(3), 2), list("abc"))
    kinds = find_kinds(profiles)
    table = kinds_table(profiles, kinds, {"one": "one", "two": "two"}, seed=0)
    assert (kinds.tolist(), len(table)) == ([0, 0], 0)
    (text,) = kinds_figure(heads.assign(kind=kinds), table).axes[0].texts
    assert text.get_text() == "No kind of heads stands out."


def test_the_figure_has_the_number_of_heads_of_each_kind_in_each_model():
    profiles, planted = made()
    kinds = planted.astype(int)
    figure = kinds_figure(profiles.heads.assign(kind=kinds), kinds_table(profiles, kinds, FAMILIES, seed=1))
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["1"] * 8
    assert [text.get_text() for text in axes.get_xticklabels()] == MODELS
    assert MOST > 1


def test_long_names_of_kinds_are_read_in_two_lines_beside_the_cells():
    profiles, planted = made()
    kinds = planted.astype(int)
    heads, table = profiles.heads.assign(kind=kinds), kinds_table(profiles, kinds, FAMILIES, seed=1)
    long = "31 % certain fall of a token's probability on text, 33 % of nmod:unmarked in ewt (head to dependent)"
    figure = kinds_figure(heads[heads["model"].isin(MODELS[:4])], table.assign(looks=long))
    figure.draw_without_rendering()
    (label,) = figure.axes[0].get_yticklabels()
    assert label.get_text().replace("\n", " ") == long
    assert label.get_window_extent().x0 >= 0
    cells = figure.axes[0].get_window_extent()
    assert cells.height > label.get_window_extent().height
    assert cells.width / figure.dpi > 4 * 0.2
