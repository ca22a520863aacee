"""The papers that models can stand beside; light, since the configuration and every planned job load it."""

from typing import Literal

# The name of a paper's folder here, of its data in reference/ and of its folder under results/. A second paper is one
# more name.
Paper = Literal["guan2020"]
