"""Documents with mentions in the layout of CoNLL-2012, as OntoNotes and LitBank have it."""

import re
from collections.abc import Iterator

from headtypes.data.conllu import Line, check_words, malformed, numbered_lines
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence, DocumentBuilder

_BEGIN = re.compile(r"#begin document \((.*)\); part ([0-9]{1,9})")
_END = "#end document"
_WORD, _XPOS, _PARSE, _SPEAKER = 3, 4, 5, 9
# Up to the speaker, and the last one, with the mentions; between these, a column for each predicate.
_LEAST_COLUMNS = 11
_SEPARATOR = re.compile("[ \t]+")
_PARSE_BIT = re.compile(r"((?:\([^()*]+)*)\*(\)*)")
_NONE = ("-", "_")


def read_conll2012(path: str) -> Iterator[AnnotatedDocument | None]:
    """The documents of a file, one for each part, named `NAME/PART`; None for one without mentions.

    Raises `InputError` with file and line of what is malformed.
    """
    builder, begun, number = None, 0, 0
    lines: list[Line] = []
    for number, text in numbered_lines(path):
        line = text.strip()
        if builder is None and line:
            match = _BEGIN.fullmatch(line)
            if match is None:
                raise malformed(path, number, "a document begins with '#begin document (NAME); part NUMBER'")
            builder, begun = DocumentBuilder(f"{match[1]}/{int(match[2])}", path, number), number
        elif line and not line.startswith("#"):
            lines.append(_columns(text, path, number))
        elif builder is not None:
            if lines:
                _end_sentence(builder, lines, path)
                lines = []
            if line == _END:
                yield builder.finish()
                builder = None
            elif line:
                raise malformed(path, number, f"the document of line {begun} has not ended ({_END})")
    if builder is not None:
        raise malformed(path, number, f"the document of line {begun} has not ended ({_END})")


def _columns(text: str, path: str, number: int) -> Line:
    columns = _SEPARATOR.split(text.strip(" \t"))
    if len(columns) < _LEAST_COLUMNS:
        raise malformed(path, number, f"{len(columns)} columns; CoNLL-2012 has {_LEAST_COLUMNS} or more")
    return Line(number, columns)


def _end_sentence(builder: DocumentBuilder, lines: list[Line], path: str) -> None:
    for index, (number, columns) in enumerate(lines):
        for mark in columns[-1].split("|") if columns[-1] not in _NONE else ():
            builder.mark(mark, number, index, index)
    words = tuple(columns[_WORD] for _, columns in lines)
    check_words(words, path, lines[0].number)
    xpos, speakers = (
        tuple("" if columns[column] in _NONE else columns[column] for _, columns in lines)
        for column in (_XPOS, _SPEAKER)
    )
    nothing = ("",) * len(words)
    builder.end_sentence(
        AnnotatedSentence(
            words=words,
            heads=None,
            relations=None,
            upos=nothing,
            xpos=xpos,
            numbers=nothing,
            parse=_parse(lines, path),
            speakers=speakers,
        )
    )


def _parse(lines: list[Line], path: str) -> tuple[str, ...] | None:
    """The bits of a sentence's parse, checked; None if no word has one."""
    bits = tuple(columns[_PARSE] for _, columns in lines)
    if all(bit in _NONE for bit in bits):
        return None
    depth = 0
    for (number, _), bit in zip(lines, bits, strict=True):
        match = _PARSE_BIT.fullmatch(bit)
        if match is None:
            raise malformed(path, number, f"the parse bit {bit!r} cannot be read; it is such as (S(NP* or *))")
        depth += match[1].count("(") - len(match[2])
        if (depth == 0) != (number == lines[-1].number) or depth < 0:
            raise malformed(path, number, "the brackets of the parse do not end with the sentence")
    return bits
