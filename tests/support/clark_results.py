"""Made-up results about heads, treebanks and coreference that are as Clark et al. 2019 say, for tests to change."""

from dataclasses import dataclass, field

import numpy as np

from headtypes.analyses.coreference.accuracy import MentionSums
from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.probes.scores import RightWords
from headtypes.analyses.relations.accuracy import ALL, GROUPS, QUANTITIES, TOTALS, BestHeads
from headtypes.analyses.surface.measure import COLUMNS, Surface
from headtypes.papers.claims import Quantities
from headtypes.papers.clark2019.claims.language import coreference_quantities, treebank_quantities
from headtypes.papers.clark2019.published import MENTIONS, Clark2019, our_relation
from tests.support.places import ROOT

CLARK = ROOT / "reference" / "clark2019.yaml"
PUBLISHED = Clark2019.read(CLARK)
LAYERS, HEADS, SEGMENTS = 12, 12, 40
UNIFORM = float(np.log(128))


def head_values() -> dict[str, np.ndarray]:
    """[layer, head] of every column, of a model that bears out every claim; layer means are the paper's own."""
    published = PUBLISHED.digitised
    values = {name: np.repeat(np.array(means)[:, None], HEADS, axis=1) for name, means in published.by_layer.items()}
    values |= {name: np.full((LAYERS, HEADS), 0.03) for name in ("self", "previous", "next")}
    for layer, head in ((1, 0), (3, 1), (6, 2), (7, 3)):
        values["previous"][layer, head] = 0.6
    for layer, head in ((0, 1), (1, 2), (1, 3), (2, 0), (5, 4)):
        values["next"][layer, head] = 0.7
    # The released figures do not bear out that [CLS] attends as broadly as others in most layers.
    values["entropy_cls"][:-1] = values["entropy"][:-1] + 0.05
    values["entropy"][:4] += np.repeat([-1.7, 1.7], HEADS // 2)
    values["norms.sep"] = 0.1 * values["sep"]
    values["special"] = values["cls"] + values["sep"] + values["punctuation"]
    values["first"] = values["cls"].copy()
    values["peak"] = np.where(values["entropy"] > 3.9, 0.05, 0.4)
    return values


def surface_of(values: dict[str, np.ndarray], noise: float = 0.004) -> Surface:
    """Values of heads with some noise from segment to segment, which cancels out over the segments."""
    means = np.stack([values[name] for name in COLUMNS], axis=-1)
    drawn = np.random.default_rng(0).normal(0, noise, (SEGMENTS, *means.shape))
    patterns = means + drawn - drawn.mean(axis=0)
    if np.array_equal(values["first"], values["cls"]):
        patterns[..., COLUMNS.index("first")] = patterns[..., COLUMNS.index("cls")]
    uniform = np.full((SEGMENTS, len(means)), UNIFORM)
    lengths, ids = np.full(SEGMENTS, 128, np.int32), [f"s{number}" for number in range(SEGMENTS)]
    norms = patterns.copy()
    norms[..., COLUMNS.index("sep")] += values["norms.sep"] - values["sep"]
    return Surface(*(each.astype(np.float32) for each in (patterns, uniform)), lengths, ids, norms.astype(np.float32))


def gradients_of(
    ratios: dict[str, float] | None = None, loss: str | None = "masked_words", early: float = 0.9
) -> Gradients:
    """Gradients of every head, larger in deeper layers. early: the ratio for [SEP] in layers 1 to 4."""
    by_kind = {"sep": 0.2, "cls": 0.8, "punctuation": 1.5, "other": 1.1, "all": 1.0} | (ratios or {})
    scale = 1e-4 * (1 + np.arange(LAYERS))[:, None, None] * np.ones((1, HEADS, 1))
    values = scale * np.array([by_kind[kind] for kind in ATTENDED])
    values[:4, :, ATTENDED.index("sep")] = early * scale[:4, :, 0]
    if loss is None:
        return Gradients(np.full_like(values, np.nan), None, 0, "has no head for masked words")
    return Gradients(values, loss, 30)


def layers_of(difference: float = -0.06) -> dict[str, float | int | None]:
    """What `projection.layer_test` says of heads whose layers, permuted, make a difference of 0.01 at most."""
    p = 1 / 2000 if difference < -0.01 else 1.0 if difference > 0.01 else 0.2
    ends = {"low": difference - 0.01, "high": difference + 0.01}
    return {"within": 0.3 + difference, "between": 0.3, "difference": difference, **ends, "p": p, "permutations": 1999}


SENTENCES, DOCUMENTS = 60, 30
ROWS = {row.relation: row for row in PUBLISHED.relations.rows}
TO_SEP = {"called": 20.0, "others": 70.0, "no_noun": 60.0, "no_noun_or_pronoun": 65.0}


def _of_each(value):
    return lambda: {name: value(row) for name, row in ROWS.items()}


@dataclass
class Treebank:
    """Results of a made-up model on a treebank, in percent, in the shapes in which tests change them most easily.

    leads, directions: by how much the best head beats the best offset and, from dependent to head, the best of the
        other direction; probes: attachment scores.
    to_sep: attention to [SEP] of each group of words in the heads of some relations, others have `TO_SEP`; looks: that
        of all words on the sentences that heads were chosen on; tagged: whether words have UPOS tags.
    """

    accuracies: dict[str, float] = field(default_factory=_of_each(lambda row: row.accuracy))
    leads: dict[str, float] = field(default_factory=_of_each(lambda row: row.accuracy - row.baseline))
    directions: dict[str, float] = field(
        default_factory=_of_each(lambda row: -5.0 if row.direction == "head_to_dependent" else 5.0)
    )
    heads: dict[str, str] = field(default_factory=_of_each(lambda row: row.head))
    probes: dict[str, float] = field(
        default_factory=lambda: (
            {row.probe: row.uas for row in PUBLISHED.probes.rows if row.comparable}
            | {"best_head": 34.5, "best_offset": 26.3}
        )
    )
    to_sep: dict[str, dict[str, float]] = field(default_factory=dict)
    looks: float = 60.0
    tagged: bool = True

    def quantities(self) -> Quantities:
        """What is known of the model on the treebank; scored where they were chosen, heads are 3 points better."""
        right = np.stack([_around(uas) / 10 for uas in self.probes.values()], axis=1)
        probes = RightWords([*self.probes], right, np.full(SENTENCES, 10))
        return treebank_quantities(self._best(3.0), self._best(0.0), probes, PUBLISHED)

    def _best(self, more: float) -> BestHeads:
        """As `relations.accuracy.measure_relations` returns it, of heads that are so many points better."""
        # Whichever words are counted, their total is the same.
        listed = {name: ALL if name in TOTALS else name for name in (*self.accuracies, *TOTALS[1:])}
        best = best_heads([our_relation(name) for name in listed], SENTENCES)
        best.words[:], best.to_sep_words[:] = 1, [1, 1, self.tagged, self.tagged]
        best.looks[:] = self.looks / 100
        for row, name in enumerate(listed.values()):
            at = tuple(int(part) - 1 for part in self.heads[name].split("-"))
            accuracy, lead, direction = self.accuracies[name] + more, self.leads[name] + more, self.directions[name]
            best.chosen[row, 0, :3] = *at, direction <= 0
            values = {
                "accuracy": accuracy,
                "other_accuracy": accuracy - abs(direction),
                "offset_accuracy": accuracy - lead,
                "above_offset": lead,
                "forward_above_backward": direction,
            }
            best.right[:, row] = np.stack([_around(values[it]) / 100 for it in QUANTITIES], axis=1)
            shares = TO_SEP | self.to_sep.get(name, {})
            best.to_sep[:, row] = np.stack([_around(shares[group]) / 100 for group in GROUPS], axis=1)
            best.rises[row, 0] = np.random.default_rng(at).normal(0.1, 0.02, best.looks.shape[1:])
            best.leads[row, 0][at], best.rises[row, 0][at] = lead, (shares["others"] - shares["called"]) / 100
        return best


def best_heads(names: list[tuple[str, str]], sentences: int, shape: tuple[int, int] = (LAYERS, HEADS)) -> BestHeads:
    annotations, relations = zip(*names, strict=True)
    rows = len(names)
    return BestHeads(
        [*annotations],
        [*relations],
        chosen=np.zeros((rows, 1, 6), int),
        right=np.zeros((sentences, rows, 5)),
        words=np.zeros((sentences, rows), int),
        visible=np.zeros(rows, int),
        to_sep=np.zeros((sentences, rows, 4)),
        to_sep_words=np.zeros((sentences, rows, 4), int),
        leads=np.zeros((rows, 1, *shape)),
        looks=np.zeros((1, *shape)),
        rises=np.zeros((rows, 1, *shape)),
    )


def _around(mean: float, number: int = SENTENCES) -> np.ndarray:
    # What differs in its mean differs from unit to unit, too.
    drawn = np.random.default_rng(int(1e6 * abs(mean))).normal(size=number)
    return mean + drawn - drawn.mean()


@dataclass
class Documents:
    """Results of a made-up model on documents, in percent by type of mention; all types are equally frequent."""

    best_head: dict[str, float] = field(default_factory=lambda: _of("best_head"))
    head_match: dict[str, float] = field(default_factory=lambda: _of("head_match"))
    rules: dict[str, float] = field(default_factory=lambda: _of("rules"))
    nearest: dict[str, float] = field(default_factory=lambda: _of("nearest"))
    # By how much the best head is better among the words before, and once more among the head words of mentions.
    by_candidates: float = 0.01

    def quantities(self) -> Quantities:
        return coreference_quantities(self._sums(), PUBLISHED)

    def _sums(self) -> MentionSums:
        """Those of one mention of each type in each document."""
        rows, right, mentions = [], [], []
        for system in ("best_head", "nearest", "head_match", "rules"):
            for name in (ALL, *MENTIONS):
                types = MENTIONS if name == ALL else [name]
                of_type = sum(_around(getattr(self, system)[each], DOCUMENTS) for each in types) / 100
                ways = [(candidates, way) for candidates in CANDIDATES for way in ("documents", "halves")]
                for candidates, chosen in ways if system == "best_head" else [("mentions", "")]:
                    rows.append((system, candidates, name, chosen))
                    better = self.by_candidates * CANDIDATES.index(candidates) * (system == "best_head")
                    right.append(of_type + better * len(types))
                    mentions.append(np.full(DOCUMENTS, len(types)))
        return MentionSums(*map(list, zip(*rows, strict=True)), np.stack(right, axis=1), np.stack(mentions, axis=1))


def _of(system: str) -> dict[str, float]:
    row = next(row for row in PUBLISHED.coreference.rows if row.system == system)
    return {name: getattr(row, name) for name in MENTIONS}
