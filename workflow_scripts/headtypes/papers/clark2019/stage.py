"""Tables and figures of Clark et al. (BlackboxNLP 2019)."""

from headtypes.core.results import PICTURED, TEXT, Result
from headtypes.core.stage import Plan, of_inputs_alone, stage
from headtypes.papers.paper import to_read_first


@stage()
def plot_text(plan: Plan, model: str, task: str) -> dict:
    """Whether the published values are drawn beside ours; the seeds of the projection and of intervals."""
    # Named for the rules that once did this.
    projection = {"seed": plan.seed("project_heads", model, task)}
    outputs = {"seed": plan.seed("tabulate_outputs", model, task)}
    return {"beside": is_beside(plan, model), "projection": projection, "outputs": outputs}


plot_gradients = of_inputs_alone("plot_gradients", calls="papers.clark2019.figures.by_layer:run")


def is_beside(plan: Plan, model: str) -> bool:
    """Whether the paper's values stand beside those of a model."""
    return "clark2019" in plan.config.models[model].published


RESULTS = (
    to_read_first(
        "results/clark2019/{model}/{task}/figure1.{pdf,png}",
        "plot_text",
        "heads that show a pattern best",
        of=lambda plan: plan.texts,
        content="Clark's Figure 1: heads that show a pattern best",
        withheld=PICTURED,
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure{2,4}.{pdf,png}",
        "plot_text",
        "attention to special tokens and neighbours, and its entropy",
        of=lambda plan: plan.texts,
        content="Clark's Figures 2 and 4: attention to special tokens and neighbours, and entropy, by layer",
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure3.{pdf,png}",
        "plot_gradients",
        "gradients by kind of token",
        of=lambda plan: [entry for entry in plan.gradients if not plan.is_text(entry.task)],
        content="Clark's Figure 3: gradients by kind of token; also for a task that the model answers",
    ),
    Result(
        "results/clark2019/{model}/{task}/figure3.{pdf,png}",
        "plot_text",
        "gradients by kind of token",
        of=lambda plan: [entry for entry in plan.gradients if plan.is_text(entry.task)],
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure6.{pdf,png}",
        "plot_text",
        "heads in two dimensions, by how differently they attend",
        of=lambda plan: plan.texts,
        content="Clark's Figure 6: heads in two dimensions by how differently they attend",
    ),
    Result(
        "results/examples/{model}/{task}.h5",
        "extract_text_features",
        "attention maps with their tokens",
        of=lambda plan: plan.texts,
        name="examples",
        section="Heads and types",
        content="for tasks of text, for Clark's Figure 1: the attention of four heads among the last 15 tokens of one "
        "segment",
        withheld=TEXT,
    ),
)
