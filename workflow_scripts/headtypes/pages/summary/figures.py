"""The figures of the summary, and the captions that they have in the report as well."""

from typing import NamedTuple


class Figure(NamedTuple):
    """A figure of the summary: the name of its files among the inputs, its title, and the name of its caption."""

    name: str
    title: str
    caption: str


GUAN = (
    Figure("heads", "Figure 1. Typical heads of each type", "figure1"),
    Figure("projection", "Figure 2. Heads in the plane", "figure2"),
    Figure("layers", "Figure 3. Types by layer", "figure3"),
    Figure("models", "Figure 4. Types of all models", "figure4"),
    Figure("maps", "Figure 5. The attention of every head", "figure5"),
    Figure("confidence", "How certain each head's type is", "confidence"),
    Figure("controls", "What types cost, beside random heads", "controls"),
    Figure("curves", "Heads left out in growing sets", "curves"),
    Figure("choice", "How many types there are", "choice"),
)
CLARK = (
    Figure("examples", "Clark's Figure 1. Examples of patterns", "clark_figure1"),
    Figure("surface_2", "Clark's Figure 2. Attention to special tokens and neighbours", "clark_figure2"),
    Figure("gradients", "Clark's Figure 3. Gradients by kind of token", "clark_figure3"),
    Figure("surface_4", "Clark's Figure 4. Entropy of attention", "clark_figure4"),
    Figure("sentences", "Clark's Figure 5. Heads that find relations or antecedents", "clark_figure5"),
    Figure("plane", "Clark's Figure 6. Heads by their distances", "clark_figure6"),
)
JOINED = Figure("joined_figures", "Types beside random heads", "joined")
