"""Attention beyond sinks and recent tokens, as an analysis: its results."""

from headtypes.analyses.declaration import Analysis
from headtypes.core.results import Result

REACH = Analysis(
    "reach",
    results=(
        Result(
            "results/export/{model}/{partition}/full_attention_heads.tsv",
            "export_full_attention",
            "heads that need the whole cache, for other programs",
            of=lambda plan: plan.cached,
            section="Lists of heads for other programs",
            content="for models of `export.full_attention`: the score of each key-value head [layer, head], as "
            "DuoAttention and kvpress read it",
        ),
        Result(
            "results/export/{model}/{partition}/config.json",
            "export_full_attention",
            "heads that need the whole cache, for other programs",
            of=lambda plan: plan.cached,
            section="Lists of heads for other programs",
            content="`sink_size` and `recent_size` of these scores, the rule behind them, and what made them",
        ),
        Result(
            "results/export/{model}/{partition}/full_attention_heads.csv",
            "export_full_attention",
            "heads that need the whole cache, for other programs",
            of=lambda plan: plan.cached,
            section="Lists of heads for other programs",
            content="the same scores with intervals, and how often a head stays in its half",
        ),
        Result(
            "results/key_values/{model}/full_attention_heads.{tsv,csv}",
            "measure_key_values",
            "heads without which less is copied, for other programs",
            of=lambda plan: plan.dropped,
            section="Lists of heads for other programs",
            content="for those of these models that read texts with needles: the same by what is lost without each "
            "key-value head. `score`: by how much the probability of a token that is to be copied falls; "
            "`copying`, `text`: by how much the loss rises on such tokens and on others, in nats per token, with "
            "intervals over texts; `full`, `keeps_side` as in the table by attention",
        ),
        Result(
            "results/key_values/{model}/config.json",
            "measure_key_values",
            "heads without which less is copied, for other programs",
            of=lambda plan: plan.dropped,
            section="Lists of heads for other programs",
            content="as beside the table by attention",
        ),
        Result(
            "results/reach/{model}/{task}.h5",
            "measure_reach",
            "attention beyond sinks and recent tokens",
            of=lambda plan: plan.cached,
            name="reach",
            section="Lists of heads for other programs",
            content="`share` float32 [sample, layer, head]: attention beyond sinks and recent tokens; `kv_heads`, "
            "`sink_size`, `recent_size`",
        ),
    ),
)
