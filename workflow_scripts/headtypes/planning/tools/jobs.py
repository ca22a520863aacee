"""A job of the plan, and how it differs from the job that made the results on disk."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import read_json
from headtypes.planning.code.digest import code_parts
from headtypes.planning.code.running import code_file
from headtypes.planning.provenance import results_folder


@dataclass(frozen=True)
class Job:
    """A job of the plan.

    spec, code: its two parameters, as Snakemake has them.
    script:     file of its code.
    inputs, outputs: paths as Snakemake has them; named: the inputs by the names that the rule gives them, and by key
        where there are many of a kind.
    benchmark: where its time is written, if anywhere; gpu: whether it takes a GPU; mem_mb: the memory that it asks for,
        where that is known.
    runs, reasons: whether Snakemake would run it now, and Snakemake's words for why; newer: the inputs that are newer
        than its results.
    """

    rule: str
    """Name of the rule; where another workflow uses this one as a module, the name that the rule has there."""
    wildcards: dict[str, str]
    spec: str
    code: str
    script: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    benchmark: str | None = None
    threads: int = 1
    runs: bool = False
    reasons: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    named: Mapping[str, tuple[str, ...] | Mapping[Any, str]] = field(default_factory=dict)
    gpu: bool = False
    mem_mb: int | None = None
    of: str | None = None
    """Name of the rule in this workflow; None where it is that of its script."""

    @property
    def stage(self) -> str:
        """Name of the rule in this workflow."""
        return self.of or self.script.stem

    @property
    def results(self) -> Path:
        """The folder of the results."""
        return results_folder(self.outputs[0])


def changes(job: Job, record: dict, code: dict | None = None) -> list[str]:
    """How a job differs from the one that made a result, in words; empty where it does not.

    record: the result's record of provenance (`provenance.recorded`).
    code:   what the digest of its code is made of, where that is not among the results.
    """
    if (record["rule"], record["wildcards"]) != (job.rule, job.wildcards):
        return [f"made by {shortened(record['rule'])}, not by {job.rule}"]
    return spec_changes(json.loads(job.spec), record["spec"]) + code_changes(job, record["code"], code)


def spec_changes(now: dict, then: dict) -> list[str]:
    """The values of two specs that differ: "clustering k: 4, now 5"."""
    return [f"{' '.join(path)}: {_shown(a)}, now {_shown(b)}" for path, a, b in differing(then, now)]


def code_changes(job: Job, then: str, old: dict | None = None) -> list[str]:
    """The definitions and packages that differ from those of an earlier digest; old: what it is made of, if known."""
    if then == job.code:
        return []
    parts, path = code_parts(job.script), code_file(job.results, then)
    with suppress(InputError):
        old = read_json(path) if old is None and path.is_file() else old
    # What is said to have made it may have been edited, and is not what the digest is of.
    if not isinstance(old, dict) or old == parts:
        return ["its code has changed"]
    changed = [name for name in old if name in parts and old[name] != parts[name]]
    # What an edit begins or ceases to use follows from what it changes.
    changed = changed or [name for name in {**old, **parts} if (name in old) != (name in parts)]
    return [_code_change(name, old.get(name, "absent"), parts.get(name, "no longer used")) for name in changed]


def _code_change(name: str, then: str, now: str) -> str:
    module, is_code, part = name.partition(":")
    return f"{module}: {part} has changed" if is_code else f"{name} {_shown(then)}, now {now}"


def differing(then: Any, now: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The leaves in which two nested mappings differ: (keys, value then, value now); None where there is none."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in {**then, **now}:
            yield from differing(then.get(key), now.get(key), (*path, key))
    elif then != now:
        yield path, then, now


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
    return text if len(text) <= 60 else f"{text[:60]}…"
