"""The figures of Guan et al. 2020, drawn from plain data; each function returns a Matplotlib figure."""
