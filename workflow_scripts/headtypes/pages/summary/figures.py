"""The figures of the summary, and the captions that they have in the report as well."""

from typing import NamedTuple


class Figure(NamedTuple):
    """A figure of the summary.

    name: of its files among the inputs; caption: the name of its caption; of: what the keys of its files name.
    """

    name: str
    title: str
    caption: str
    of: tuple[str, ...]


_PARTITION, _TASK = ("model", "partition"), ("model", "task")


GUAN = (
    Figure("heads", "Figure 1. Typical heads of each type", "figure1", _PARTITION),
    Figure("projection", "Figure 2. Heads in the plane", "figure2", _PARTITION),
    Figure("layers", "Figure 3. Types by layer", "figure3", _PARTITION),
    Figure("models", "Figure 4. Types of all models", "figure4", ("clustering",)),
    Figure("maps", "Figure 5. The attention of every head", "figure5", _PARTITION),
    Figure("confidence", "How certain each head's type is", "confidence", _PARTITION),
    Figure("controls", "What types cost, beside random heads", "controls", _PARTITION),
    Figure("curves", "Heads left out in growing sets", "curves", _PARTITION),
    Figure("choice", "How many types there are", "choice", _TASK),
)
CLARK = (
    Figure("examples", "Clark's Figure 1. Examples of patterns", "clark_figure1", _TASK),
    Figure("surface_2", "Clark's Figure 2. Attention to special tokens and neighbours", "clark_figure2", _TASK),
    Figure("gradients", "Clark's Figure 3. Gradients by kind of token", "clark_figure3", _TASK),
    Figure("surface_4", "Clark's Figure 4. Entropy of attention", "clark_figure4", _TASK),
    Figure("sentences", "Clark's Figure 5. Heads that find relations or antecedents", "clark_figure5", _TASK),
    Figure("plane", "Clark's Figure 6. Heads by their distances", "clark_figure6", _TASK),
)
JOINED = Figure("joined_figures", "Types beside random heads", "joined", _PARTITION)
