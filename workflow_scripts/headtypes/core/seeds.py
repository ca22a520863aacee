"""Seeds for random choices: one for each use, none shared, none global."""

import hashlib

from headtypes.core.files import canonical_json


def derive_seed(*parts: str | int) -> int:
    """Return the seed, 0 to 2**32 - 1, that belongs to these parts, the same on every machine.

    parts: from the general to the particular: the config's seed, the stage (under its first name, where it was
        renamed), the model, the repetition. The number 1 and the text "1" differ.
    """
    digest = hashlib.sha256(canonical_json(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")
