"""All claims of this paper, in its order."""

from headtypes.papers.guan2020 import claims_of_answers, claims_of_heads

CLAIMS = (*claims_of_heads.claim, *claims_of_answers.claim)
