"""The packages that results depend on, and their versions."""

from functools import cache

from headtypes.core.installed import version_of

# Packages whose version can change a number or a byte of a result, by the name they are imported under.
NUMERIC_PACKAGES = {
    "accelerate": "accelerate",
    "datasets": "datasets",
    "h5py": "h5py",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
    "sentencex": "sentencex",
    "sklearn": "scikit-learn",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
}


@cache
def version(package: str) -> str:
    """The installed version of a package of `NUMERIC_PACKAGES`, by the name it is imported under, or "absent"."""
    # torch's build (+cpu, +cu130) is the machine's, not the lock's.
    return version_of(NUMERIC_PACKAGES[package]).partition("+")[0]
