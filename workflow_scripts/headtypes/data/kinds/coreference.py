"""Coreference as a kind of task: rows are documents with mentions of entities, of which none are drawn."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.data import conllu
from headtypes.data.conllu import malformed
from headtypes.data.tasks import Kind, Rows, StrictRecord


@dataclass(frozen=True, slots=True)
class Mention(StrictRecord):
    """A mention of an entity: the words `start` to `end`, both included, counted from 0 in the document."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class AnnotatedSentence(StrictRecord):
    """A sentence of a document with mentions of entities; a tuple has one entry for each word.

    heads: number in the sentence of each word's head in the dependency tree, from 1; 0 for the root; None without tree.
    relations: relation of each word to its head; None without a tree.
    upos, xpos: universal and language-specific part of speech (CoNLL-2012 has xpos alone); "" if missing.
    numbers: the feature Number (`Sing`, `Plur`, ...); "" for a word without it.
    parse: each word's part of a bracketed parse, such as `(NP*`; None without a parse.
    speakers: the speaker of each word; "" if unknown.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...] | None
    relations: tuple[str, ...] | None
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    numbers: tuple[str, ...]
    parse: tuple[str, ...] | None
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedDocument(StrictRecord):
    """A document with the mentions of all entities that are mentioned twice or more.

    mentions: sorted by first word; among mentions with the same first word, the longer one comes first.
    left_out: number of mentions that are not one span of words, and are missing from `mentions`.
    """

    id: str
    sentences: tuple[AnnotatedSentence, ...]
    mentions: tuple[Mention, ...]
    left_out: int

    @property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence.words]


class Coreference(Kind):
    """The kind of task whose rows are documents with coreferent mentions.

    Heads guess which mentions corefer, and the guesses are scored (Clark et al. 2019, section 4.3).
    """

    name = "coreference"
    row = AnnotatedDocument
    title = "coreference"
    form = "files"
    formats = "CoNLL-U or CoNLL-2012"
    keys = ("max_seq_length",)
    source_keys = ("folder",)

    def rows_of_file(self, data, where, key, columns):
        read = [document for file in data for document in _read(file)]
        with_mentions = [document for document in read if document is not None]
        if not with_mentions:
            raise InputError(f"{where} has no document with a mention; give files in which mentions are marked.")
        return Rows(with_mentions, {"documents without mentions": len(read) - len(with_mentions)})


def _read(file: str) -> Iterator[AnnotatedDocument | None]:
    suffix = Path(file).suffix.lower()
    if suffix == ".conllu":
        return read_conllu(file)
    # OntoNotes' own files end in .v4_gold_conll.
    if suffix.endswith("conll"):
        return read_conll2012(file)
    ending = suffix or "no suffix"
    raise InputError(f"{file}: coreference is read from .conllu (CoNLL-U) or .conll (CoNLL-2012); found {ending}.")


_MARK = re.compile(r"(\()?([^()]+)(\))?")
# In CoNLL-U, an entity's id, which of several spans this is, and further fields; in CoNLL-2012, the id alone.
_ENTITY = re.compile(r"([^\[\]-]+)(\[[0-9]+/[0-9]+\])?(-.*)?")
_ID_ALONE = re.compile("(.+)()")


class _DocumentBuilder:
    """A document to which sentences and mentions are added while its file is read.

    path, line: file, and number of the line, from 1, at which the document begins, for messages.
    entity: pattern of the text that names an entity. The pattern's first two groups are the entity's id and, for a
        mention of several spans, which of the spans this is, such as `[1/2]`.
    """

    def __init__(self, id_: str, path: str, line: int, entity: re.Pattern):
        self.id, self._entity = id_, entity
        self._path, self._line = path, line
        self._sentences: list[AnnotatedSentence] = []
        self._mentions: set[Mention] = set()
        # By entity and piece: the line and the word at which each open mention begins.
        self._open: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        self._words, self._left_out, self._marked = 0, 0, False

    def mark(self, marks: str, line: int, start: int, end: int) -> None:
        """Open and close mentions at a word of the sentence that is being read.

        marks: brackets with ids of entities, such as `(1(2)` or `3)4)`; line: number of their line, for messages.
        start, end: index of the word in its sentence; for an empty node, indices of the next and of the previous word.
        """
        brackets = list(_MARK.finditer(marks))
        if "".join(match[0] for match in brackets) != marks or not all(match[1] or match[3] for match in brackets):
            raise malformed(self._path, line, f"the brackets of {marks!r} cannot be read")
        for match in brackets:
            entity = self._entity.fullmatch(match[2])
            if entity is None:
                raise malformed(self._path, line, f"{match[2]!r} does not begin with the id of an entity")
            key = entity[1], entity[2] or ""
            if match[1]:
                self._open[key].append((line, self._words + start))
            if match[3]:
                self._close(key, line, self._words + end)
        self._marked = True

    def _close(self, key: tuple[str, str], line: int, end: int) -> None:
        name, part = key
        if not self._open[key]:
            problem = f"a mention of the entity {name}{part} is closed that is not open in this sentence"
            raise malformed(self._path, line, problem)
        _, start = self._open[key].pop()
        if not part and start <= end:
            self._mentions.add(Mention(start, end, name))
        elif not part or part.startswith("[1/"):
            self._left_out += 1

    def end_sentence(self, sentence: AnnotatedSentence) -> None:
        for (name, part), openings in self._open.items():
            if openings:
                problem = f"the mention of the entity {name}{part} that opens here is not closed in its sentence"
                raise malformed(self._path, openings[-1][0], problem)
        self._sentences.append(sentence)
        self._words += len(sentence.words)

    def finish(self) -> AnnotatedDocument | None:
        """Return the document, with the mentions of entities that have two or more; None if no mention is marked."""
        if not self._sentences:
            raise malformed(self._path, self._line, f"the document {self.id} that begins here has no words")
        if not self._marked:
            return None
        often = Counter(mention.entity for mention in self._mentions)
        coreferent = [mention for mention in self._mentions if often[mention.entity] > 1]
        coreferent.sort(key=lambda mention: (mention.start, -mention.end, mention.entity))
        return AnnotatedDocument(self.id, tuple(self._sentences), tuple(coreferent), self._left_out)


# CoNLL-U: the key `Entity` of MISC, as in the corpora of CorefUD.

# Fields of a mention where none are declared: an id that is a number, and what is none.
_NUMBERED = re.compile(r"[A-Za-z]?[0-9]+(\[[0-9/]+\])?-[^0-9].*")


def read_conllu(path: str) -> Iterator[AnnotatedDocument | None]:
    """Yield the documents of a CoNLL-U file, each of which begins at `# newdoc`; None for a document without mentions.

    A file without `# newdoc` is one document. A document without an id has the name of the file and, from the second
    document on, its number.
    """
    builder, number, declared = None, 0, 0
    for block in conllu.read_blocks(path):
        begins = block.comments.get("newdoc id", block.comments.get("newdoc"))
        if builder is None or begins:
            if builder is not None:
                yield builder.finish()
            number += 1
            line, name = begins or (block.words[0].number, "")
            of_file = Path(path).stem if number == 1 else f"{Path(path).stem}-{number}"
            builder = _DocumentBuilder(name or of_file, path, line, _ENTITY)
        declared = _number_of_fields(block, path) or declared
        nodes = [(line, index, index) for index, line in enumerate(block.words)]
        nodes += [(line, before, before - 1) for before, line in block.empty]
        for line, start, end in sorted(nodes):
            _mark(builder, line, start, end, declared, path)
        builder.end_sentence(_sentence(block, path))
    if builder is not None:
        yield builder.finish()


def _number_of_fields(block: conllu.SentenceLines, path: str) -> int:
    if "global.Entity" not in block.comments:
        return 0
    line, declared = block.comments["global.Entity"]
    fields = declared.split("-")
    if fields[0] not in ("GRP", "eid"):
        raise malformed(path, line, f"the first field of an entity is not its id (GRP or eid), but {declared!r}")
    return len(fields)


def _pairs(column: str) -> list[tuple[str, str]]:
    return [item.partition("=")[::2] for item in column.split("|")]


def _mark(builder: _DocumentBuilder, line: conllu.Line, start: int, end: int, declared: int, path: str) -> None:
    for key, value in _pairs(line.columns[conllu.MISC]):
        if key == "Entity":
            for opens, mark, _ in _MARK.findall(value):
                # What ends a mention is an id alone.
                most = declared if opens and declared else 1
                told = mark.count("-") < most or (opens and not declared and _NUMBERED.fullmatch(mark))
                if not told:
                    advice = "write ids without a hyphen, and no more fields than are declared (# global.Entity)"
                    raise malformed(path, line.number, f"the id of the entity {mark!r} cannot be told; {advice}")
            builder.mark(value, line.number, start, end)


def _sentence(block: conllu.SentenceLines, path: str) -> AnnotatedSentence:
    annotated = any(columns[conllu.HEAD] != "_" for _, columns in block.words)
    heads, relations = conllu.tree_of(block, path) if annotated else (None, None)
    _, speaker = block.comments.get("speaker", (None, ""))
    return AnnotatedSentence(
        words=conllu.word_forms(block),
        heads=heads,
        relations=relations,
        upos=conllu.column_values(block, conllu.UPOS),
        xpos=conllu.column_values(block, conllu.XPOS),
        numbers=tuple(dict(_pairs(columns[conllu.FEATS])).get("Number", "") for _, columns in block.words),
        parse=None,
        speakers=(speaker,) * len(block.words),
    )


# The layout of CoNLL-2012, as OntoNotes and LitBank have it.

_BEGIN = re.compile(r"#begin document \((.*)\); part ([0-9]{1,9})")
_END = "#end document"
_WORD, _XPOS, _PARSE, _SPEAKER = 3, 4, 5, 9
# Up to the speaker, and the last one, with the mentions; between these, a column for each predicate.
_LEAST_COLUMNS = 11
_SEPARATOR = re.compile("[ \t]+")
_PARSE_BIT = re.compile(r"((?:\([^()*]+)*)\*(\)*)")
_NONE = ("-", "_")


def read_conll2012(path: str) -> Iterator[AnnotatedDocument | None]:
    """Yield the documents of a CoNLL-2012 file, one for each part, with the id `NAME/PART`; None without mentions."""
    builder, begun, number = None, 0, 0
    lines: list[conllu.Line] = []
    for number, text in conllu.numbered_lines(path):
        line = text.strip()
        if builder is None and line:
            match = _BEGIN.fullmatch(line)
            if match is None:
                raise malformed(path, number, "a document begins with '#begin document (NAME); part NUMBER'")
            builder, begun = _DocumentBuilder(f"{match[1]}/{int(match[2])}", path, number, _ID_ALONE), number
        elif line and not line.startswith("#"):
            columns = _SEPARATOR.split(text.strip(" \t"))
            if len(columns) < _LEAST_COLUMNS:
                raise malformed(path, number, f"{len(columns)} columns; CoNLL-2012 has {_LEAST_COLUMNS} or more")
            lines.append(conllu.Line(number, columns))
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


def _end_sentence(builder: _DocumentBuilder, lines: list[conllu.Line], path: str) -> None:
    for index, (number, columns) in enumerate(lines):
        for mark in columns[-1].split("|") if columns[-1] not in _NONE else ():
            builder.mark(mark, number, index, index)
    words = tuple(columns[_WORD] for _, columns in lines)
    conllu.check_words(words, path, lines[0].number)
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


def _parse(lines: list[conllu.Line], path: str) -> tuple[str, ...] | None:
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
