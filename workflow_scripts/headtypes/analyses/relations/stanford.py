"""Stanford's relations, derived from a tree of Universal Dependencies, version 2.

Clark et al. (2019, section 4.2) score heads on Stanford dependencies. These rows stand for theirs where a treebank has
UD; the two annotations differ, so that each row says less than its name. Not derived: cc and conj, which depend on
another conjunct in UD; possessive, number, quantmod, npadvmod, tmod, pcomp and dep, which UD divides or names
otherwise.
"""

from collections.abc import Iterator

from headtypes.data.kinds.treebank import Sentence

# Labels that are renamed at most. No subtypes: predet and preconj are subtypes of det and cc in UD.
_RENAMED = {
    "acl": "partmod",
    "acl:relcl": "rcmod",
    "advcl": "advcl",
    "amod": "amod",
    "appos": "appos",
    "aux:pass": "auxpass",
    "ccomp": "ccomp",
    "compound:prt": "prt",
    "cop": "cop",
    "det": "det",
    "nmod:poss": "poss",
    "nsubj": "nsubj",
    "nsubj:pass": "nsubjpass",
    "nummod": "num",
    "obj": "dobj",
    "xcomp": "xcomp",
}
_NEGATIONS = ("not", "n't", "never")
_POSSESSIVE_MARKS = ("'s", "s'")
# The row in which the guess of a possessive mark counts instead of the word's own, as the released code has it.
POSS_OF_MARK = "poss*"


def derived(sentence: Sentence, tagged: bool = True) -> Iterator[tuple[str, int, int]]:
    """Stanford's name, the word whose guess counts, and the right guess, of each pair that the tree contains.

    Words are counted from 1. The word is the dependent, but for `POSS_OF_MARK`, where it is the possessive mark behind
    the dependent, if there is one.
    tagged: whether the treebank has XPOS; if not, there are no rows for aux, mark, prep and pobj, which need it.
    """
    for word, head, label in sentence.arcs():
        if label in _RENAMED:
            yield _RENAMED[label], word, head
        if label == "nmod:poss":
            marked = word < len(sentence.words) and sentence.words[word] in _POSSESSIVE_MARKS
            yield POSS_OF_MARK, word + 1 if marked else word, head
        elif label == "compound" and sentence.upos[word - 1] in ("NOUN", "PROPN") and word < head:
            yield "nn", word, head
        elif label == "advmod":
            # A treebank need not have lemmas.
            lemma = sentence.lemmas[word - 1] or sentence.words[word - 1]
            yield "neg" if lemma.lower() in _NEGATIONS else "advmod", word, head
        elif label in ("aux", "mark") and tagged:
            # The infinitive's `to` is aux in Stanford, mark in UD.
            yield "aux" if label == "aux" or sentence.xpos[word - 1] == "TO" else "mark", word, head
    if tagged:
        yield from _prepositional(sentence)


def _prepositional(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    """Objects of prepositions and, where the object modifies something, prepositions."""
    before: dict[int, list[int]] = {}
    for word, head, label in sentence.arcs():
        if label == "case" and word < head and sentence.xpos[word - 1] != "POS":
            before.setdefault(head, []).append(word)
    for noun, prepositions in sorted(before.items()):
        yield "pobj", noun, prepositions[-1]
        universal, _, subtype = sentence.relations[noun - 1].partition(":")
        if universal in ("obl", "nmod") and subtype != "poss":
            yield "prep", prepositions[0], sentence.heads[noun - 1]
