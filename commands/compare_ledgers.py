"""What differs between two ledgers? Prints the changed verdicts and values as Markdown.

python commands/compare_ledgers.py OLD.csv NEW.csv

Each is a `results/ledger.csv`, or one of them a copy that was kept. The exit status is 1 where the verdict of a cell
that is in both changed, before or after correction, and 2 where a file is no ledger, so that a test can ask whether
another version of this workflow, of a package or of a model judges otherwise.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow_scripts"))

from headtypes.core.errors import InputError
from headtypes.papers.ledger.difference import changed_verdicts, difference_page
from headtypes.papers.ledger.table import read_ledger


def main(arguments: list[str]) -> int:
    """Print the difference; return the exit status."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    if len(arguments) != 2:
        print("Give two files: python commands/compare_ledgers.py OLD.csv NEW.csv", file=sys.stderr)
        return 2
    try:
        old, new = map(read_ledger, arguments)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(difference_page(old, new))
    return int(not changed_verdicts(old, new).empty)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
