"""Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020): what its abstract claims of BERT."""

from collections.abc import Mapping
from typing import Any

from headtypes.analyses.distances.analysis import FEATURES
from headtypes.papers.paper import Compared, Found, Paper, Plan, Published, paths_by_key


class _Kobayashi2020(Paper):
    published = Published
    name = "kobayashi2020"
    authors = "Kobayashi et al."
    title = "2020: Attention is Not Only a Weight"
    subject = "task"
    row = "none, since its abstract has no numbers"
    judged = "task on which the norms of every model were read"

    def inputs(self, plan: Plan) -> dict[tuple[str, ...], str]:
        return paths_by_key("features", FEATURES, plan.with_norms)

    def compare(self, found: Found, published: Published, spec: Mapping[str, Any]) -> Compared:
        from headtypes.papers.kobayashi2020.claims import compare_files

        return compare_files(found["features"], published, **spec)


KOBAYASHI2020 = _Kobayashi2020()
