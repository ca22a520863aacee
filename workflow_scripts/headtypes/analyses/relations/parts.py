"""The parts of a treebank that are evaluated: choices are made on one and scored on the other."""

from headtypes.core.files import StrPath
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import read_records


def read_parts(file: StrPath, test: StrPath | None) -> dict[str, list[Sentence]]:
    """The sentences of `file` and, where there is such a part, of `test`, as `records.write_records` wrote them."""
    paths = {"file": file} | ({"test": test} if test else {})
    return {name: read_records(path, Sentence) for name, path in paths.items()}
