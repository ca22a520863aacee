"""The files of results that an atlas is made of."""

from collections.abc import Iterator, Mapping, Sequence

from headtypes.analyses.declaration import Analysis
from headtypes.core.files import StrPath

# For each kind of result, the names (tasks or partitions) and files of those that there are.
Found = Mapping[str, Sequence[tuple[str, StrPath]]]


def of_each_task(analysis: Analysis, found: Found) -> Iterator[tuple]:
    """Each task of which there are all files that an analysis is read from, with their paths."""
    by_task = [dict(found.get(file.name, ())) for file in analysis.files]
    for task in by_task[0] if by_task else ():
        if all(task in paths for paths in by_task):
            yield task, *(paths[task] for paths in by_task)
