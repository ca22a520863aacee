"""The numbers that Clark et al. 2019 published, and their contradictions, as `reference/clark2019.yaml` has them."""

from typing import Generic, Literal, TypeVar

from headtypes.papers.paper import Data, Published

Row = TypeVar("Row", bound=Data)
Direction = Literal["dependent_to_head", "head_to_dependent"]
# Systems of Tables 1 to 3, as tables and reasons have them.
SYSTEMS = {
    "best_head": "the best head",
    "nearest": "nearest",
    "head_match": "head match",
    "rules": "rules",
    "right_branching": "right-branching",
    "best_offset": "the best offset",
    "attention": "attention",
    "attention_and_words": "attention and words",
    "distance_and_words": "distance and words",
    "random_network": "random network",
}
MENTIONS = ("pronoun", "proper", "nominal")
# Among which words a head's guess is taken, in words.
READINGS = {
    "words": "among all other words",
    "words_before": "among the words before",
    "mentions": "among the head words of candidates",
}


class TreebankData(Data):
    """The data of sections 4.2 and 5."""

    source: str
    training_sentences: int
    dev_sentences: int


class DataSets(Data):
    """The paper's data: of sections 3 and 6, of 4.2 and 5, and of 4.3."""

    segments: str
    treebank: TreebankData
    coreference: str


class SurfaceValue(Data):
    """A statistic in the text of section 3.

    value: as printed; above, below: the printed limit, where no value is.
    heads: number of heads beyond the limit; layers: those that the text names, from 1, one for each head.
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


class Digitised(Data):
    """Values that were read off the released figures.

    by_layer: means of some statistics over the heads of each layer, the first layer first.
    heads_over_half: values of heads with more than half of their attention on a neighbouring token, by statistic
        (`previous`, `next`) and layer.
    """

    place: str
    by_layer: dict[str, list[float]]
    uniform_entropy: float
    heads_over_half: dict[str, dict[int, float]]


class RelationRow(Data):
    """The best head of a relation and the best offset, in words to the right: accuracies in percent.

    derived: from which labels of Universal Dependencies ours is; differs: what remains different in the annotation.
    """

    relation: str
    head: str
    direction: Direction
    accuracy: float
    baseline: float
    offset: int
    derived: str
    differs: str = ""


class PublishedTable(Data, Generic[Row]):
    """One of the paper's tables."""

    place: str
    rows: list[Row]


class CoreferenceRow(Data):
    """The percentage of mentions whose antecedent a system selects, for all mentions and by their type."""

    system: str
    all: float
    pronoun: float | None = None
    proper: float | None = None
    nominal: float | None = None
    comparable: bool = True


class ProbeRow(Data):
    """The share of words, in percent, for which a probe finds the syntactic head."""

    probe: str
    uas: float
    comparable: bool = True


class Behaviour(Data):
    """A behaviour, as Figure 6 marks it, that a head has where a statistic is above a limit.

    uniform: the entropy of uniform attention in nats for which the limit was set, where the limit moves with it.
    """

    name: str
    statistic: str
    above: float
    uniform: float | None = None


class Clark2019(Published):
    """Everything that is compared with this paper."""

    model: str
    layers: int
    data: DataSets
    surface: list[SurfaceValue]
    digitised: Digitised
    relations: PublishedTable[RelationRow]
    coreference: PublishedTable[CoreferenceRow]
    probes: PublishedTable[ProbeRow]
    behaviours: list[Behaviour]

    @property
    def rows(self) -> tuple[str, ...]:
        """The one model of the paper, beside which a model in the config can stand."""
        return ("base",)


def our_relation(relation: str) -> tuple[str, str]:
    """Return the annotation and the name in our tables (`relations.pairs`) of a relation of the paper's."""
    from headtypes.analyses.relations.accuracy import POSS_OF_MARK, TOTALS

    if relation in TOTALS:
        return "universal", relation
    return "stanford", POSS_OF_MARK if relation == "poss" else relation
