"""Facts on how results were made: models, data, code, versions and time."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

# Packages that results depend on most, in the order in which they are listed.
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def facts(provenance: dict, results: Path, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield facts about a run, each a name and lines; results: the folder with the benchmarks of jobs."""
    for kind, name in (("models", "Models"), ("tasks", "Data"), ("training", "Training data")):
        if lines := [
            f"{source.partition('/')[2]}: {_identity(about)}"
            for source, about in provenance["sources"].items()
            if source.startswith(f"{kind}/")
        ]:
            yield name, lines
    yield "Seed", [str(seed)]
    yield "Code", [provenance["git"] or "not from a repository"]
    packages = provenance["packages"]
    versions = [f"{name} {packages[name]}" for name in _PACKAGES if packages.get(name)]
    yield "Versions", [f"Python {provenance['python']}", *versions]
    times = processor_time(results)
    if len(times):
        longest = times.nlargest(3)
        named = ", ".join(f"{_job(path)} {duration(seconds)}" for path, seconds in longest.items())
        yield (
            "Processor time",
            [f"{duration(times.sum())} in {len(times)} {'job' if len(times) == 1 else 'jobs'}; longest: {named}"],
        )


def processor_time(results: Path) -> pd.Series:
    """Return seconds of processor time of each job that has a benchmark, by the benchmark's path."""
    times = {
        file.relative_to(results).as_posix(): pd.read_csv(file, sep="\t")["cpu_time"]
        for file in sorted(results.rglob("*benchmark.tsv"))
    }
    # A job that ended before it could be looked at has no time.
    return pd.Series({file: pd.to_numeric(of, errors="coerce").sum() for file, of in times.items()}, dtype=float)


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _job(path: str) -> str:
    return path.removesuffix("benchmark.tsv").rstrip("./")


def _identity(about: dict) -> str:
    where = next((str(about[key]) for key in ("hub", "package") if about.get(key)), "local files")
    revision = f" at {str(about['revision'])[:12]}" if about.get("revision") else ""
    digests = [*dict(about.get("weights") or {}).values(), about.get("sha256")]
    digest = next((f", sha256 {str(known)[:12]}" for known in digests if known), "")
    return f"{where}{revision}{digest}"
