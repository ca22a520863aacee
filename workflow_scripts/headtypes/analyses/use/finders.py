"""What heads find, from the guesses that are stored of a treebank or of documents."""

from headtypes.analyses.coreference.guesses import read_antecedents
from headtypes.analyses.relations.guesses import read_arcs
from headtypes.analyses.relations.parts import read_parts
from headtypes.analyses.use.antecedents import find_antecedents
from headtypes.analyses.use.found import Found, Texts, find_heads
from headtypes.core.files import StrPath
from headtypes.data.kinds.coreference.kind import Coreference
from headtypes.data.kinds.registry import read_rows


def read_found(
    rows: StrPath, test: StrPath | None, guesses: StrPath, *, kind: str, least: int, **listed
) -> tuple[list[Found], Texts]:
    """The best heads and the texts of their words: of `antecedents.find_antecedents`, or of `found.find_heads`.

    rows, test: those of the task and, of a treebank, of its test file; guesses: of heads at these; kind: of the task.
    listed: further arguments of `find_heads`.
    """
    if kind == Coreference.name:
        return find_antecedents(read_rows(rows, kind), read_antecedents(guesses), least=least)
    return find_heads(read_parts(rows, test), read_arcs(guesses), least=least, **listed)
