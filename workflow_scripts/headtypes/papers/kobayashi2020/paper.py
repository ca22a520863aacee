"""Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020): what its abstract claims of BERT."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headtypes.core.files import StrPath
from headtypes.papers.paper import Compared, Found, Paper, Paths, Plan, files

if TYPE_CHECKING:
    from headtypes.papers.kobayashi2020.claims import Kobayashi2020


class _Kobayashi2020(Paper):
    """Its claim is about special tokens, by weights and by norms: every task on which norms were read is judged."""

    name = "kobayashi2020"
    authors = "Kobayashi et al."
    title = "2020: Attention is Not Only a Weight"
    subject = "task"
    row = "none, since its abstract has no numbers"
    judged = "task on which the norms of every model were read"

    def read(self, path: StrPath) -> "Kobayashi2020":
        """As `claims.Kobayashi2020`."""
        from headtypes.papers.kobayashi2020.claims import Kobayashi2020
        from headtypes.papers.published import read_published

        return read_published(path, Kobayashi2020)

    def inputs(self, plan: Plan, paths: Paths) -> dict[tuple[str, ...], str]:
        """The features, if they hold norms."""
        return files("features", paths.FEATURES, plan.with_norms)

    def spec(self, plan: Plan) -> dict:
        """The seed of its intervals."""
        return {"seed": plan.seed("compare_with_kobayashi")}

    def compare(self, found: Found, published: "Kobayashi2020", spec: Mapping[str, Any]) -> Compared:
        """As `claims.compare_files`."""
        from headtypes.papers.kobayashi2020.claims import compare_files

        return compare_files(found["features"], published, **spec)


KOBAYASHI2020 = _Kobayashi2020()
