"""How much each head writes into the residual stream, as an analysis: its results, and where they are shown."""

from collections.abc import Iterator
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, by_head, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import Result, of_inputs_alone

# Name and unit of each column that is shown, and the factor that makes the unit.
LABELS = {
    "written": ("writes, of the residual stream", 100, "%"),
    "written_first": ("writes into the first token", 100, "%"),
    "written_special": ("writes into other special tokens", 100, "%"),
    "written_punctuation": ("writes into comma and period", 100, "%"),
    "written_other": ("writes into other tokens", 100, "%"),
    "relative": ("writes, of the layer's mean", 1, ""),
    "off": ("off, of samples", 1, "%"),
    "off_no_sink": ("off without a sink, of samples", 1, "%"),
}
NOTE = {
    "written": "Mean length of what the head adds to a token, of that of the residual stream that it is added to.",
    "relative": "Mean length of what the head adds to a token, divided by the mean of the layer's heads.",
    "off": "Samples on which it writes less than a quarter of the mean of its layer's heads.",
    "off_no_sink": "Samples on which it is off, but gives the first token at most half of its attention.",
}


def per_head(task: str, path: StrPath) -> list:
    from headtypes.analyses.outputs.measure import read_heads

    table, group = by_head(read_heads(path)), f"What comes out on {task}"
    return [
        Column(
            *(f"outputs.{task}.{name}", label, group, factor * table[name], unit),
            *((factor * table["low"], factor * table["high"]) if name == "written" else ()),
            note=NOTE.get(name, NOTE["written"]),
        )
        for name, (label, factor, unit) in LABELS.items()
        if table[name].notna().any()
    ]


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    from headtypes.analyses.outputs.measure import read_heads

    table = by_head(read_heads(path))
    for name in LABELS:
        if table[name].notna().any():
            yield from summaries("outputs", task, name, LABELS[name][1] * table[name].to_numpy(float))


def _result(name: str, ending: str, rule: str, about: str, content: str) -> Result:
    path = f"results/outputs/{{model}}/{{task}}{ending}"
    return Result(path, rule, about, of=lambda plan: plan.texts, name=name, content=content)


OUTPUTS = _result(
    *("outputs", ".h5", "extract_text_features", "what heads write into the residual stream, on each sample"),
    content="for tasks of text: `written` float32 [segment, layer, head, 12], means over tokens of the length of "
    "what a head adds, divided by that of the residual stream (all tokens, the first, other special ones,"
    " comma and period, the rest, each quarter), the mean length, and the shares of attention to the "
    "first token and to that with the largest number of the stream; `stream` [segment, layer, 3]: that "
    "number, the median magnitude, and the token; `length` and `sample_id` of each segment; where there "
    "are no values, the `reason`",
)
HEADS = _result(
    *("outputs_heads", ".csv", "plot_outputs", "how much heads write, and on how many samples they are off"),
    content="for each head, means over segments of the above, with the interval of `written` (`low`, `high`); "
    "`relative`: what it writes, divided by the mean of the layer's heads; percent of segments on which "
    "that is below a quarter (`off`), and on which it is although the first token gets at most half of "
    "the attention (`off_no_sink`)",
)
LAYERS = _result(
    *("outputs_layers", ".layers.csv", "plot_outputs", "massive activations beside sinks of attention"),
    content="for each layer, the `largest` number and the `median` magnitude of the residual stream, their "
    "`ratio`, percent of segments with a `massive` activation; the `token` where the largest stands most "
    "often (from 1), the share of attention `to_largest` and what `even` attention would give; percent of"
    " heads and segments that are `off`, and that are so without a sink (`off_no_sink`); number of heads "
    "for which this `varies`",
)
FIGURE = _result(
    *("", ".{pdf,png}", "plot_outputs", "how much heads write, and massive activations"),
    content="these tables as a figure",
)
plot_outputs = of_inputs_alone("plot_outputs", calls="analyses.outputs.tables:run")
WRITING = Analysis(
    "outputs",
    "what heads write (mean of the heads)",
    section="What single heads look at",
    files=(HEADS,),
    results=(OUTPUTS, HEADS, LAYERS, FIGURE),
    stages=(plot_outputs,),
    per_head=per_head,
    per_set=per_set,
    repeats=("written_first", "written_special", "written_punctuation", "written_other"),
)
