"""Which properties of models go with a claim: does it hold more often in large, deep or causal ones, by objective?"""

from collections.abc import Mapping
from itertools import groupby

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from headtypes.core.statistics import holm
from headtypes.papers.ledger.models import FEWEST_FAMILIES, UNTRAINED, verdicts_of_models
from headtypes.papers.ledger.table import CLAIM
from headtypes.papers.quantities import FAILS, HOLDS, OPEN

DRAWS = 10_000
# A claim that is open may hold or not.
_HELD = {HOLDS: 1.0, OPEN: 0.5, FAILS: 0.0}
COLUMNS = [*CLAIM, "claim", "property", "families", "correlation", "p", "p_holm"]
MASKED, REPLACED, PERMUTED = "masked words", "replaced words", "permuted words"
NEXT, SEQUENCES, TASK, NONE = "next token", "sequence to sequence", "a task", "none"
# What a class of Transformers was saved to answer, by how its name ends.
_BY_CLASS = {
    "ForMaskedLM": MASKED,
    "ForCausalLM": NEXT,
    "LMHeadModel": NEXT,
    "ForConditionalGeneration": SEQUENCES,
    **dict.fromkeys(
        ("ForQuestionAnswering", "ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice"), TASK
    ),
}
# Types whose classes for language are named as others are, and what those that end in ForPreTraining answer.
_PERMUTED = ("mpnet", "xlnet")
_PRETRAINING = {
    **dict.fromkeys(("albert", "bert", "big_bird", "ernie", "fnet", "megatron-bert", "mobilebert", "nezha"), MASKED),
    **dict.fromkeys(("electra", "funnel"), REPLACED),
}


def objective_of(record: Mapping) -> str | None:
    """What a model was last trained to do, as the class says with which it was saved; None where it does not.

    record: what `models.records` writes of the model. A bare body, such as `BertModel`, may have been trained for
    anything.
    """
    found = {_of_class(name, record) for name in record["architectures"] or ()}
    return found.pop() if len(found) == 1 else None


def _of_class(name: str, record: Mapping) -> str | None:
    if name.endswith("ForPreTraining"):
        return _PRETRAINING.get(record["model_type"])
    objective = next((it for ending, it in _BY_CLASS.items() if name.endswith(ending)), None)
    if objective in (None, TASK):
        return objective
    if record["model_type"] in _PERMUTED:
        return PERMUTED
    # Decoders that see pictures, too, are called as encoders with decoders are.
    if record["causal"]:
        return NEXT if objective in (NEXT, SEQUENCES) else None
    return None if objective == NEXT else objective


def properties_of(records: Mapping[str, Mapping], families: Mapping[str, str]) -> pd.DataFrame:
    """What is known of each model, a row each, by its name.

    records: what `models.records` writes of each model; families: of each model.
    returns its family; its parameters, layers, heads in all, and whether it is causal (0 or 1); and its objective
      (`objective_of`), which networks of the family `UNTRAINED` do not have, and which is None where nothing says it.
    """
    rows = {
        name: {
            "family": families[name],
            "parameters": record["parameters"],
            "layers": record["layers"],
            "heads": record["layers"] * record["heads"],
            "causal": int(record["causal"]),
            "objective": NONE if families[name] == UNTRAINED else objective_of(record),
        }
        for name, record in records.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def properties_table(ledger: pd.DataFrame, models: pd.DataFrame, seed: int) -> pd.DataFrame:
    """How each property goes with each claim, beside what chance gives.

    ledger: as `table.ledger_table` makes it; models: as `properties_of` does; seed: of the draws.
    returns the columns `COLUMNS`, a row for each claim and property that differ between at least `FEWEST_FAMILIES`
      families with a verdict in which the property is known of every model. Each objective is a property of its own,
      which a model has or has not. correlation: of the share of a family's models in which the claim holds with the
      mean of the property over them, by ranks (Spearman), from -1 to 1; p: two-sided, by permutations of the families,
      so that models of one family count as one; p_holm: corrected for the number of rows. Networks of the family
      `UNTRAINED` do not count.
    """
    rng, rows = np.random.default_rng(seed), []
    objectives = pd.get_dummies(models["objective"], prefix="objective", prefix_sep=": ", dtype=float)
    objectives[models["objective"].isna()] = np.nan
    properties = pd.concat([models.drop(columns=["family", "objective"]), objectives], axis=1)
    for (paper, id_), cells in ledger[ledger["family"] != UNTRAINED].groupby(CLAIM, sort=False):
        judged = verdicts_of_models(cells)
        held = judged["verdict"].map(_HELD).astype(float).groupby(judged["family"]).mean()
        grouped = properties.reindex(judged.index).groupby(judged["family"])
        of_families = grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))
        families = {name: tuple(values.dropna().index) for name, values in of_families.items()}
        # Those known of the same families share the draws.
        for known, names in groupby(families, families.get):
            own = held[list(known)]
            if len(own) < FEWEST_FAMILIES or own.nunique() < 2:
                continue
            ranks = _ranks(own.to_numpy())
            drawn = ranks[rng.permuted(np.tile(np.arange(len(ranks)), (DRAWS, 1)), axis=1)]
            for name in names:
                values = of_families.loc[list(known), name]
                if values.nunique() < 2:
                    continue
                of_property = _ranks(values.to_numpy())
                found = ranks @ of_property
                # Sums that are equal but for rounding are equal.
                as_far = (np.abs(drawn @ of_property) >= abs(found) - 1e-9).sum()
                rows.append([paper, id_, cells["claim"].iloc[0], name, len(own), found, (1 + as_far) / (1 + DRAWS)])
    table = pd.DataFrame(rows, columns=COLUMNS[:-1])
    return table.assign(p_holm=holm(table["p"].to_numpy(dtype=float)))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks about their mean, with length 1, so that the product of two of them is their correlation."""
    ranks = rankdata(values)
    centred = ranks - ranks.mean()
    return centred / np.linalg.norm(centred)
