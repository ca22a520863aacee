"""Collins' rules for noun phrases, by hand."""

import pytest

from headtypes.analyses.coreference.mentions import head_by_parse

# Words as `piece tag`, and spans with the place of their head word.
PHRASES = {
    "the last noun": (["(TOP(NP* DT", "* JJ", "* NN", "*) NN", "*) ."], {(0, 4): 3}),
    "a possessive mark at the end": (["(NP* NNP", "*) POS"], {(0, 2): 1}),
    "the first noun phrase inside": (["(NP(NP* DT", "*) NN", "(PP* IN", "(NP* DT", "*))) NNP"], {(0, 5): 1, (3, 5): 4}),
    "nouns come before noun phrases": (["(NP(NP* NNP", "*) POS", "* NN", "*) RB"], {(0, 4): 2, (0, 2): 1}),
    "dollars": (["(NP* $", "* CD", "*) CD"], {(0, 3): 0}),
    "numbers before adjectives": (["(NP* DT", "* CD", "*) JJS"], {(0, 3): 1}),
    "the last adjective": (["(NP* DT", "* JJ", "* JJ", "*) DT"], {(0, 4): 2}),
    "a phrase of adjectives": (["(NP* DT", "(ADJP* RB", "*) JJ", "*) CD"], {(0, 4): 2}),
    "else the last word": (["(NP* DT", "*) PRP"], {(0, 2): 1}),
    "functions of labels do not count": (["(S(NP-SBJ(NP-TMP* DT", "*) DT", "(PP* IN", "*))) DT"], {(0, 4): 1}),
    "one word": (["(S(NP*) PRP", "(VP* VBD", "(NP*))) PRP"], {(0, 1): 0, (2, 3): 2}),
    "no constituent": (["(NP* DT", "* JJ", "* NN", "(PP* IN", "(NP*))) NN"], {(1, 3): 2, (1, 4): 2, (2, 5): 2}),
}


@pytest.mark.parametrize("name", PHRASES)
def test_the_head_of_a_noun_phrase(name):
    words, heads = PHRASES[name]
    parse, tags = zip(*(word.split() for word in words), strict=True)
    assert {span: head_by_parse(parse, tags, *span) for span in heads} == heads
