"""What may be given away of each rule's results: numbers, tables and figures; no weights, and no text of a corpus."""

from headtypes.core.results import Result
from headtypes.planning.results import RESULTS

UNDECIDED = "results of which nobody has said whether they hold text of a corpus"


def declared(rule: str, path: str) -> Result:
    """What is declared of a result of a rule, or of all results of the rule; else one that nobody has decided about."""
    of_rule = [result for result in RESULTS if result.rule == rule]
    found = [result for result in of_rule if result.has(path)]
    if not found and len({result.withheld for result in of_rule}) == 1:
        found = of_rule
    return found[0] if found else Result(path, rule, rule, withheld=UNDECIDED)
