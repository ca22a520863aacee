"""References from one key of a configuration to an entry under another."""

from collections.abc import Iterable

from headtypes.core.errors import InputError, nearest
from headtypes.planning.config.schema import Config


def check_known(key: str, name: str, registry: Iterable[str]) -> None:
    """Refuse a name that its registry does not have."""
    if name not in registry:
        raise InputError(
            f'config: {key}: there is no "{name}".{nearest(name, registry)} Known: {", ".join(sorted(registry))}.'
        )


def check_entry(config: Config, registry: str, key: str, name: str) -> None:
    """Refuse the name of an entry that a registry does not have; where `null` took it away, name that key too."""
    check_not_removed(config, registry, key, name)
    check_known(key, name, getattr(config, registry))


def check_not_removed(config: Config, registry: str, key: str, name: str) -> None:
    """Refuse an entry that a file laid over another takes away."""
    if by := config.removed(registry).get(name):
        raise InputError(
            f'config: {key} names "{name}", which {by}: null takes away; name another there, or take the entry that '
            "names it away as well."
        )
