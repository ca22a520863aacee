"""Which results does nobody ask for any more after an edit? Lists them; --remove removes them.

python commands/unused.py [--remove] [--configfile FILE ...] [--config KEY=VALUE ...] [--directory FOLDER]

They are files that this workflow has made in the folder of results and that no job of the configuration makes: those of
the configuration before the edit, of another one that has its results in the same folder, and what a stopped run left.
Results of the configuration, also stale ones, and files that somebody else has put there stay.
"""

import argparse
import sys

from planning import ending_with_its_pipe, planned

from headtypes.planning.tools.audit import remove_unused, unused


def main(arguments: list[str]) -> None:
    """Print the files with their sizes, and remove them if this is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remove", action="store_true")
    # No targets: what they leave out is asked for all the same.
    parser.add_argument("--configfile", nargs="+", default=[], action="extend")
    parser.add_argument("--config", nargs="+", default=[], action="extend")
    parser.add_argument("--directory")
    asked = vars(parser.parse_args(arguments))
    remove = asked.pop("remove")
    given = {f"--{name}": [values] if isinstance(values, str) else values for name, values in asked.items() if values}
    found = unused(planned([word for name, values in given.items() for word in (name, *values)]).jobs)
    sizes = [path.stat().st_size for path in found]
    for path, size in zip(found, sizes, strict=True):
        print(f"{size / 1e6:8.1f} MB  {path}")
    if remove:
        remove_unused(found)
    print(f"{len(found):,} files, {sum(sizes) / 1e6:,.1f} MB{', removed' if remove and found else ''}.")


if __name__ == "__main__":
    ending_with_its_pipe()
    main(sys.argv[1:])
