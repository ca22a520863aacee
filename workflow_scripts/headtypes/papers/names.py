"""The papers that models can be compared with. It imports little, since the config and every planned job load it."""

from typing import Literal

# The name of a paper's folder here, of its data in reference/ and of its folder under results/.
Paper = Literal["guan2020", "clark2019"]
