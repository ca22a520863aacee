"""Coreference as a kind of task: rows are documents with mentions of entities, of which none are drawn."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.data.kinds import treebank
from headtypes.data.kinds.treebank import malformed
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
    relations: relation of each word to its head in the tree; None without a tree.
    upos, xpos: universal and language-specific part of speech (CoNLL-2012 has xpos alone); "" if missing.
    numbers: the feature Number (`Sing`, `Plur`, ...); "" for a word without it. speakers: name of each word's speaker.
    parse: each word's part of a bracketed parse, such as `(NP*`; None without a parse.
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
    """A document; `mentions` has those of all entities mentioned twice or more, in the order of their first words.

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
    """The kind whose rows are documents; attention heads guess which mentions corefer (Clark et al. 2019, 4.3)."""

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


def _read(file: str) -> list[AnnotatedDocument | None]:
    # Without mentions, a document is None.
    suffix = Path(file).suffix.lower()
    if suffix == ".conllu":
        return _read_conllu(file)
    # OntoNotes' own files end in .v4_gold_conll.
    if suffix.endswith("conll"):
        return _read_conll2012(file)
    ending = suffix or "no suffix"
    raise InputError(f"{file}: coreference is read from .conllu (CoNLL-U) or .conll (CoNLL-2012); found {ending}.")


# For each word of a sentence with brackets such as `(1(2)` or `3)4)`: the number of its line, its index in the sentence
# twice, and the brackets. The indices of an empty node are those of the next and of the previous word.
_Marks = list[tuple[int, int, int, str]]
_MARK = re.compile(r"(\()?([^()]+)(\))?")
# In CoNLL-U, an entity's id, which of several spans this is (`[1/2]`), and further fields; in CoNLL-2012, the id alone.
_ENTITY = re.compile(r"([^\[\]-]+)(\[[0-9]+/[0-9]+\])?(-.*)?")
_ID_ALONE = re.compile("(.+)()")


def _document(
    id_: str, sentences: list[tuple[AnnotatedSentence, _Marks]], path: str, entity: re.Pattern
) -> AnnotatedDocument | None:
    mentions, left_out, words = set(), 0, 0
    for sentence, marks in sentences:
        found, others = _mentions(marks, words, path, entity)
        mentions |= found
        left_out, words = left_out + others, words + len(sentence.words)
    if not any(marks for _, marks in sentences):
        return None
    often = Counter(mention.entity for mention in mentions)
    coreferent = [mention for mention in mentions if often[mention.entity] > 1]
    coreferent.sort(key=lambda mention: (mention.start, -mention.end, mention.entity))
    return AnnotatedDocument(id_, tuple(sentence for sentence, _ in sentences), tuple(coreferent), left_out)


def _mentions(marks: _Marks, words: int, path: str, entity: re.Pattern) -> tuple[set[Mention], int]:
    mentions, left_out = set(), 0
    # By entity and piece: the line and the word at which each open mention begins.
    opened: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for line, start, end, text in marks:
        brackets = list(_MARK.finditer(text))
        if "".join(match[0] for match in brackets) != text or not all(match[1] or match[3] for match in brackets):
            raise malformed(path, line, f"the brackets of {text!r} cannot be read")
        for match in brackets:
            named = entity.fullmatch(match[2])
            if named is None:
                raise malformed(path, line, f"{match[2]!r} does not begin with the id of an entity")
            name, part = named[1], named[2] or ""
            if match[1]:
                opened[name, part].append((line, words + start))
            if match[3]:
                if not opened[name, part]:
                    problem = f"a mention of the entity {name}{part} is closed that is not open in this sentence"
                    raise malformed(path, line, problem)
                _, begin = opened[name, part].pop()
                if not part and begin <= words + end:
                    mentions.add(Mention(begin, words + end, name))
                elif not part or part.startswith("[1/"):
                    left_out += 1
    for (name, part), openings in opened.items():
        if openings:
            problem = f"the mention of the entity {name}{part} that opens here is not closed in its sentence"
            raise malformed(path, openings[-1][0], problem)
    return mentions, left_out


# In CoNLL-U, mentions are in the key `Entity` of MISC, as in the corpora of CorefUD.
# Fields of a mention where none are declared: an id that is a number, and what is none.
_NUMBERED = re.compile(r"[A-Za-z]?[0-9]+(\[[0-9/]+\])?-[^0-9].*")


def _read_conllu(path: str) -> list[AnnotatedDocument | None]:
    documents: list[tuple[str, list]] = []
    declared = 0
    for block in treebank.read_blocks(path):
        begins = block.comments.get("newdoc id", block.comments.get("newdoc"))
        if begins or not documents:
            of_file = f"{Path(path).stem}-{len(documents) + 1}" if documents else Path(path).stem
            documents.append(((begins and begins[1]) or of_file, []))
        declared = _number_of_fields(block, path) or declared
        documents[-1][1].append((_sentence(block, path), _marks(block, declared, path)))
    return [_document(name, sentences, path, _ENTITY) for name, sentences in documents]


def _number_of_fields(block: treebank.SentenceLines, path: str) -> int:
    if "global.Entity" not in block.comments:
        return 0
    line, declared = block.comments["global.Entity"]
    fields = declared.split("-")
    if fields[0] not in ("GRP", "eid"):
        raise malformed(path, line, f"the first field of an entity is not its id (GRP or eid), but {declared!r}")
    return len(fields)


def _pairs(column: str) -> list[tuple[str, str]]:
    return [item.partition("=")[::2] for item in column.split("|")]


def _marks(block: treebank.SentenceLines, declared: int, path: str) -> _Marks:
    nodes = [(line, index, index) for index, line in enumerate(block.words)]
    nodes += [(line, before, before - 1) for before, line in block.empty]
    marks = []
    for (number, columns), start, end in sorted(nodes):
        values = [value for key, value in _pairs(columns[treebank.MISC]) if key == "Entity"]
        marks += [(number, start, end, value) for value in values]
        for opens, mark, _ in chain.from_iterable(map(_MARK.findall, values)):
            # What ends a mention is an id alone.
            most = declared if opens and declared else 1
            told = mark.count("-") < most or (opens and not declared and _NUMBERED.fullmatch(mark))
            if not told:
                advice = "write ids without a hyphen, and no more fields than are declared (# global.Entity)"
                raise malformed(path, number, f"the id of the entity {mark!r} cannot be told; {advice}")
    return marks


def _sentence(block: treebank.SentenceLines, path: str) -> AnnotatedSentence:
    annotated = any(columns[treebank.HEAD] != "_" for _, columns in block.words)
    heads, relations = treebank.tree_of(block, path) if annotated else (None, None)
    _, speaker = block.comments.get("speaker", (None, ""))
    return AnnotatedSentence(
        words=treebank.word_forms(block),
        heads=heads,
        relations=relations,
        upos=treebank.column_values(block, treebank.UPOS),
        xpos=treebank.column_values(block, treebank.XPOS),
        numbers=tuple(dict(_pairs(columns[treebank.FEATS])).get("Number", "") for _, columns in block.words),
        parse=None,
        speakers=(speaker,) * len(block.words),
    )


_BEGIN = re.compile(r"#begin document \((.*)\); part ([0-9]{1,9})")
_END = "#end document"
_WORD, _XPOS, _PARSE, _SPEAKER = 3, 4, 5, 9
# Up to the speaker, and the last one, with the mentions; between these, a column for each predicate.
_LEAST_COLUMNS = 11
_SEPARATOR = re.compile("[ \t]+")
_PARSE_BIT = re.compile(r"((?:\([^()*]+)*)\*(\)*)")
_NONE = ("-", "_")


def _read_conll2012(path: str) -> list[AnnotatedDocument | None]:
    documents, begun, number = [], None, 0
    lines: list[treebank.Line] = []
    for number, text in treebank.numbered_lines(path):
        line = text.strip()
        if begun is None and line:
            match = _BEGIN.fullmatch(line)
            if match is None:
                raise malformed(path, number, "a document begins with '#begin document (NAME); part NUMBER'")
            name, begun, sentences = f"{match[1]}/{int(match[2])}", number, []
        elif line and not line.startswith("#"):
            columns = _SEPARATOR.split(text.strip(" \t"))
            if len(columns) < _LEAST_COLUMNS:
                raise malformed(path, number, f"{len(columns)} columns; CoNLL-2012 has {_LEAST_COLUMNS} or more")
            lines.append(treebank.Line(number, columns))
        elif begun is not None:
            if lines:
                sentences.append(_sentence_of_2012(lines, path))
                lines = []
            if line == _END and not sentences:
                raise malformed(path, begun, f"the document {name} that begins here has no words")
            if line == _END:
                documents.append(_document(name, sentences, path, _ID_ALONE))
                begun = None
            elif line:
                raise malformed(path, number, f"the document of line {begun} has not ended ({_END})")
    if begun is not None:
        raise malformed(path, number, f"the document of line {begun} has not ended ({_END})")
    return documents


def _sentence_of_2012(lines: list[treebank.Line], path: str) -> tuple[AnnotatedSentence, _Marks]:
    marks = [
        (number, index, index, mark)
        for index, (number, columns) in enumerate(lines)
        for mark in (columns[-1].split("|") if columns[-1] not in _NONE else ())
    ]
    words = tuple(columns[_WORD] for _, columns in lines)
    treebank.check_words(words, path, lines[0].number)
    xpos, speakers = (
        tuple("" if columns[column] in _NONE else columns[column] for _, columns in lines)
        for column in (_XPOS, _SPEAKER)
    )
    nothing, parse = ("",) * len(words), _parse(lines, path)
    return AnnotatedSentence(words, None, None, nothing, xpos, nothing, parse, speakers), marks


def _parse(lines: list[treebank.Line], path: str) -> tuple[str, ...] | None:
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
