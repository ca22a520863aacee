"""Which sets of heads are evaluated besides the draws. Planning estimates run times from it: nothing heavy here."""

# Shares of all heads that the cheapest sets have, and the random sets of each size beside them.
SIZES = (0.05, 0.1, 0.2)
RANDOM = 5
# Of each size, a set chosen on each half of the questions for each of at most two scores, and the random ones.
MOST_SETS = len(SIZES) * (2 * 2 + RANDOM)
