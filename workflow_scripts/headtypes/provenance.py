"""What made a result: written into the result itself."""

import importlib.metadata
import platform

from headtypes.files import canonical_json

_PACKAGES = ("headtypes", "h5py", "numpy", "tokenizers", "torch", "transformers")


def provenance(spec: dict, model: dict) -> dict[str, str]:
    """Attributes that say which model and settings made a file, and with which versions.

    spec:  what the job's rule depends on in the configuration.
    model: record of `sources.fetch_model`.
    """
    return {
        "model": canonical_json({key: model.get(key) for key in ("name", "hub", "folder", "package", "weights")}),
        "revision": model["revision"] or "",
        **({"task": spec["task"]} if "task" in spec else {}),
        "spec": canonical_json(spec),
        "versions": canonical_json({"python": platform.python_version(), **_versions()}),
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
