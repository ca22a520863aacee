"""Versions of installed packages."""

import importlib.metadata


def version_of(package: str) -> str:
    """Return the version of an installed package, by its name in the package index; "absent" where it is not
    installed.
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
