"""A second program for types beside analyses: counts from the single tables, with loops and no code of the package."""

from statistics import fmean


def heads_of(types: dict[tuple[int, int], str], name: str) -> list[tuple[int, int]]:
    """The heads of a type, from the type of each head."""
    return [head for head, own in types.items() if own == name]


def summaries(values: dict[tuple[int, int], float], heads: list[tuple[int, int]]) -> dict[str, float]:
    """Mean, smallest and largest value of some heads."""
    chosen = [values[head] for head in heads]
    return {"mean": fmean(chosen), "smallest": min(chosen), "largest": max(chosen)}


def inside(divergence: list[list[float]], places: list[int]) -> float:
    """Mean divergence of two different heads of a set."""
    return fmean(divergence[a][b] for a in places for b in places if a != b)


def between(divergence: list[list[float]], places: list[int], others: list[int]) -> float:
    """Mean divergence of a head of one set and another head of the other."""
    return fmean(divergence[a][b] for a in places for b in others if a != b)


def best(rows: list[dict], heads: list[tuple[int, int]]) -> float:
    """Accuracy of the best head, in any direction, of a table of one relation."""
    return max(row["accuracy"] for row in rows if (row["layer"], row["head"]) in heads)


def best_heads(rows: list[dict], heads: list[tuple[int, int]]) -> int:
    """How many relations have their best head among some heads, of a table of relations and no totals."""
    count = 0
    for relation in dict.fromkeys(row["relation"] for row in rows):
        winner = None
        for row in rows:
            if row["relation"] == relation and (winner is None or row["accuracy"] > winner["accuracy"]):
                winner = row
        count += (winner["layer"], winner["head"]) in heads
    return count
