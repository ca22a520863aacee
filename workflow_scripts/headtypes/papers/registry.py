"""The papers that results are compared with. Whatever plans jobs reads it."""

from headtypes.papers.clark2019.paper import CLARK2019
from headtypes.papers.guan2020.paper import GUAN2020
from headtypes.papers.kobayashi2020.paper import KOBAYASHI2020
from headtypes.papers.paper import Paper

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (GUAN2020, CLARK2019, KOBAYASHI2020)}
