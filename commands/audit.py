"""Are the results on disk those of the configuration? Compares the disk, the config and the records of provenance.

python commands/audit.py [--remove | --accept] [--configfile FILE ...] [--directory FOLDER]

It needs nothing that Snakemake remembers. It ends with 1 if it finds anything; --remove removes stale and damaged ones.
--accept says that the code that changed since would give the same results: their records say that this was accepted and
not computed, and Snakemake (--touch) runs none of them again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# Folders of the workflow's own files that jobs read: captions, the papers' values, and the parts of pages.
OF_WORKFLOW = ("report", "reference", "workflow_scripts/headtypes/pages")
sys.path.insert(0, str(ROOT / "workflow_scripts"))

from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json, sha256_path, write_json
from headtypes.planning.code import code_hash, loaded_modules
from headtypes.planning.config import laid_over, mistakes_in
from headtypes.planning.plan import STAGES, Plan, files_of, plan_of
from headtypes.planning.provenance import RESULTS, beside, folder_of_records, recorded, results_folder, wrong_weights


class Finding(NamedTuple):
    """A result that is not as it should be, with its state and the reason.

    state: missing; foreign (without a record, or of another configuration); damaged (changed since it was made); or
        stale (made with another spec or code, or from other inputs).
    why: the reason, in words.
    """

    path: str
    state: str
    why: str


class Audit:
    """An object that judges each result in the folder `results` of the working directory; it reads a file once."""

    def __init__(self, plan: Plan, accepts: bool = False):
        """Prepare to judge results by a plan; accepts: whether results are fine if their code alone has changed."""
        self.plan, self.state, self._sha256 = plan, cache(self._state), cache(sha256_path)
        self._accepts, self._wrong = accepts, wrong_weights(plan)
        self.accepted: dict[str, str] = {}
        """The hash of the code by each result of which this alone has changed."""

    def findings(self) -> list[Finding]:
        """Return the results that are missing, foreign, damaged or stale, sorted by path."""
        found = {path: self.state(path) for path in sorted({*files_of(self.plan), *on_disk()})}
        return [Finding(path, *judged) for path, judged in found.items() if judged]

    def _state(self, path: str) -> tuple[str, str] | None:
        if not (Path(path).is_file() or Path(path).is_dir()):
            return "missing", "it is not there"
        try:
            record = recorded(path)
        except InputError:
            return "damaged", f"the record of what made it, {beside(path)}, is damaged"
        if record is None:
            return "foreign", "there is no record of what made it"
        if self._sha256(path) != record["sha256"]:
            return "damaged", "it has changed since it was made"
        try:
            stage = STAGES[record["rule"]]
            spec = json.loads(canonical_json(stage.spec(self.plan, **record["wildcards"])))
        except (KeyError, TypeError):
            return "foreign", "it belongs to another configuration"
        hashed = code_hash(loaded_modules(stage.calls, spec))
        is_other = hashed not in (record["code"], record.get("accepted"))
        code = ["its code has changed"] if is_other and not self._accepts else []
        why = [*_changes(record["spec"], spec), *code, *self._changed_inputs(record["inputs"])]
        why += [self._wrong[path]] if path in self._wrong else []
        if is_other and not why:
            self.accepted[path] = hashed
        told = why if len(why) <= 4 else [*why[:3], f"and {len(why) - 3} more"]
        return ("stale", "; ".join(told)) if why else None

    def _changed_inputs(self, inputs: dict[str, str]) -> Iterator[str]:
        for path, digest in inputs.items():
            if results_folder(path) != RESULTS:
                # They may lie in another place on this machine, so they are compared by content.
                if digest not in self._from_elsewhere:
                    yield f"the contents of {path} have changed, or it is not there"
            elif judged := self.state(path):
                yield f"{path} is {judged[0]}"
            elif self._sha256(path) != digest:
                yield f"it was made from another version of {path}"

    @cached_property
    def _from_elsewhere(self) -> set[str]:
        """The SHA-256 of every file that the configuration names, and of the workflow's own files that jobs read."""
        plan, config = self.plan, self.plan.config
        named = [file for folder in OF_WORKFLOW for file in (ROOT / folder).rglob("*")] + [*plan.vector_files()]
        named += [file for model in config.models for file in plan.model_files(model)]
        for key in ("file", "training_file", "test_file"):
            named += [file for task in config.tasks for file in plan.task_files(task, key)]
        named += [partition.file for partition in config.partitions.values()]
        return {self._sha256(file) for file in named if Path(file).is_file()}


def on_disk() -> Iterator[str]:
    """Yield the path of every result in the folder of results, without records, benchmarks and the report."""
    for path in filter(Path.is_file, RESULTS.rglob("*")):
        aside = path.is_relative_to(folder_of_records(RESULTS)) or path == RESULTS / "report.html"
        if not aside and not path.name.endswith("benchmark.tsv"):
            # A result may be a folder.
            whole = reversed((path, *path.parents))
            made = (each for each in whole if results_folder(each) and beside(each).is_file())
            yield str(next(made, path))


def _changes(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield the values in which two specs of a result differ, in words, such as "k: 4, now 5".

    then, now: the specs, as nested dicts; path: keys that lead to both.
    """
    if isinstance(then, dict) and isinstance(now, dict):
        for key in {**then, **now}:
            yield from _changes(then.get(key), now.get(key), f"{path} {key}".strip())
    elif then != now:
        yield f"{path}: {json.dumps(then)[:60]}, now {json.dumps(now)[:60]}"


def main(arguments: list[str]) -> int:
    """Print every result that is not as it should be; return 1, the exit status, if there is any, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], action="extend", help="laid over config.yaml")
    parser.add_argument("--directory", type=Path, default=Path(), help="where the results are")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--remove", action="store_true", help="remove stale and damaged results")
    either.add_argument("--accept", action="store_true", help="say that changed code gives the same results")
    asked = parser.parse_args(arguments)
    files = [file.resolve() for file in asked.configfile]
    os.chdir(asked.directory)
    audit = Audit(plan_of(laid_over([ROOT / "config.yaml", *files])), asked.accept)
    findings = audit.findings()
    if audit.accepted and any(state in ("stale", "damaged") for _, state, _ in findings):
        print("Nothing is accepted, since these differ by more than their code: remove them (--remove), or run.")
    elif audit.accepted:
        command = ["-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--cores", "1", "--quiet", "rules", "--touch"]
        command += ["--configfile", *files] if files else []
        touched = subprocess.run([sys.executable, *command], capture_output=True, text=True)
        if touched.returncode:
            sys.exit(f"{touched.stderr}Nothing is accepted, since Snakemake did not end well.")
        for path, code in audit.accepted.items():
            # What computed it stays in the record.
            write_json(beside(path), {**recorded(path), "accepted": code})
        print(f"Accepted: {len(audit.accepted)} results of which the code alone has changed.")
    for path, state, why in findings:
        print(f"{state:8} {path}: {why}")
        if asked.remove and state in ("stale", "damaged"):
            if Path(path).is_dir() and not Path(path).is_symlink():
                shutil.rmtree(path)
            for file in (path, beside(path)):
                Path(file).unlink(missing_ok=True)
    counts = Counter(state for _, state, _ in findings).items()
    print(", ".join(f"{count} {state}" for state, count in counts) or "All results are as they should be.")
    return int(bool(findings))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (InputError, OSError) as error:
        sys.exit("\n".join(mistakes_in(str(error))))
