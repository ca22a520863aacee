"""What training and scoring of probes share: their names, and which words count."""

from headtypes.data.kinds.treebank import Sentence

PROBES = ("attention", "attention_and_words", "distance_and_words", "random_network")


def counts(sentence: Sentence) -> list[bool]:
    """Whether each word counts: punctuation does not, the root does."""
    return [relation.partition(":")[0] != "punct" for relation in sentence.relations]
