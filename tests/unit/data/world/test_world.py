import itertools
import json
import re

import pytest

from headtypes.core.errors import InputError
from headtypes.data.world import tasks
from headtypes.data.world.entities import SPLITS
from headtypes.data.world.inventory import PROPER_NAMES
from headtypes.data.world.passages import articles
from headtypes.data.world.tasks import make, make_question_answering

SIZE = 600


@pytest.fixture(scope="module")
def squad():
    return {split: make_question_answering(0, split, SIZE) for split in SPLITS}


@pytest.fixture(scope="module")
def asked():
    return [
        (passage, question)
        for _, passages in tasks.asked_passages(0, "train", SIZE)
        for passage, questions in passages
        for question in questions
    ]


def test_equal_seeds_give_equal_bytes_and_others_differ():
    for world in ("question_answering", "paraphrase", "entailment"):
        first = repr(make(world, 3, "dev", 60))
        assert first == repr(make(world, 3, "dev", 60))
        assert first != repr(make(world, 4, "dev", 60))


def test_a_larger_size_begins_with_the_smaller():
    few, more = (make_question_answering(0, "train", size)["data"] for size in (30, 60))
    assert json.dumps(few[:-1]) == json.dumps(more[: len(few) - 1])


def test_every_answer_stands_at_its_start_and_ids_are_unique(squad):
    for data in squad.values():
        paragraphs = [paragraph for article in data["data"] for paragraph in article["paragraphs"]]
        questions = [(paragraph["context"], qa) for paragraph in paragraphs for qa in paragraph["qas"]]
        assert len(questions) == SIZE
        assert len({qa["id"] for _, qa in questions}) == SIZE
        for context, qa in questions:
            assert qa["question"].endswith("?")
            (answer,) = qa["answers"]
            start = answer["answer_start"]
            assert answer["text"]
            assert context[start : start + len(answer["text"])] == answer["text"]


def test_splits_share_no_article_and_no_name(squad):
    titles = [{article["title"] for article in squad[split]["data"]} for split in SPLITS]
    assert not titles[0] & titles[1]
    assert all(len(found) == len(squad[split]["data"]) for found, split in zip(titles, SPLITS, strict=True))
    spoken = []
    for split in SPLITS:
        pairs = (pair for world in ("paraphrase", "entailment") for pair in make(world, 0, split, 200))
        text = json.dumps([squad[split], *((pair.first, pair.second) for pair in pairs)])
        spoken.append(set(re.findall(r"\w+", text)) | set(re.findall(r"(?=\b([A-Z]\w+ [A-Z]\w+))", text)))
    for kind, names in PROPER_NAMES.items():
        names = {name if isinstance(name, str) else " ".join(name) for name in names}
        train, dev = (names & words for words in spoken)
        assert train, kind
        assert not train & dev
    assert {name for name in PROPER_NAMES["surname"] if name in spoken[1]}


def test_questions_need_the_context(asked):
    passages = {passage.text: passage for passage, _ in asked}.values()
    lengths = sorted(len(re.findall(r"\w+|[.,]", passage.text)) for passage in passages)
    assert 38 < sum(lengths) / len(lengths) < 60
    assert lengths[-1] > 60

    def rivals(passage, question):
        """The things of the answer's kind that the passage mentions, by the mentions alone."""
        kind = question.fact.get(question.role).kind + ":"
        mentions = [mention for sentence in passage.sentences for mention in sentence.mentions]
        return {mention.entity for mention in mentions if mention.entity.startswith(kind)}

    def opens_with_a_pronoun(passage, question):
        return bool(re.search(r"\b(he|she|it)\b", passage.sentences[question.sentence].text, re.I))

    def share(what):
        return sum(bool(what(passage, question)) for passage, question in asked) / len(asked)

    assert share(lambda *pair: len(rivals(*pair)) > 1) > 0.9
    assert share(lambda _, question: question.same_verb) == pytest.approx(0.37, abs=0.12)
    assert share(opens_with_a_pronoun) == pytest.approx(0.27, abs=0.12)
    assert share(lambda _, question: question.elsewhere) == pytest.approx(0.07, abs=0.05)


def test_a_question_has_one_answer(asked):
    for passage, question in asked:
        given = {role: entity for role, entity in question.fact.fillers if role != question.role}
        given = {role: entity for role, entity in given.items() if entity.name in question.text}
        right = {
            fact.get(question.role)
            for fact, _, _ in passage.facts
            if fact.relation == question.fact.relation and all(fact.get(r) == e for r, e in given.items())
        }
        assert right == {question.fact.get(question.role)}, (passage.text, question.text)
        assert question.answer.lower() not in question.text.lower()


def test_a_question_opens_with_a_question_word_after_a_preposition_at_most(asked):
    opening = re.compile(r"((In|To|From|With|By) (which|what|whom)|Which|What|Who|When|Where|How (many|much|long)) ")
    assert [question.text for _, question in asked if not opening.match(question.text)] == []


def test_a_pronoun_means_the_subject_of_the_sentence_before():
    for article in itertools.islice(articles(1, "dev"), 60):
        for passage in article.passages:
            by_key = {subject.key: subject for subject in passage.subjects}
            previous, named = None, set()
            for sentence in passage.sentences:
                topics = [mention for mention in sentence.mentions if mention.entity in by_key]
                for mention in topics:
                    if mention.kind == "pronoun":
                        assert mention.entity == previous
                        form = sentence.words[mention.start].form.lower()
                        sort = by_key[mention.entity].sort
                        assert form in {"woman": ("she", "her"), "man": ("he", "his")}.get(sort, ("it",))
                    elif mention.kind == "name":
                        named.add(mention.entity)
                    assert mention.entity in named
                previous = topics[-1].entity if topics else previous


def test_sentences_are_trees_with_mentions_in_place():
    for article in itertools.islice(articles(2, "train"), 60):
        entities = {e.key: e for p in article.passages for fact, _, _ in p.facts for _, e in fact.fillers}
        for passage in article.passages:
            for number, sentence in enumerate(passage.sentences):
                heads = [word.head for word in sentence.words]
                assert heads.count(-1) == 1
                for index in range(len(heads)):
                    steps = 0
                    while index != -1:
                        index, steps = heads[index], steps + 1
                        assert steps <= len(heads)
                text, spans = sentence.text, sentence.spans()
                assert [text[start:end] for start, end in spans] == [word.form for word in sentence.words]
                for mention in sentence.mentions:
                    inside = range(mention.start, mention.end)
                    assert [i for i in inside if heads[i] not in inside] == [mention.head]
                    start, end = passage.span(number, mention)
                    if mention.kind == "name":
                        assert passage.text[start:end].lower() == entities[mention.entity].name.lower()


def entailed(premise, hypothesis, negated):
    """The label by the facts alone, written without a look at how the pair was made."""
    new = {role: entity.key for role, entity in hypothesis.fillers}
    for fact in premise:
        if fact.relation.name != hypothesis.relation.name:
            continue
        old = {role: entity.key for role, entity in fact.fillers}
        if new.items() <= old.items():
            return 2 if negated else 0
        differ = {role for role in new.keys() & old.keys() if new[role] != old[role]}
        once = fact.relation.determined
        if not negated and differ and differ <= once:
            # One subject is born once; one work is written once, whoever wrote it.
            return 2
    return 1


def test_entailment_follows_from_the_facts():
    pairs = tasks.pairs(0, "train", 1200, "entailment")
    wrong = [pair for pair in pairs if entailed(pair.first_facts, pair.second_facts[0], pair.negated) != pair.label]
    assert not wrong, [(pair.first, pair.second, pair.label) for pair in wrong[:5]]
    assert [sum(pair.label == label for pair in pairs) for label in range(3)] == [400, 400, 400]
    assert len({(pair.first, pair.second) for pair in pairs}) > 1100
    # Neither a denial nor the length gives the label away.
    assert {pair.label for pair in pairs if pair.negated} == {1, 2}


def test_paraphrases_tell_the_same_facts():
    pairs = tasks.pairs(0, "train", 800, "paraphrase")
    for pair in pairs:
        assert (set(pair.first_facts) == set(pair.second_facts)) == (pair.label == 1), (
            pair.first,
            pair.second,
        )
        assert pair.first != pair.second
    assert sum(pair.label for pair in pairs) == 400
    words = [(set(re.findall(r"\w+", p.first.lower())), set(re.findall(r"\w+", p.second.lower()))) for p in pairs]
    overlap = [len(a & b) / len(a | b) for a, b in words]
    alike = [[o > 0.6 for o, p in zip(overlap, pairs, strict=True) if p.label == label] for label in (0, 1)]
    assert sum(alike[0]) > 80, "too few that differ look alike"
    assert 400 - sum(alike[1]) > 20, "too few that agree look different"


def test_a_wrong_split_and_too_large_a_size_are_refused(monkeypatch):
    with pytest.raises(InputError, match=r"train, dev"):
        make_question_answering(0, "test", 10)
    monkeypatch.setitem(PROPER_NAMES, "event", PROPER_NAMES["event"][:20])
    with pytest.raises(InputError, match=r"no event left .* smaller size"):
        make_question_answering(0, "train", 2000)
