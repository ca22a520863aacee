"""Tables 1 to 3 of Clark et al. for the summary, one of each for every model and task."""

from collections.abc import Iterator

import pandas as pd

from headtypes.pages.summary.cells import Cell, Column, Shown, number, words

_DIRECTIONS = {"dependent_to_head": "dependent to head", "head_to_dependent": "head to dependent"}
_CANDIDATES = {"words": "all other words", "words_before": "the words before", "mentions": "head words of candidates"}
_MENTIONS = ("all", "pronoun", "proper", "nominal")


def relation_tables(table: pd.DataFrame, file: str) -> Iterator[Shown]:
    """Clark's Table 1, the relations of the paper or, without such, those of the treebank; read from CSV."""
    for (model, task), of_subject in table.groupby(["model", "task"], sort=False):
        derived = of_subject[of_subject["annotation"] == "stanford"]
        rows = of_subject if derived.empty else derived
        keys = ["annotation", "relation"]
        other = rows[(rows["scored"] != "file")].drop_duplicates(keys).set_index(keys)
        own = rows[(rows["chosen"] == "file") & (rows["scored"] == "file")].drop_duplicates(keys)
        beside = own["published_accuracy"].notna().any()
        columns = [
            Column("relation", is_number=False),
            Column("words"),
            Column("head", is_number=False),
            Column("direction", is_number=False),
            Column("accuracy", note="percent of words whose head is guessed; 95 % interval over sentences"),
            Column("best offset"),
            Column("of the offset"),
            Column("lead", note="the best head less the best offset"),
            Column("lead elsewhere", note="of the same choice on other sentences, by which claims are judged"),
            *([Column("paper's"), Column("paper's offset")] if beside else []),
        ]
        shown = []
        for _, row in own.iterrows():
            elsewhere = other.loc[tuple(row[keys])] if tuple(row[keys]) in other.index else None
            shown.append(
                [
                    words(row["relation"]),
                    number(row["words"], 0),
                    words(row["head"]),
                    words(_DIRECTIONS.get(row["direction"], row["direction"])),
                    _with_ends(row, "accuracy"),
                    Cell("" if pd.isna(row["offset"]) else f"{row['offset']:+.0f}", row["offset"]),
                    _with_ends(row, "offset_accuracy"),
                    _with_ends(row, "above_offset"),
                    Cell("") if elsewhere is None else _with_ends(elsewhere, "above_offset"),
                    *([number(row["published_accuracy"]), number(row["published_baseline"])] if beside else []),
                ]
            )
        yield Shown(f"Clark's Table 1. Dependency relations: {model}, {task}", columns, shown, file=file)


def coreference_tables(table: pd.DataFrame, file: str) -> Iterator[Shown]:
    """Clark's Table 2: baselines, and the best head under each reading of its candidates; read from CSV."""
    for (model, task), of_subject in table.groupby(["model", "task"], sort=False):
        rows = of_subject[of_subject["chosen"].isna() | (of_subject["chosen"] == "documents")]
        rows = rows[rows["system"] != "best_head_of_type"]
        columns = [
            Column("system", is_number=False),
            Column("guess among", is_number=False),
            Column("head", is_number=False),
            *(Column(name, note="percent of mentions, with its 95 % interval over documents") for name in _MENTIONS),
            *([Column("paper's")] if rows["published"].notna().any() else []),
        ]
        shown = []
        for (system, candidates), some in rows.groupby(["system", "candidates"], sort=False):
            by_type = some.set_index("type")
            cells = [
                number(*_three(by_type.loc[name])) if name in by_type.index else number(None) for name in _MENTIONS
            ]
            among = _CANDIDATES.get(candidates, candidates) if system == "best_head" else ""
            head = some["head"].dropna()
            line = [
                words(str(system).replace("_", " ")),
                words(among),
                words(head.iloc[0] if len(head) else ""),
                *cells,
            ]
            published = some.loc[some["type"] == "all", "published"]
            shown.append(line + ([number(published.iloc[0])] if len(columns) > len(line) else []))
        counted = of_subject[of_subject["type"] == "all"].iloc[0]
        about = f"{counted['mentions']:,.0f} mentions with an antecedent, in {counted['documents']:,.0f} documents."
        yield Shown(f"Clark's Table 2. Coreference: {model}, {task}", columns, shown, about, file)


def probe_tables(table: pd.DataFrame, file: str) -> Iterator[Shown]:
    """Clark's Table 3: what probes parse; read from CSV."""
    for (model, task), rows in table.groupby(["model", "task"], sort=False):
        beside = rows["published"].notna().any()
        columns = [
            Column("system", is_number=False),
            Column("UAS", note="percent of words whose head is found; 95 % interval over sentences"),
            Column("starts", note="number of random starts"),
            Column("least of the starts"),
            Column("most of the starts"),
            *([Column("paper's")] if beside else []),
        ]
        shown = [
            [
                words(str(row["system"]).replace("_", " ")),
                number(row["uas"], 1, row["low"], row["high"]),
                number(row["starts"], 0),
                *(number(row[name] if pd.notna(row["starts"]) else None, 2) for name in ("least", "most")),
                *([number(row["published"], 0)] if beside else []),
            ]
            for _, row in rows.iterrows()
        ]
        learned, scored = rows[["training_sentences", "sentences"]].iloc[0]
        about = f"Learned from {learned:,.0f} sentences, scored on {scored:,.0f}."
        yield Shown(f"Clark's Table 3. Probes: {model}, {task}", columns, shown, about, file)


def _with_ends(row: pd.Series, name: str) -> Cell:
    return number(row[name], 1, row[f"{name}_low"], row[f"{name}_high"])


def _three(row: pd.Series) -> tuple[float, int, float, float]:
    return row["accuracy"], 1, row["low"], row["high"]
