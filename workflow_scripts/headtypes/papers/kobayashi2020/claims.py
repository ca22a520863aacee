"""What the paper's abstract claims of BERT.

Sentences that no claim decides: that weights are one of two factors (a definition, `attention.norms`), and that word
alignment can be extracted from a model for translation (no such model is read here).
"""

from headtypes.papers.claims import Claims
from headtypes.papers.published import Published
from headtypes.papers.quantities import NoVerdictError, Quantities, Quantity


class Kobayashi2020(Published):
    """The paper; its abstract gives no numbers."""

    model: str

    @property
    def rows(self) -> tuple[str, ...]:
        """What a model can stand beside: nothing."""
        return ()


class Shares(Quantities):
    """Shares of what all heads attend to, in percent, by kind of token: `{kind}.weights` and `{kind}.norms`."""

    def by_norms_beyond(self, kind: str, times: float) -> Quantity:
        """A kind's share by norms, less so many times that by weights. Raises `NoVerdictError` where no text has it."""
        names = f"{kind}.norms", f"{kind}.weights"
        if any(name not in self for name in names) or self[names[1]].value == 0:
            raise NoVerdictError(self.otherwise)
        much = "" if times == 1 else f"{times:g} times "
        label = f"percent of norms that {kind} tokens get, less {much}their percent of weights"
        return Quantity(label, self.weighted_sum({names[0]: 1.0, names[1]: -times}))


claim = Claims("features")


claim(
    "special-poor",
    place="abstract",
    text="By norms, special tokens get less than half of what they get by weights.",
    wording="contrary to previous studies, BERT pays poor attention to special tokens",
    limit=(
        "no number is given; poor is less than half of the share that weights give them, on which previous studies "
        "rest, and may still be more than even attention gives; special tokens are [CLS] and [SEP]"
    ),
    ask=lambda shares: shares.by_norms_beyond("special", 0.5).below(0),
)

claim(
    "special-less-than-by-weights",
    basis="inferred",
    place="abstract",
    text="By norms, special tokens get less than by weights.",
    wording="contrary to previous studies",
    limit="a smaller share of norms than of weights",
    ask=lambda shares: shares.by_norms_beyond("special", 1).below(0),
)
