"""Treebanks and documents with mentions as text."""

from collections.abc import Iterable, Sequence

from headtypes.data.kinds.treebank import Sentence


def conllu_text(sentences: Iterable[Sentence]) -> str:
    """Sentences as CoNLL-U."""
    return "".join(f"# sent_id = {sentence.id}\n{''.join(map(_line, *_columns(sentence)))}\n" for sentence in sentences)


def lines_of(*words: str) -> list[str]:
    """Lines of ten columns from `id form upos xpos head relation misc`, separated by spaces."""
    columns = [word.split() for word in words]
    return ["\t".join((id_, form, "_", upos, xpos, "_", head, label, "_", misc))
            for id_, form, upos, xpos, head, label, misc in columns]  # fmt: skip


def sentence(*words: str, id_: str = "s") -> Sentence:
    """A sentence from `form upos xpos head relation` of each word, and its lemma where it is not the form."""
    columns = [(*word.split(), word.split()[0])[:6] for word in words]
    forms, upos, xpos, heads, relations, lemmas = zip(*columns, strict=True)
    return Sentence(id_, forms, tuple(map(int, heads)), relations, upos, xpos, lemmas)


def _columns(sentence: Sentence) -> Sequence[Sequence]:
    numbers = range(1, len(sentence.words) + 1)
    return (
        numbers,
        sentence.words,
        sentence.lemmas,
        sentence.upos,
        sentence.xpos,
        sentence.heads,
        sentence.relations,
    )


def _line(number: int, form: str, lemma: str, upos: str, xpos: str, head: int, relation: str) -> str:
    return f"{number}\t{form}\t{lemma or '_'}\t{upos or '_'}\t{xpos or '_'}\t_\t{head}\t{relation}\t_\t_\n"
