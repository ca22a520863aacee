"""The comparison with Clark et al. 2019: verdicts on its claims, and published values next to ours."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import pandas as pd

from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.analyses.relations.accuracy import ALL
from headtypes.core.tables import markdown_table
from headtypes.papers import comparison
from headtypes.papers.claims import THIRDS, Quantities, join
from headtypes.papers.clark2019.claims.language import (
    Documents,
    Trees,
    collect_language,
    of_coreference,
    of_probes,
    of_relations,
    published_language,
)
from headtypes.papers.clark2019.claims.statistics import LABELS
from headtypes.papers.clark2019.claims.texts import Heads, collect_texts, of_layers, of_surface, published_quantities
from headtypes.papers.clark2019.published import MENTIONS, READINGS, SYSTEMS, Clark2019, SurfaceValue
from headtypes.papers.paper import TASK_KEYS, Compared, Found, Key

CLAIMS = (*of_surface, *of_relations, *of_coreference, *of_probes, *of_layers)
# Classes of quantities: of texts, of treebanks, and of documents with coreference.
_KINDS: tuple[type[Quantities], ...] = (Heads, Trees, Documents)
_UNITS = [f"n_{kind.over}" for kind in _KINDS]
COLUMNS = [*TASK_KEYS, *comparison.COLUMNS, *_UNITS]

_UNPUBLISHED = {"chance": "chance", "nearest_other": "nearest, mentions that follow included"}


def compare_files(found: Found, published: Clark2019, *, beside: Collection[str], **judging: Any) -> Compared:
    quantities = collect_texts(found, published) | collect_language(found, published)
    table = compare_with_clark(quantities, beside, published, **judging)
    return Compared(comparison.tidy_table(quantities, TASK_KEYS), table, comparison_page(table, published))


def compare_with_clark(
    quantities: Mapping[Key, Quantities], beside: Collection[str], published: Clark2019, **judging: Any
) -> pd.DataFrame:
    theirs = dict(zip(_KINDS, (published_quantities(published), *published_language(published)), strict=True))
    claims = {kind: [claim for claim in CLAIMS if claim.about == kind.about] for kind in _KINDS}
    subjects = []
    for model in dict.fromkeys(model for model, _ in quantities):
        of_model = {key: ours for key, ours in quantities.items() if key[0] == model}
        for key, ours in of_model.items():
            kind = type(ours)
            unit, (_, values) = f"n_{kind.over}", _OF_KIND[kind]
            names = dict(zip(TASK_KEYS, key, strict=True)) | {unit: ours[unit].value}
            rows = values(ours, theirs[kind] if model in beside else Quantities({}), published)
            if model not in beside:
                # A remark is about a published value. Rows are read after the claims, whose quantities they have, too.
                rows = ({**row, "remark": ""} for row in rows)
            subjects.append(comparison.Subject(names, claims[kind], ours, theirs[kind], rows))
        for kind in (kind for kind in _KINDS if kind not in map(type, of_model.values())):
            nothing = kind({}, otherwise=_OF_KIND[kind][0], published=published)
            subjects.append(comparison.Subject({"model": model, "task": ""}, claims[kind], nothing, theirs[kind]))
    return comparison.comparison_table(subjects, COLUMNS, **judging).astype(dict.fromkeys(_UNITS, float))


def comparison_page(table: pd.DataFrame, published: Clark2019) -> str:
    broad = next(rule for rule in published.behaviours if rule.name == "broad")
    data = published.data
    introduction = [
        f"Published: {published.paper}. Its values are for {published.model}, on {data.segments} (texts), on "
        f"the {data.treebank.source} (treebanks) and on {data.coreference} (coreference). Published values stand next "
        "to those of models that name them in the config. The claims are judged for every model.",
        comparison.HOW_CLAIMS_ARE_JUDGED,
        "Intervals are over segments, sentences or documents. The interval of layers-alike is the value minus the 2.5 "
        "and 97.5 % quantiles of permutations of the layers. Gradients and counts of heads have no intervals.",
        "Shares of attention are between 0 and 1. A head is broad if its entropy is above "
        f"{broad.above / broad.uniform:.2f} of that of uniform attention; in the released notebook, this is "
        f"{broad.above:g} nats.",
    ]
    places = table.loc[table["kind"] != "claim", "place"].drop_duplicates()
    tables = [name for name in ("Table 1", "Table 2", "Table 3") if places.str.endswith(name).any()]
    if tables:
        links = ", ".join(f"[{name}]({name.lower().replace(' ', '')}.md)" for name in tables)
        introduction.append(
            "Accuracies are in percent. Claims are judged on heads and offsets that were chosen on other sentences or "
            "documents than those they are scored on. The values below are chosen and scored on the same ones, as in "
            f"the paper: {links}."
        )
    title = "Beside Clark et al. 2019"
    return comparison.comparison_page(title, introduction, table, TASK_KEYS, CLAIMS, published, _UNITS, _section)


def _section(rows: pd.DataFrame) -> Iterator[str]:
    by_layer = rows[rows["id"].str.partition(".")[0].isin(["layer", "third"]) & (rows["kind"] == "figure")]
    yield from comparison.subject_parts(rows.drop(index=by_layer.index))
    yield from _layer_parts(by_layer)


def _text_values(ours: Quantities, theirs: Quantities, published: Clark2019) -> Iterator[dict]:
    beside = bool(theirs.by_name)
    for value in published.surface:
        name, label = _counterpart(value)
        if name in ours:
            number = value.value if value.heads is None else value.heads
            yield comparison.value_row(value.place, value.id, label, ours[name], number if beside else None)
    for name, label in (("within", "heads of one layer"), ("between", "heads of two layers")):
        if f"divergence.{name}" in ours:
            id_, quantity = f"divergence.{name}", f"mean divergence of {label} (nats a row)"
            yield comparison.value_row("section 6", id_, quantity, ours[id_])
    place = published.digitised.place if beside else "sections 3.1 to 3.3"
    quantity = "entropy of uniform attention (nats)"
    yield comparison.value_row(place, "uniform", quantity, ours["uniform"], _published(theirs, "uniform"))
    yield from _layer_values(ours, theirs, place, published)
    yield from _sink_values(ours)


def _counterpart(value: SurfaceValue) -> tuple[str, str]:
    label = LABELS[value.statistic]
    if value.heads is not None:
        return f"heads.{value.statistic}.above_{value.above:g}", f"heads with {label} above {value.above:g}"
    if value.id == "broad.peak":
        return "behaviour.broad.peak", f"{label}, mean over broad heads (printed: at most {value.below:g})"
    limit = value.wording or (f"above {value.above:g}" if value.above is not None else "")
    printed = f" (printed: {limit})" if limit else ""
    if not value.layers:
        return f"third.{value.statistic}.middle", f"{label}, middle third of layers{printed}"
    where = f"layer {value.layers[0]}" if len(value.layers) == 1 else f"layers {join(map(str, value.layers))}"
    return f"surface.{value.id}", f"{label} in {where}{printed}"


def _layer_values(ours: Quantities, theirs: Quantities, place: str, published: Clark2019) -> Iterator[dict]:
    for statistic, label in LABELS.items():
        # Gradients are in units of a loss; only their ratios can be compared.
        if statistic.startswith("gradient."):
            continue
        layers = ours.of_kind(f"layer.{statistic}")
        if len(layers) == published.layers or len(layers) < len(THIRDS):
            names = {f"layer.{statistic}.{layer}": f"{label}, layer {layer}" for layer in layers}
        else:
            names = {f"third.{statistic}.{third}": f"{label}, {third} third of layers" for third in THIRDS}
        for name, quantity in names.items():
            number = _published(theirs, name) if statistic in published.digitised.by_layer else None
            yield comparison.value_row(place, name, quantity, ours[name], number)


def _sink_values(ours: Quantities) -> Iterator[dict]:
    place = "beside the paper: where other models look"
    for name in ours.of_kind("sink"):
        layer, _, kind = name.partition(".")
        label = f"{LABELS[kind]}, in layer {layer} the kind of token with the most"
        yield comparison.value_row(place, f"sink.{layer}", label, ours[f"sink.{name}"])
        ratio = f"layer.gradient_ratio.{kind}.{layer}"
        if ratio in ours:
            label = f"{LABELS[f'gradient_ratio.{kind}']}, layer {layer}"
            yield comparison.value_row(place, f"sink_gradient.{layer}", label, ours[ratio])


def _layer_parts(rows: pd.DataFrame) -> Iterator[str]:
    if rows.empty:
        return
    thirds = rows["id"].str.startswith("third.").any()
    yield "### Means by thirds of the layers" if thirds else "### Means by layer"
    names = rows["id"].str.extract(r"^\w+\.(?P<statistic>.+)\.(?P<where>\w+)$")
    lines = []
    for statistic, some in rows.groupby(names["statistic"], sort=False):
        where = names.loc[some.index, "where"]
        known = [who for who in ("ours", "published") if some[who].notna().any()]
        shown = [{"": who, **dict(zip(where, some[who], strict=True))} for who in known]
        lines += [{"statistic": LABELS[statistic], **line} for line in shown]
    yield markdown_table(pd.DataFrame(lines))


def _treebank_values(ours: Quantities, theirs: Quantities, published: Clark2019) -> Iterator[dict]:
    for row in published.relations.rows:
        for statistic, label in (("accuracy", "best head"), ("baseline", "best offset")):
            id_ = f"relation.{row.relation}.{statistic}"
            if id_ in ours:
                number = _published(theirs, id_)
                place, said = published.relations.place, f"{row.relation}: {label}"
                remark = "; ".join(filter(None, [published.remarks(id_), row.differs]))
                yield comparison.value_row(place, id_, said, ours[id_], number) | {"remark": remark}
    for system in ("best_head", "best_offset", *(row.probe for row in published.probes.rows)):
        id_ = f"probe.{system}"
        if id_ in ours:
            yield comparison.value_row(published.probes.place, id_, SYSTEMS[system], ours[id_], _published(theirs, id_))


def _coreference_values(ours: Quantities, theirs: Quantities, published: Clark2019) -> Iterator[dict]:
    systems = {name: SYSTEMS[name] for name in ("nearest", "head_match", "rules")} | _UNPUBLISHED
    systems |= {f"best_head.{candidates}": f"best head {READINGS[candidates]}" for candidates in CANDIDATES}
    for mentions in (ALL, *MENTIONS):
        for system, label in systems.items():
            id_, number = f"coreference.{system}.{mentions}", _published(theirs, f"antecedents.{system}.{mentions}")
            if id_ in ours:
                said = f"{label}, {mentions} mentions"
                yield comparison.value_row(published.coreference.place, id_, said, ours[id_], number)


def _published(theirs: Quantities, name: str) -> float | None:
    return theirs[name].value if name in theirs else None


# {class: (why a model has no quantities of it, rows of values)}.
_OF_KIND: dict[type[Quantities], tuple[str, Callable[[Quantities, Quantities, Clark2019], Iterator[dict]]]] = {
    Heads: ("the model reads no text", _text_values),
    Trees: ("the model reads no treebank", _treebank_values),
    Documents: ("the model reads no documents with mentions", _coreference_values),
}
