"""Seeds for random choices: one for each use, none shared, none global."""

import hashlib

from headtypes.core.files import canonical_json


def derive_seed(*parts: str | int) -> int:
    """Return the seed, 0 to 2**32 - 1, that belongs to these parts, the same on every machine.

    parts: what the random choice is for, from the general to the particular: the config's seed, the stage,
        the model, the repetition. A stage that gets another name keeps its first one here, so that what was drawn can
        be drawn again. The number 1 and the text "1" are different parts.
    """
    digest = hashlib.sha256(canonical_json(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")
