"""Names of the types of heads, and of the methods that find them."""

# Guan et al. 2020, section 4: the four patterns of attention.
TYPES = ("dense", "diagonal", "dense_vertical", "vertical")

# The methods by which heads are clustered, in the order of tables and figures; `clustering` has what each does.
METHODS = ("kmeans", "gmm", "agglomerative", "spectral")

# Gaussian mixtures by the covariances that scikit-learn offers. The last three only stand beside k-means: Guan et al.
# 2020 do not say which their mixture has, and clusters depend on it.
MIXTURES = {"gmm": "diag", "gmm-spherical": "spherical", "gmm-tied": "tied", "gmm-full": "full"}


def type_names(k: int) -> tuple[str, ...]:
    """Return the names of k types: the four of Guan et al. (2020) for k = 4, else `type-1`, `type-2`, ..."""
    return TYPES if k == len(TYPES) else tuple(f"type-{number}" for number in range(1, k + 1))
