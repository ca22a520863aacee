"""What stands in the comparison beside the paper's values of sections 4 and 5."""

from collections.abc import Iterator

from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.papers.clark2019.language.scores import ALL, MENTIONS, READINGS, SYSTEMS
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.comparison import value_row
from headtypes.papers.quantities import Quantities

_BASELINES = ("nearest", "head_match", "rules")
_UNPUBLISHED = {"chance": "chance", "nearest_other": "nearest, mentions that follow included"}


def treebank_values(ours: Quantities, theirs: Quantities, published: Clark2019) -> Iterator[dict]:
    """The best head and the best offset of each relation of Table 1, and the systems of Table 3.

    theirs: the published values, or none where they do not stand beside ours.
    """
    differs = {it.relation: it.differs for it in published.derived}
    for row in published.relations.rows:
        for statistic, label in (("accuracy", "best head"), ("baseline", "best offset")):
            id_ = f"relation.{row.relation}.{statistic}"
            if id_ in ours:
                value = value_row(
                    published.relations.place,
                    id_,
                    f"{row.relation}: {label}",
                    ours[id_],
                    _published(theirs, id_),
                    published,
                )
                yield value | {"remark": _join(value["remark"], differs[row.relation])}
    for system in ("best_head", "best_offset", *(row.probe for row in published.probes.rows)):
        id_ = f"probe.{system}"
        if id_ in ours:
            yield value_row(published.probes.place, id_, SYSTEMS[system], ours[id_], _published(theirs, id_), published)


def coreference_values(ours: Quantities, theirs: Quantities, published: Clark2019) -> Iterator[dict]:
    """The systems of Table 2 for all mentions and by type; of the best head, for each reading of its candidates."""
    place = published.coreference.place
    for mentions in (ALL, *MENTIONS):
        for system in (*_BASELINES, *_UNPUBLISHED):
            id_ = f"coreference.{system}.{mentions}"
            if id_ in ours:
                label = f"{SYSTEMS.get(system, _UNPUBLISHED.get(system))}, {mentions} mentions"
                number = _published(theirs, f"antecedents.{system}.{mentions}")
                yield value_row(place, id_, label, ours[id_], number, published)
        for candidates in CANDIDATES:
            id_ = f"coreference.best_head.{candidates}.{mentions}"
            if id_ in ours:
                label = f"best head {READINGS[candidates]}, {mentions} mentions"
                number = _published(theirs, f"antecedents.best_head.{candidates}.{mentions}")
                yield value_row(place, id_, label, ours[id_], number, published)


def _published(theirs: Quantities, name: str) -> float | None:
    return theirs[name].value if name in theirs else None


def _join(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))
