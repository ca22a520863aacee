"""Seeds for random choices: one for each use, none shared, none global."""

import hashlib

from headtypes.core.files import canonical_json


def derive_seed(*parts: str | int) -> int:
    """Return a seed, 0 to 2**32 - 1, that depends on the parts alone and is the same on every machine.

    parts: from the general to the particular, such as the config's seed, the rule (by its first name if it was
        renamed), the model, the repetition. The number 1 and the text "1" give different seeds.
    """
    digest = hashlib.sha256(canonical_json(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")
