"""Documents with mentions in CoNLL-U: the key `Entity` of MISC, as in the corpora of CorefUD."""

import re
from collections.abc import Iterator
from pathlib import Path

from headtypes.data import conllu
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence, DocumentBuilder

# A mention with several fields of which the first is not a number, as the id of an entity is.
_UNNUMBERED = re.compile(r"\((?![A-Za-z]?[0-9]+[\[-])[^()]*-")
_NEWDOC = re.compile(r"newdoc(?:\s+id\s*=\s*(.*))?")


def read_conllu(path: str) -> Iterator[AnnotatedDocument | None]:
    """The documents of a file: each begins at `# newdoc`; without any, the file is one. None for one without mentions.

    Without an id, a document is named by the file and, from the second on, its number. `InputError` names file and
    line.
    """
    builder, number, declared = None, 0, False
    for block in conllu.read_blocks(path):
        begins = _beginning(block)
        if builder is None or begins is not None:
            if builder is not None:
                yield builder.finish()
            number += 1
            line, name = begins or (block.words[0].number, None)
            builder = DocumentBuilder(name or _name(path, number), path, line)
        conllu.check_words(conllu.forms(block), path, block.words[0].number)
        declared = _has_fields(block, path) or declared
        nodes = [(line, index, index) for index, line in enumerate(block.words)]
        nodes += [(line, before, before - 1) for before, line in block.empty]
        for line, start, end in sorted(nodes):
            _mark(builder, line, start, end, declared, path)
        builder.end_sentence(_sentence(block, path))
    if builder is not None:
        yield builder.finish()


def _name(path: str, number: int) -> str:
    return Path(path).stem if number == 1 else f"{Path(path).stem}-{number}"


def _beginning(block: conllu.Block) -> tuple[int, str | None] | None:
    for line, comment in block.comments:
        if match := _NEWDOC.fullmatch(comment):
            return line, match[1]
    return None


def _has_fields(block: conllu.Block, path: str) -> bool:
    """Whether fields of entities are declared here; `InputError` if the first is not the id: entities would be few."""
    fields = conllu.value_of(block, "global.Entity")
    if fields is not None and fields[1].split("-")[0] not in ("GRP", "eid"):
        raise conllu.malformed(
            path, fields[0], f"the first field of an entity is not its id (GRP or eid), but {fields[1]!r}"
        )
    return fields is not None


def _mark(builder: DocumentBuilder, line: conllu.Line, start: int, end: int, declared: bool, path: str) -> None:
    for item in line.columns[conllu.MISC].split("|"):
        key, _, value = item.partition("=")
        if key == "Entity":
            if not declared and _UNNUMBERED.search(value):
                problem = f"in {value!r} the id of an entity cannot be told; declare its fields: # global.Entity"
                raise conllu.malformed(path, line.number, problem)
            builder.mark(value, line.number, start, end)


def _sentence(block: conllu.Block, path: str) -> AnnotatedSentence:
    annotated = any(columns[conllu.HEAD] != "_" for _, columns in block.words)
    heads, relations = conllu.tree_of(block, path) if annotated else (None, None)
    speaker = conllu.value_of(block, "speaker")
    return AnnotatedSentence(
        words=conllu.forms(block),
        heads=heads,
        relations=relations,
        upos=conllu.filled_in(block, conllu.UPOS),
        xpos=conllu.filled_in(block, conllu.XPOS),
        numbers=tuple(_number(columns[conllu.FEATS]) for _, columns in block.words),
        parse=None,
        speakers=(speaker[1] if speaker else "",) * len(block.words),
    )


def _number(feats: str) -> str:
    return next((item.removeprefix("Number=") for item in feats.split("|") if item.startswith("Number=")), "")
