"""Treebanks and documents with mentions as text."""

from headtypes.data.kinds.treebank import Sentence


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
