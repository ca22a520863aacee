"""The page of all results: what it shows, read from the results on disk."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, StrictUndefined
from PIL import Image

from headtypes.analyses.ablation.intervals import read_differences
from headtypes.analyses.company.costs import costly_heads
from headtypes.analyses.company.results import read_costs, read_fit, read_labels
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.comparisons.models import read_pairs
from headtypes.core.files import StrPath, read_each, read_json, undamaged, write_text
from headtypes.core.table_files import read_csv
from headtypes.pages.rendering import SIGNS, counted, relative, render
from headtypes.pages.stage import BEST, COMPARED_TYPES
from headtypes.pages.summary import findings
from headtypes.pages.summary.overview import Best, best_heads, data_uri, left_out_alone, overview
from headtypes.papers.claims import join
from headtypes.papers.comparison import COLUMNS, NAMED, read_named
from headtypes.papers.paper import Figure
from headtypes.papers.registry import PAPERS

_FINDINGS = 10
_COMPARED = [name for name in COLUMNS if name not in ("p", "p_holm", "over")]
# Of a figure in the page: pixels, twice the width that is shown, and colours, so many that no eye sees a loss.
_WIDTH, _COLOURS = 1400, 128
# In the order of the cards, what is not known unless the answer is among these; "not k" does not say how many.
_SETTLES = {
    "whether there are types": {findings.YES, findings.NO},
    "how many there are": {findings.YES},
    "whether single heads matter": {findings.YES, findings.NO},
}
_ELSEWHERE = "what another model would give"
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def _picture(png: StrPath) -> dict[str, Any]:
    with undamaged(png, "is not a PNG"), Image.open(png) as image:
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
        if flat.width > _WIDTH:
            flat = flat.resize((_WIDTH, round(flat.height * _WIDTH / flat.width)), Image.Resampling.LANCZOS)
        data = data_uri(flat.quantize(_COLOURS, dither=Image.Dither.NONE))
    return {"data": data, "width": flat.width, "height": flat.height}


def caption_of(path: StrPath, wildcards: dict[str, str]) -> list[str]:
    """Return a caption's paragraphs as plain text. path: file in `report/`. wildcards: values to fill in, by name."""
    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(Path(path).read_text("utf-8"))
    text = template.render(snakemake={"wildcards": wildcards})
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return [re.sub(r"\*+([^*]+)\*+", r"\1", " ".join(paragraph.split())) for paragraph in paragraphs]


def collect_summary(
    inputs: Mapping[str, Any], spec: Mapping[str, Any], page: StrPath, provenance: dict
) -> dict[str, Any]:
    """Return the values of all names in the template of the page of results.

    inputs: the result of `inputs_of_summary`, and two lists of paths: `captions` of the figures' captions, and
        `references` of the papers' published data.
    spec: the result of `write_summary`. page: path of the page; links are relative to its folder.
    provenance: record of the code, versions and sources of the run. Raises `InputError` that names a damaged file.
    """
    folder, models = Path(page).parent, spec["models"]
    types = read_each(read_partition, inputs["partition"])
    costs = {number: read_named(path, "partition", "condition") for (number,), path in inputs["ablations"].items()}
    best = {model: list(_best(inputs, model)) for model in models}
    answers = [_answers(inputs, types, costs, [*chain(*best[of["model"]])], folder, of) for of in spec["partitions"]]
    answers.sort(key=lambda answer: -answer["measured"])
    by_stem = {Path(path).stem: path for path in inputs["captions"]}

    def pictures(of: Iterable[Figure]) -> Iterator[dict[str, Any]]:
        for figure in of:
            for number, (key, png) in enumerate(inputs[figure.name].items()):
                caption = caption_of(by_stem[figure.caption], dict(zip(figure.of, key, strict=True)))
                about = {"title": f"{figure.title}: {', '.join(key)}", "file": relative(png, folder, ".pdf")}
                yield {**about, "caption": [] if number else caption[:1], **_picture(png)}

    published = {Path(path).stem: yaml.safe_load(Path(path).read_text("utf-8")) for path in inputs["references"]}
    papers, said = [], [*(answers[0]["sentences"] if answers else ())]
    if answers:
        said += [findings.kept_sentence(read_pairs(path), answers[0]["model"]) for path in inputs["compared"].values()]
    for name, paper in PAPERS.items():
        judged = []
        if path := inputs["comparisons"].get(name):
            columns = ["model", paper.subject, *_COMPARED]
            compared = read_csv(path, "compares nothing with a paper", columns, rows=0, **NAMED)
            judged = findings.judged_subjects(compared, paper.subject, relative(path, folder))
        headline = sum(subject.model == judged[0].model for subject in judged) if paper.judges_tasks else 1
        papers.append(
            {
                "id": name,
                "short": paper.authors,
                "name": f"{paper.authors} {paper.title}",
                "url": published[name]["url"] if name in published else "",
                "judged": judged,
                # The number of these, from the first, that are shown in full; the page only links to the rest.
                "headline": headline,
                "tables": [
                    shown.in_brief(relative(path, folder))
                    for declared in paper.tables
                    for key, path in inputs[declared.name].items()
                    for shown in declared.shown(path, *key)
                ],
                "pictures": list(pictures(paper.figures)),
            }
        )
        said += [paper.finding(subject.values, subject.model) for subject in judged[:headline]]
    for model, found in best.items():
        said += [findings.best_sentence(model, one) for of_task in found for one in of_task[:1]]
    doubtful = {", ".join(key): partition.doubtful for key, partition in types.items() if partition.doubtful}
    theirs = [paper["model"] for paper in published.values()]
    judged = [subject for paper in papers for subject in paper["judged"]]
    return {
        "title": f"The attention heads of {models[0] if len(models) == 1 else f'{len(models)} models'}",
        "run": _run(**spec),
        "answers": answers,
        "best": {model: [*chain(*of)] for model, of in best.items() if of and model not in {key[0] for key in types}},
        "cautions": list(findings.cautions(judged, doubtful, theirs, spec["hubs"], spec["finetuned"])),
        "findings": list(filter(None, said))[:_FINDINGS],
        "papers": [paper for paper in papers if paper["judged"] or paper["tables"] or paper["pictures"]],
        "apart": list(pictures([COMPARED_TYPES])),
        "ledger": bool(inputs["comparisons"]),
        "atlases": [(model, f"atlas/{model}.html") for model in spec["atlases"]],
        "files": [
            *((about, [relative(file, folder) for file in files]) for about, files in spec["untyped"].items()),
            *_files(inputs, folder),
        ],
        "made": list(facts(provenance, folder, spec["seed"])),
        "signs": SIGNS,
        "counted": counted,
    }


def page_of(values: Mapping[str, Any], provenance: Mapping) -> str:
    scripts = ["tables.js", "summary/page.js"]
    return render("summary/page.html", values, provenance, styles=["summary/page.css"], scripts=scripts)


def _run(models: list[str], tasks: list[str], partitions: list[dict], tested: list[str], **_: Any) -> str:
    if not tasks:
        return f"{join(models)} on random tokens."
    by_norms = sum(partition["features"].get("of") == "norms" for partition in partitions)
    norms = f" ({by_norms} by norms)" if by_norms else ""
    times = "once" if len(partitions) == 1 else f"{len(partitions)} times"
    divided = f"; heads divided into types {times}{norms}" if partitions else ""
    beside = f" On random tokens alone: {join(tested)}." if tested else ""
    return f"{join(models)} on {join(tasks)}{divided}.{beside}"


def _answers(
    inputs: Mapping[str, Any],
    types: Mapping[tuple[str, str], Partition],
    costs: Mapping[str, pd.DataFrame],
    best: list[Best],
    folder: Path,
    of: Mapping[str, Any],
) -> dict[str, Any]:
    model, partition, k, features, results = (of[name] for name in ("model", "partition", "k", "features", "results"))
    key, heads = (model, partition), types[model, partition]
    stability = None if k is None else read_json(inputs["stability"][key])
    clustered = [] if k is None else [relative(inputs["stability"][key], folder)]
    figures = [(about, path) for about, paths in results.items() for path in paths if path.endswith(".png")]
    tables = {about: [path for path in paths if not path.endswith(".png")] for about, paths in results.items()}
    left_out, said = left_out_alone(costs["2"], *key, heads.types) if "2" in costs else None, []
    if key in inputs["differences"]:
        said += findings.costs_sentences(left_out, model, read_differences(inputs["differences"][key]))
    if "3" in costs:
        said.append(findings.sentences_sentence(costs["3"], *key, heads.types))
    company, measured = _company(inputs, model, folder)
    costly = [] if company is None else costly_heads(company[0])[["layer", "head"]].to_numpy().tolist()
    cards = [
        findings.types_card(heads, stability, clustered),
        findings.number_card(k, stability and stability["chosen"], clustered),
        findings.matter_card(model, partition, heads, company, left_out, measured),
    ]
    asked = zip(_SETTLES.items(), cards, strict=True)
    features_of, maps = inputs["features"][key], inputs["attention"][key]
    return {
        "model": model,
        "partition": partition,
        "name": f"{model}, {partition}{', by norms' if features.get('of') == 'norms' else ''}",
        "overview": overview(heads, features_of, maps, features, left_out, costly, best),
        "cards": cards,
        "measured": sum(card.answer != findings.UNMEASURED for card in cards),
        "unknown": join([*(question for (question, settled), card in asked if card.answer not in settled), _ELSEWHERE]),
        "sentences": list(filter(None, said)),
        "figures": {about: (relative(png, folder), relative(png, folder, ".pdf")) for about, png in figures},
        "files": {about: [relative(path, folder) for path in paths] for about, paths in tables.items() if paths},
    }


def _company(inputs: Mapping[str, Any], model: str, folder: Path) -> tuple[tuple | None, list[str]]:
    key = next((key for key in inputs["costs"] if key[0] == model), None)
    if key is None:
        return None, []
    costs, fit, labels = files = [inputs[name][key] for name in ("costs", "fit", "labels")]
    return (read_costs(costs), read_fit(fit), read_labels(labels)), [relative(path, folder) for path in files]


def _best(inputs: Mapping[str, Any], model: str) -> Iterator[list[Best]]:
    for analysis in BEST:
        first, *others = (inputs[f"best_{file.name}"] for file in analysis.files)
        for key, path in first.items():
            if key[0] == model:
                yield best_heads(key[1], analysis.best(key[1], path, *(paths[key] for paths in others)))


def _files(inputs: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, list[str]]]:
    named = {
        "Values and claims of the papers beside ours": ["comparisons"],
        **{f"Tables of {paper.authors}": [tables.name for tables in paper.tables] for paper in PAPERS.values()},
        "Types of heads": ["partition"],
        "Types beside random heads": ["compared_types"],
    }
    for about, names in named.items():
        if files := [relative(path, folder) for name in names for path in inputs[name].values()]:
            yield about, files
    if inputs["comparisons"]:
        yield "How often each claim holds", ["ledger.html", "ledger.claims.csv"]
    yield "All tables and figures (snakemake --report)", ["report.html"]
    yield "The configuration, and what made each result", ["provenance/config.json", "provenance/"]


def facts(provenance: dict, results: Path, seed: int) -> Iterator[tuple[str, list[str]]]:
    for kind, name in (("models", "Models"), ("tasks", "Data"), ("training", "Training data")):
        if lines := [
            f"{source.partition('/')[2]}: {_identity(about)}"
            for source, about in provenance["sources"].items()
            if source.startswith(f"{kind}/")
        ]:
            yield name, lines
    yield "Seed", [str(seed)]
    yield "Code", [provenance["git"] or "not from a repository"]
    versions = [f"{name} {version}" for name in _PACKAGES if (version := provenance["packages"].get(name))]
    yield "Versions", [f"Python {provenance['python']}", *versions]
    # A job that ended before it could be looked at has no time.
    seconds = {
        file.relative_to(results).as_posix(): pd.to_numeric(pd.read_table(file)["cpu_time"], errors="coerce").sum()
        for file in sorted(results.rglob("*benchmark.tsv"))
    }
    if seconds:
        times = pd.Series(seconds, dtype=float)
        named = ", ".join(
            f"{path.removesuffix('benchmark.tsv').rstrip('./')} {duration(seconds)}"
            for path, seconds in times.nlargest(3).items()
        )
        jobs = "job" if len(times) == 1 else "jobs"
        yield "Processor time", [f"{duration(times.sum())} in {len(times)} {jobs}; longest: {named}"]


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _identity(about: dict) -> str:
    where = next((str(about[key]) for key in ("hub", "package") if about.get(key)), "local files")
    revision = f" at {str(about['revision'])[:12]}" if about.get("revision") else ""
    digests = [*dict(about.get("weights") or {}).values(), about.get("sha256")]
    digest = next((f", sha256 {str(known)[:12]}" for known in digests if known), "")
    return f"{where}{revision}{digest}"


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    values = collect_summary(dict(inputs.items()), spec, outputs.page, provenance)
    write_text(outputs.page, page_of(values, provenance))
