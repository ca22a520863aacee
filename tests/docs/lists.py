"""The lists of results and of rules in docs/lookup/outputs.md, from what is declared; `make docs` writes them."""

import re
import sys
from pathlib import Path

from headtypes.planning.plan import RESULTS, STAGES

_TABLE = re.compile(r"^## (.*)\n(?:(?!## )(?!\| file).*\n)*?(\| file \| rule \| content \|\n(?:\|.*\n)+)", re.MULTILINE)
_RUNS, _READS = re.compile(r"(?<=^Run a model: ).*$", re.MULTILINE), re.compile(r"(?<=^Read texts: ).*$", re.MULTILINE)


def with_lists(page: str) -> str:
    """The page with a row for every result, and lists of rules; `ValueError` if a result's heading has no table."""
    sections = {result.section for result in RESULTS if result.content}
    if missing := sections - {match[1] for match in _TABLE.finditer(page)}:
        raise ValueError(f"no table stands under {missing}")
    for match in reversed([*_TABLE.finditer(page)]):
        if match[1] in sections:
            page = page[: match.start(2)] + _table(match[1]) + page[match.end(2) :]
    runs = [name for name, stage in STAGES.items() if stage.runs_model]
    page = _RUNS.sub(_names(runs), page)
    return _READS.sub(_names(name for name, stage in STAGES.items() if stage.reads), page)


def _table(section: str) -> str:
    rows = ["| file | rule | content |", "| --- | --- | --- |"]
    for result in RESULTS:
        if result.content and result.section == section:
            rules = dict.fromkeys(other.rule for other in RESULTS if other.path == result.path)
            rows.append(f"| `{result.path}` | {', '.join(f'`{rule}`' for rule in rules)} | {result.content} |")
    return "\n".join(rows) + "\n"


def _names(rules) -> str:
    return ", ".join(f"`{rule}`" for rule in sorted(rules)) + "."


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_lists(file.read_text(encoding="utf-8")), encoding="utf-8")
