"""What is given away: tables, config and records, described for machines; no weights, no texts, nothing stale."""

import json
from pathlib import Path

import pytest
import yaml
from rocrate.rocrate import ROCrate

from commands.export import UNDECIDED, export
from headtypes.core.errors import InputError
from headtypes.core.files import write_text
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.provenance import beside
from tests.support.commands import files_below
from tests.support.planned_results import FEATURES, SAMPLES, TABLE, TEXT, TUNED, WEIGHTS, config

ABOUT = (["Doe, Jane", "Roe, Richard"], "CC-BY-4.0", "Types of heads")


def test_weights_and_texts_stay_out(plan):
    left_out = export(plan, Path("export"), *ABOUT)
    files = files_below(Path("export"))
    assert {TABLE, FEATURES, "config.yaml", "README.md", "ro-crate-metadata.json"} <= files
    assert left_out.keys() == {SAMPLES, TUNED, "results/sources/tasks/qa.jsonl"}
    assert UNDECIDED not in left_out.values()
    # What made them is told all the same.
    assert {str(beside(path)) for path in (TABLE, FEATURES, *left_out)} <= files
    held = b"".join((Path("export") / file).read_bytes() for file in files)
    assert not any(words.encode() in held for words in (TEXT, WEIGHTS))
    assert (Path("export") / TABLE).read_bytes() == Path(TABLE).read_bytes()


def test_the_card_and_the_config_say_what_it_is(plan):
    export(plan, Path("export"), *ABOUT)
    card = Path("export/README.md").read_text()
    assert card.startswith("# Types of heads\n\nDoe, Jane; Roe, Richard. Licence: CC-BY-4.0.\n")
    assert "- models/bert: hub some/bert, revision abab" in card
    assert (
        "Left out, though recorded in `results/provenance`: text of a corpus (2), the weights of a model (1)." in card
    )
    assert read_config(yaml.safe_load(Path("export/config.yaml").read_text())) == plan.config


def test_the_crate_describes_every_file_and_the_run(plan):
    export(plan, Path("export"), *ABOUT)
    crate = ROCrate("export")
    described = {entity.id for entity in crate.data_entities}
    assert described == files_below(Path("export")) - {"ro-crate-metadata.json"}
    assert crate.name == "Types of heads"
    assert crate.root_dataset["license"].id == "https://spdx.org/licenses/CC-BY-4.0"
    assert [author["name"] for author in crate.root_dataset["author"]] == ["Doe, Jane", "Roe, Richard"]
    assert crate.get(TABLE)["subjectOf"].id == str(beside(TABLE))
    assert {entity.id for entity in crate.get("#run")["result"]} == {TABLE, FEATURES} | {
        entity.id for entity in crate.data_entities if entity.id.startswith("results/sources/")
    }


def test_a_folder_that_is_not_empty_is_refused(plan):
    write_text("export/mine.txt", "mine")
    with pytest.raises(InputError, match=r"export is not empty; name another folder"):
        export(plan, Path("export"), *ABOUT)
    assert files_below(Path("export")) == {"mine.txt"}


def test_what_is_stale_or_damaged_is_not_given_away(plan):
    with pytest.raises(InputError, match=r"is stale: .*run snakemake, then this again"):
        export(Plan(read_config(config(samples=6))), Path("export"), *ABOUT)
    write_text(TABLE, "other")
    with pytest.raises(InputError, match=f"{TABLE} is damaged"):
        export(plan, Path("export"), *ABOUT)
    assert not Path("export").exists()


def test_a_result_that_nobody_has_decided_about_stays_out(plan):
    record = json.loads(beside(TABLE).read_text())
    Path(TABLE).rename("results/partitions/bert/new.csv")
    beside(TABLE).rename(beside("results/partitions/new.csv"))
    Path("results/partitions/bert/new.csv").rename("results/partitions/new.csv")
    assert record["sha256"]
    assert export(plan, Path("export"), *ABOUT)["results/partitions/new.csv"] == UNDECIDED
