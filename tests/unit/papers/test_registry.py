"""What the papers declare."""

import pytest

from headtypes.papers.registry import PAPERS


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_every_figure_that_a_paper_makes_is_on_the_page_of_results(paper):
    made = {path for result in paper.results for path in result.paths if path.endswith(".png")}
    assert made <= {figure.path for figure in paper.figures}
