"""The numbers that Clark et al. 2019 published, and their contradictions, as `reference/clark2019.yaml` has them."""

from typing import Generic, Literal, TypeVar

from pydantic import model_validator

from headtypes.core.files import StrPath
from headtypes.papers.published import Data, Published, read_published

Row = TypeVar("Row", bound=Data)
Direction = Literal["dependent_to_head", "head_to_dependent"]
# Statistics whose means by layer were read off the released figures.
DIGITISED = ("cls", "sep", "punctuation", "other_to_sep", "sep_to_sep", "entropy", "entropy_cls")


class SegmentData(Data):
    """What sections 3 and 6 are measured on."""

    place: str
    source: str
    drawn: int
    tokens: int


class TreebankData(Data):
    """What sections 4.2 and 5 are measured on."""

    place: str
    source: str
    training_sentences: int
    dev_sentences: int
    split_words_percent: float


class CoreferenceData(Data):
    """What section 4.3 is measured on."""

    place: str
    source: str
    tokens: int


class DataSets(Data):
    """The paper's data."""

    segments: SegmentData
    treebank: TreebankData
    coreference: CoreferenceData


class SurfaceValue(Data):
    """What the text of section 3 says of a statistic.

    value: as printed; above, below: the printed limit, where no value is.
    heads: how many heads are beyond the limit; layers: those that it is said of, from 1, one for each head.
    wording: how large it is, where the text has neither a value nor a limit.
    """

    id: str
    place: str
    statistic: str
    value: float | None = None
    above: float | None = None
    below: float | None = None
    heads: int | None = None
    layers: tuple[int, ...] = ()
    wording: str = ""


class Example(Data):
    """A head whose attention the paper shows."""

    place: str
    head: str
    shows: str
    direction: Direction | None = None
    without_sep: bool = False


class HeadsOverHalf(Data):
    """Heads with more than half of their attention on a neighbouring token: what each has there, by its layer."""

    previous: dict[int, float]
    next: dict[int, float]


class Digitised(Data):
    """Means over the heads of each layer, the first layer first, as read off the released figures."""

    place: str
    cls: list[float]
    sep: list[float]
    punctuation: list[float]
    other_to_sep: list[float]
    sep_to_sep: list[float]
    entropy: list[float]
    entropy_cls: list[float]
    uniform_entropy: float
    heads_over_half: HeadsOverHalf

    def by_layer(self) -> dict[str, list[float]]:
        """The means of each statistic."""
        return {name: getattr(self, name) for name in DIGITISED}


class RelationRow(Data):
    """The best head of a relation and the best fixed offset: accuracies in percent.

    count: words that have the relation; offset: places from a word to its guessed head, to the right if positive.
    """

    relation: str
    head: str
    direction: Direction
    accuracy: float
    baseline: float
    offset: int
    count: int | None = None


class Rows(Data, Generic[Row]):
    """One of the paper's tables."""

    place: str
    rows: list[Row]


class ReleasedRelations(Rows[RelationRow]):
    """What the released notebook prints in place of Table 1, and of the probe on attention and words."""

    left_out: dict[str, int]
    attention_and_words_probe: float
    segments_read: int


class DerivedRelation(Data):
    """What stands for a relation of the paper where a treebank has the labels of Universal Dependencies.

    derived: from which labels; differs: what remains different in the annotation, empty where little does.
    """

    relation: str
    derived: str
    differs: str = ""


class CoreferenceRow(Data):
    """How often a system selects an antecedent, in percent, of all mentions and by their type."""

    system: str
    all: float
    pronoun: float | None = None
    proper: float | None = None
    nominal: float | None = None
    head: str | None = None
    comparable: bool = True


class Coreference(Rows[CoreferenceRow]):
    """Table 2; in_figure_5: the best head's value there."""

    in_figure_5: float


class ProbeRow(Data):
    """The share of words, in percent, for which a probe finds the syntactic head."""

    probe: str
    uas: float
    comparable: bool = True


class Behaviour(Data):
    """A behaviour that a head has where a statistic is above a limit.

    uniform: the entropy of uniform attention in nats for which the limit was set, where the limit moves with it.
    """

    name: str
    statistic: str
    above: float
    uniform: float | None = None


class Behaviours(Data):
    """How Figure 6 marks heads: a later rule overrides an earlier one; linguistic_heads: what the marked heads find."""

    place: str
    rules: list[Behaviour]
    linguistic_heads: dict[str, str]


class Clark2019(Published):
    """Everything that is compared with this paper."""

    code: str
    model: str
    layers: int
    heads: int
    data: DataSets
    surface: list[SurfaceValue]
    examples: list[Example]
    digitised: Digitised
    relations: Rows[RelationRow]
    released: ReleasedRelations
    derived: list[DerivedRelation]
    coreference: Coreference
    probes: Rows[ProbeRow]
    behaviours: Behaviours

    @model_validator(mode="after")
    def _derives_every_relation(self) -> "Clark2019":
        if [it.relation for it in self.derived] != [row.relation for row in self.relations.rows]:
            raise ValueError("derived needs the relations of Table 1, in their order")
        return self

    @property
    def rows(self) -> tuple[str, ...]:
        """What a model in the config can stand beside: the one model of the paper."""
        return ("base",)


def read_clark2019(path: StrPath) -> Clark2019:
    """Read `reference/clark2019.yaml`. Raises `InputError` that names the file and the key that is wrong."""
    return read_published(path, Clark2019)
