"""The methods by which heads are clustered, in the order of tables and figures; `clustering` has what each does."""

METHODS = ("kmeans", "gmm", "agglomerative", "spectral")
