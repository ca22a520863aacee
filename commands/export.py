"""Copy results into a folder that can be given away with a paper: tables, figures, config and records of provenance.

python commands/export.py --author "Family, Given" --license CC-BY-4.0 [--title TITLE] [--output FOLDER]
    [--configfile FILE ...] [--directory FOLDER]

Weights and texts stay out. The folder gets a card (README.md) and metadata for machines (an RO-Crate). Results that
are stale or damaged are refused (commands/audit.py names them), and so is a folder that is not empty.
"""

import argparse
import io
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.model.person import Person
from rocrate.rocrate import ROCrate

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow_scripts")]

from commands.audit import Audit, on_disk
from headtypes.core.errors import InputError
from headtypes.core.stage import Result
from headtypes.planning.config import laid_over, mistakes_in
from headtypes.planning.plan import RESULTS as DECLARED
from headtypes.planning.plan import Plan, plan_of
from headtypes.planning.provenance import beside, recorded

UNDECIDED = "results of which nobody has said whether they hold text of a corpus"


def export(plan: Plan, output: Path, authors: Iterable[str], license: str, title: str) -> dict[str, str]:
    """Write a folder with the results of the working directory, their records, and a description of the whole.

    output: the folder, which must not exist or be empty. authors: names as "Family, Given".
    license: SPDX identifier or address of the licence. title: heading of the description.
    Returns {path of each result that was left out: reason}. Raises `InputError` if the folder is not empty, or a result
    is stale or damaged.
    """
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output} is not empty; name another folder with --output, or delete it.")
    findings = {finding.path: finding for finding in Audit(plan).findings()}
    wrong = [finding for finding in findings.values() if finding.state in ("stale", "damaged")]
    if wrong:
        raise InputError(f"{wrong[0].path} is {wrong[0].state}: {wrong[0].why}; run snakemake, then this again.")
    records = {path: recorded(path) for path in sorted({*on_disk()} - findings.keys())}
    crate, files, left_out = ROCrate(), [], {}
    for path, record in records.items():
        found = (result for result in DECLARED if result.rule == record["rule"] and result.has(path))
        result = next(found, Result(path, record["rule"], path, withheld=UNDECIDED))
        of = crate.add_file(beside(path), str(beside(path)), properties={"name": f"what made {path}"})
        if result.withheld:
            left_out[path] = result.withheld
            continue
        inside = (
            [Path(path)] if Path(path).is_file() else [file for file in Path(path).rglob("[!.]*") if file.is_file()]
        )
        for file in inside:
            about = {
                "name": str(file),
                "description": f"{result.about} {' '.join(record['wildcards'].values())}".strip(),
            }
            files.append(crate.add_file(file, str(file), properties={**about, "subjectOf": {"@id": of.id}}))
    config = yaml.safe_dump(
        plan.config.model_dump(mode="json", exclude_unset=True), sort_keys=False, allow_unicode=True
    )
    crate.add_file(io.StringIO(config), "config.yaml", properties={"name": "the configuration"})
    card = "\n".join(_card(title, authors, license, list(records.values()), left_out)) + "\n"
    crate.add_file(io.StringIO(card), "README.md", properties={"name": "what this is", "about": {"@id": "./"}})
    _describe(crate, files, title, authors, license, list(records.values()))
    crate.write(output)
    return left_out


def _describe(crate: ROCrate, files: list, title: str, authors: Iterable[str], license: str, records: list) -> None:
    """Add to an RO-Crate who made the results, with what software, and from which models and data.

    crate: description of the exported folder. files: entities of the crate, one for each exported file of a result.
    title, authors, license: as `export` takes them. records: provenance records of the results.
    """
    crate.name, crate.description = title, "Results of the workflow headtypes; README.md says what is here."
    url = license if "://" in license else f"https://spdx.org/licenses/{license}"
    crate.root_dataset["license"] = crate.add(ContextEntity(crate, url, {"@type": "CreativeWork", "name": license}))
    crate.root_dataset["datePublished"] = date.today().isoformat()
    crate.root_dataset["author"] = [
        crate.add(Person(crate, f"#author-{number}", {"name": name})) for number, name in enumerate(authors, start=1)
    ]
    about = {"@type": "SoftwareApplication", "name": "headtypes", "version": ", ".join(_said(records, "git"))}
    software = crate.add(ContextEntity(crate, "#headtypes", about))
    read = [
        crate.add(ContextEntity(crate, f"#{name}", {"@type": "CreativeWork", "name": name, "description": text}))
        for name, text in _sources(records).items()
    ]
    run = crate.add_action(software, "#run", object=read, result=files, properties={"name": "Run of headtypes"})
    crate.root_dataset["mentions"] = run


def _card(title: str, authors: Iterable[str], license: str, records: list, left_out: dict[str, str]) -> Iterator[str]:
    yield f"# {title}\n\n{'; '.join(authors)}. Licence: {license}.\n"
    yield (
        "Results of the workflow headtypes: where the attention heads of Transformer models look, which types of heads "
        "there are, and what a model loses without a type. `results` is laid out as the workflow writes it; "
        "`results/provenance` has a record of what made each file, and its SHA-256. With `config.yaml` laid over "
        "`experiments/without_demo.yaml`, the workflow makes everything again.\n"
    )
    yield f"- Commit of the workflow: {', '.join(_said(records, 'git'))}"
    yield f"- Python {', '.join(_said(records, 'python'))}"
    packages = {" ".join(item) for record in records for item in record["packages"].items() if item[1]}
    yield f"- Packages: {', '.join(sorted(packages))}"
    yield from (f"- {name}: {text}" for name, text in _sources(records).items())
    if left_out:
        counts = ", ".join(f"{why} ({number})" for why, number in sorted(Counter(left_out.values()).items()))
        yield f"\nLeft out, though recorded in `results/provenance`: {counts}."


def _said(records: list[dict[str, Any]], key: str) -> list[str]:
    return [str(value or "unknown") for value, _ in Counter(record[key] for record in records).most_common()]


def _sources(records: list[dict[str, Any]]) -> dict[str, str]:
    """Return {name of a model or data set: phrase that identifies its source} from provenance records of results."""
    found = {name: source for record in records for name, source in record["sources"].items()}
    return {name: ", ".join(f"{key} {value}" for key, value in about.items()) for name, about in sorted(found.items())}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--author", action="append", required=True, help="Family, Given")
    parser.add_argument("--license", required=True, help="of the results: an SPDX identifier, or an address")
    parser.add_argument("--title", default="Types of attention heads")
    parser.add_argument("--output", type=Path, default=Path("export"), help="the folder; by default export")
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], action="extend", help="laid over config.yaml")
    parser.add_argument("--directory", type=Path, default=Path(), help="where the results are")
    asked = parser.parse_args(arguments)
    layers, output = [ROOT / "config.yaml", *(file.resolve() for file in asked.configfile)], asked.output.resolve()
    os.chdir(asked.directory)
    left_out = export(plan_of(laid_over(layers)), output, asked.author, asked.license, asked.title)
    print(f"{output}: {len(left_out)} results with weights or texts were left out.")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit("\n".join(mistakes_in(str(error))))
