"""The files of a deposit: results that may be given away, what made them, and the workflow that did."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import StrPath
from headtypes.deposit.contents import declared
from headtypes.papers.claims import join
from headtypes.planning.config.schema import Config
from headtypes.planning.provenance import RESULTS, beside, folder_of_records, is_shard, recorded
from headtypes.planning.tools.audit import Finding
from headtypes.planning.tools.history import given
from headtypes.planning.tools.jobs import Job

# What the workflow consists of; its config.yaml is replaced by that of the experiment.
_CODE = (
    *("Snakefile", "rules", "workflow_scripts", "commands", "profiles", "schemas", "reference", "report", "envs"),
    *("pyproject.toml", "README.md", "LICENSE", "CITATION.cff"),
)

# A string in JSON or YAML that is an absolute path.
_ABSOLUTE = re.compile(r"""(?:"|: '?|- '?)((?:/[\w.@+-]+){2,})""")


@dataclass(frozen=True)
class Part:
    """A file of a deposit.

    path:   in the deposit.
    source: the file that is copied, or the text that is written.
    about:  what it is, in words.
    sha256: of a result, what its record says; None for other files.
    record: of a result, the path of its record in the deposit.
    """

    path: str
    source: Path | str
    about: str
    sha256: str | None = None
    record: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """A result that is not given away, by its path in the deposit that it would have, and why."""

    path: str
    sha256: str
    why: str


@dataclass(frozen=True)
class Made:
    """What the records of all results say together.

    commits:  number of results by commit, the most frequent first; None where there was no repository.
    packages: versions by package, several where results were made with several; python likewise.
    sources:  what identifies each model and data set: {models/…, tasks/…, training/… or test/…: {key: value}}.
    ended:    when the last record was written, to the second, in UTC.
    """

    commits: dict[str | None, int]
    packages: dict[str, list[str]]
    python: list[str]
    sources: dict[str, dict]
    ended: datetime


def check_complete(jobs: Iterable[Job], findings: Sequence[Finding]) -> list[str]:
    """Raise `InputError` where a result of the jobs is missing, or is not as it should be.

    findings: of the audit. returns the other files that it found, which belong to no job.
    """
    results = {path for job in jobs for path in job.outputs}
    wrong = [finding for finding in findings if finding.path in results]
    if wrong:
        counts = Counter(finding.state for finding in wrong)
        raise InputError(
            f"Of {len(results)} results, {join(f'{count} are {state}' for state, count in counts.items())}, so nothing "
            f"was written. The first is {wrong[0].path}: {shortened(wrong[0].why)}. Run snakemake with the same "
            "configuration, then this again; commands/audit.py lists all of them."
        )
    return [finding.path for finding in findings]


def results_of(jobs: Iterable[Job], private: bool = False) -> tuple[list[Part], list[LeftOut]]:
    """The results that are given away, with the times and records of all, and those that are not, in order of path.

    private: whether nothing is left out.
    """
    parts, left_out = [], []
    for job in jobs:
        for path in job.outputs:
            if is_shard(path):
                continue
            record, name, result = recorded(path), _inside(path, job.results), declared(job.stage, path)
            of = ", ".join(job.wildcards.values())
            about = f"{result.about}{f' ({of})' if of else ''}"
            if result.withheld and not private:
                left_out.append(LeftOut(name, record["sha256"], result.withheld))
            elif Path(path).is_dir():
                files = sorted(file for file in Path(path).rglob("[!.]*") if file.is_file())
                parts += [Part(_inside(file, job.results), file, f"part of {about}") for file in files]
            else:
                parts.append(Part(name, Path(path), about, record["sha256"], _inside(beside(path), job.results)))
            parts.append(Part(_inside(beside(path), job.results), beside(path), f"what made {name}"))
        if job.benchmark is not None and Path(job.benchmark).is_file():
            name = _inside(job.benchmark, job.results)
            parts.append(Part(name, Path(job.benchmark), f"time and memory of {job.stage}"))
    return sorted(parts, key=lambda part: part.path), sorted(left_out, key=lambda it: it.path)


def made_by(jobs: Iterable[Job]) -> Made:
    """What the records of all results say together."""
    paths = [path for job in jobs for path in job.outputs if not is_shard(path)]
    records = [recorded(path) for path in paths]
    packages: dict[str, set[str]] = {}
    for record in records:
        for name, version in record["packages"].items():
            packages.setdefault(name, set()).update([version] if version else [])
    last = max(int(beside(path).stat().st_mtime) for path in paths)
    sources = {name: source for record in records for name, source in record["sources"].items()}
    return Made(
        commits=dict(Counter(record["git"] for record in records).most_common()),
        packages={name: sorted(versions) for name, versions in sorted(packages.items()) if versions},
        python=sorted({record["python"] for record in records}),
        sources=dict(sorted(sources.items())),
        ended=datetime.fromtimestamp(last, UTC),
    )


def workflow_parts(root: Path, config: Config, configfile: str) -> Iterator[Part]:
    """The workflow, with the configuration of the experiment in place of the demo's, so that it runs as it stands."""
    about = "the configuration of the experiment, as it was resolved"
    yield Part(f"workflow/{configfile}", config_text(config), about)
    for name in _CODE:
        files = sorted((root / name).rglob("*")) if (root / name).is_dir() else [root / name]
        for file in files:
            parts = file.relative_to(root).parts
            if file.is_file() and "__pycache__" not in parts and not any(part.startswith(".") for part in parts):
                yield Part(f"workflow/{'/'.join(parts)}", file, "part of the workflow")


def code_parts_of(jobs: Sequence[Job]) -> Iterator[Part]:
    """Which modules and versions the digests of the jobs' code are made of."""
    folder = jobs[0].results
    for digest in sorted({job.code for job in jobs}):
        file = folder_of_records(folder) / "code" / f"{digest}.json"
        if file.is_file():
            yield Part(_inside(file, folder), file, "the modules and versions that a digest of code is made of")


def paths_of_machine(parts: Iterable[Part]) -> list[tuple[str, str]]:
    """Where a deposit names absolute paths, which may hold a user's name: the file in the deposit, and the path."""
    found = []
    for part in parts:
        # A record names the inputs of a job, which are the user's own, too.
        text = part.source if isinstance(part.source, str) else ""
        if part.path.startswith(f"{RESULTS}/") and part.path.endswith(".json"):
            text = Path(part.source).read_text(encoding="utf-8")
        if path := _ABSOLUTE.search(text):
            found.append((part.path, path[1]))
    return found


def config_text(config: Config) -> str:
    """A configuration as YAML, from which it is read again."""
    return yaml.safe_dump(given(config), sort_keys=False, allow_unicode=True, width=120)


def left_out_text(left_out: Iterable[LeftOut]) -> str:
    """The results that are not given away, as CSV, so that one who makes them again can compare."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("path", "why", "sha256"))
    table.writerows((it.path, it.why, it.sha256) for it in left_out)
    return text.getvalue()


def _inside(path: StrPath, results: Path) -> str:
    return (RESULTS / Path(path).relative_to(results)).as_posix()
