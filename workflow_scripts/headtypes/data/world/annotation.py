"""The generated world's sentences as a treebank, and its articles as documents with mentions.

Parts of speech and lemmas follow from the words: the language is small enough.
"""

from collections.abc import Iterator
from itertools import islice

from headtypes.data.world.grammar import Sentence, Word
from headtypes.data.world.passages import articles
from headtypes.data.world.relations import RELATIONS

_VERBS = [verb for relation in RELATIONS for verb in relation.verbs]
_PRESENT = {verb.finite for verb in _VERBS if verb.present}
_LEMMAS = {form: verb.base for verb in _VERBS for form in (verb.base, verb.finite, verb.participle)} | {
    **dict.fromkeys(("was", "were", "is"), "be"),
    **dict.fromkeys(("did", "does"), "do"),
    **dict.fromkeys(("a", "an"), "a"),
    **dict.fromkeys(("his", "he"), "he"),
    **dict.fromkeys(("her", "she"), "she"),
    **dict.fromkeys(("its", "it"), "it"),
    "people": "person",
}
_TAGS = {
    "ADJ": "JJ",
    "ADP": "IN",
    "ADV": "RB",
    "CCONJ": "CC",
    "DET": "DT",
    "NUM": "CD",
    "PART": "RB",
    "PRON": "PRP",
    "PROPN": "NNP",
    "SCONJ": "IN",
}


def make_treebank(seed: int, split: str, size: int) -> list[dict]:
    """Make `size` sentences, each with the columns words, heads, relations, upos, xpos and lemmas of its words.

    seed: of the world; equal seeds give equal data. split: train or dev, which share no article and no proper
    name. Raises `InputError` for a split that does not exist, and for a size for which the world has too few names.
    """
    told = (sentence for article in _told(seed, split) for sentence in article)
    return [_columns(sentence) for sentence in islice(told, size)]


def make_coreference(seed: int, split: str, size: int) -> list[tuple[list[dict], list[tuple[int, int, str]]]]:
    """Make `size` documents, each an article: its sentences, as those of `make_treebank`, and its mentions.

    A mention has its first and its last word, counted from 0 in the document, and its entity. Otherwise as
    `make_treebank`.
    """
    documents = []
    for article in islice(_told(seed, split), size):
        mentions, before = [], 0
        for sentence in article:
            mentions += [(before + one.start, before + one.end - 1, one.entity) for one in sentence.mentions]
            before += len(sentence.words)
        documents.append(([_columns(sentence) for sentence in article], mentions))
    return documents


def _told(seed: int, split: str) -> Iterator[list[Sentence]]:
    """The sentences of each article that has some."""
    for article in articles(seed, split):
        if article.passages:
            yield [sentence for passage in article.passages for sentence in passage.sentences]


def _columns(sentence: Sentence) -> dict[str, tuple]:
    words = sentence.words
    tags = tuple(_tag(sentence, index) for index in range(len(words)))
    return {
        "words": tuple(word.form for word in words),
        "heads": tuple(word.head + 1 for word in words),
        "relations": tuple(word.relation for word in words),
        "upos": tuple(word.upos for word in words),
        "xpos": tags,
        "lemmas": tuple(map(_lemma, words, tags)),
    }


def _tag(sentence: Sentence, index: int) -> str:
    """The part of speech of a word by the tags of the Penn Treebank."""
    word = sentence.words[index]
    form = word.form.lower()
    match word.upos:
        case "NOUN":
            # Such as brass and physics.
            plural = form == "people" or (form.endswith("s") and not form.endswith(("ss", "ics")))
            return "NNS" if plural else "NN"
        case "AUX":
            return "VBZ" if form in ("is", "does") else "VBD"
        case "VERB":
            dependents = {other.relation for other in sentence.words if other.head == index}
            if "aux:pass" in dependents:
                return "VBN"
            if "aux" in dependents:
                return "VB"
            if form in _PRESENT:
                return "VBZ"
            return "VBD" if form in _LEMMAS else "VBP"
        case "PUNCT":
            return form
        case "PRON" if word.relation == "nmod:poss":
            return "PRP$"
        case "ADP" if word.relation == "compound:prt":
            return "RP"
    return _TAGS[word.upos]


def _lemma(word: Word, tag: str) -> str:
    form = word.form if word.upos == "PROPN" else word.form.lower()
    if word.upos in ("VERB", "AUX", "PRON", "DET") or form == "people":
        return _LEMMAS.get(form, form)
    return form.removesuffix("s") if tag == "NNS" else form
