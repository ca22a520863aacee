"""The baselines of coreference once more, written from their definitions alone; for documents with dependency trees."""

from headtypes.data.kinds.coreference.records import AnnotatedDocument


def _of(words: str) -> set[str]:
    return set(words.split())


FIRST = _of("i me my mine myself we us our ours ourselves")
SECOND = _of("you your yours yourself yourselves")
SINGULAR = _of("i me my mine myself he him his himself she her hers herself it its itself this that")
PLURAL = _of("we us our ours ourselves they them their theirs themselves these those")
MALE, FEMALE, NEUTER = _of("he him his himself"), _of("she her hers herself"), _of("it its itself this that")
MEN = _of("mr. mr sir lord king man boy father brother son husband")
WOMEN = _of("mrs. mrs ms. ms miss lady queen woman girl mother sister daughter wife")


def second_opinion(document: AnnotatedDocument, part: range) -> list[dict]:
    """For each coreferent mention of a part, whether each baseline is right, and the chance."""
    words = [word.lower() for word in document.words]
    heads, labels, upos, xpos, numbers = [], [], [], [], []
    for sentence in document.sentences:
        before = len(heads)
        heads += [before + head - 1 if head else None for head in sentence.heads]
        labels += sentence.relations
        upos += sentence.upos
        xpos += sentence.xpos
        numbers += sentence.numbers

    def depth(word):
        return 0 if heads[word] is None else 1 + depth(heads[word])

    def head(span):
        inside = range(span.start, span.end + 1)
        return sorted((depth(word), word) for word in inside if heads[word] not in inside)[0][1]

    def features(span):
        word, inside = head(span), range(span.start, span.end + 1)
        pronoun = upos[word] == "PRON" and words[word] in FIRST | SECOND | SINGULAR | PLURAL
        said = words[word] if pronoun else None
        person = 1 if said in FIRST else 2 if said in SECOND else 3
        if pronoun:
            number = "one" if said in SINGULAR else "many" if said in PLURAL else None
            gender = "m" if said in MALE else "f" if said in FEMALE else "n" if said in NEUTER else None
        else:
            plural, singular = ("Plur", "Ptan"), ("Sing",)
            of_noun = {"NN": "one", "NNP": "one", "NNS": "many", "NNPS": "many"}
            number = "many" if numbers[word] in plural else "one" if numbers[word] in singular else None
            number = number or of_noun.get(xpos[word])
            told = ["m" if words[one] in MEN else "f" for one in inside if words[one] in MEN | WOMEN]
            gender = told[0] if told else None
        if any(heads[one] == word and labels[one].split(":")[0] == "conj" for one in inside):
            number = "many"
        return number, gender, person

    def agree(one, other):
        (number, gender, person), (number_, gender_, person_) = features(one), features(other)
        same_number = number is None or number_ is None or number == number_
        return same_number and (gender is None or gender_ is None or gender == gender_) and person == person_

    def text(span):
        return words[span.start : span.end + 1]

    inside = [one for one in document.mentions if one.start in part and one.end in part]
    results = []
    for mention in inside:
        candidates = [one for one in inside if one.end < mention.start]
        if all(one.entity != mention.entity for one in candidates):
            continue
        by_distance = sorted(candidates, key=lambda one: (-head(one), -one.start, -one.end))
        matching = [one for one in by_distance if words[head(one)] == words[head(mention)]]
        sieves = (
            [one for one in by_distance if text(one) == text(mention)],
            matching,
            [one for one in by_distance if agree(one, mention)],
            by_distance,
        )
        chosen = next(sieve[0] for sieve in sieves if sieve)
        of_candidates = {head(one) for one in candidates}
        of_antecedents = {head(one) for one in candidates if one.entity == mention.entity}
        results.append(
            {
                "nearest": by_distance[0].entity == mention.entity,
                "head_match": bool(matching) and matching[0].entity == mention.entity,
                "rules": chosen.entity == mention.entity,
                "chance": len(of_antecedents) / len(of_candidates),
            }
        )
    return results
