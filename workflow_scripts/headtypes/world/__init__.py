"""A generated world: fictional people, places, works and events, told in plain English, and tasks that follow from it.

`inventory` has the words, `entities` the names, `relations` what can be true, `grammar` sentences as trees,
`telling` facts as sentences, `passages` the articles, `questions` and `pairs` what is asked of them, `tasks`
the data sets.
"""

from headtypes.world.tasks import make_entailment, make_paraphrases, make_question_answering

__all__ = ["make_entailment", "make_paraphrases", "make_question_answering"]
