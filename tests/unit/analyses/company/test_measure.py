"""The job that makes costs of what sets lose: what stands beside a head's cost."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.company import measure
from headtypes.analyses.company.results import read_costs, read_labels
from headtypes.analyses.declaration import Column
from headtypes.analyses.types.partitions import write_partition
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import write_arrays
from tests.support.planted import typed
from tests.unit.analyses.company.test_costs import company_of, planted

ACCURACY = np.arange(72.0)
RELATION = [None, *[0] * 70, 1]


def analysis(name: str, *columns: Column, files: int = 1) -> SimpleNamespace:
    """An analysis of that many files, of which each path is handed over."""

    def per_head(task, *paths):
        assert paths == tuple(f"{name}{number} of {task}" for number in range(files))
        return columns

    named = [SimpleNamespace(name=f"{name}{number}") for number in range(files)]
    return SimpleNamespace(name=name, files=named, per_head=per_head)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Run the job beside these analyses, each on the task `ewt`, and return what costs and labels are."""
    write_arrays(tmp_path / "sets", company_of(planted()), {})
    types = np.where(np.arange(72).reshape(6, 12) % 2, "dense", "vertical")
    write_partition(tmp_path / "partition", typed(types, cluster=0, silhouette=0.5, near=0.2, special=0.3, far=0.5))

    def run(*analyses) -> tuple[pd.DataFrame, pd.DataFrame]:
        monkeypatch.setattr(measure, "ANALYSES", analyses)
        monkeypatch.setattr(measure, "analysis_named", {of.name: of for of in analyses}.__getitem__)
        names = [file.name for of in analyses for file in of.files]
        files = {name: {"ewt": f"{name} of ewt"} for name in names}
        inputs = Inputs(sets=tmp_path / "sets", partitions={"mine": tmp_path / "partition"}, own={}, **files)
        outputs = SimpleNamespace(**{name: tmp_path / name for name in ("costs", "fit", "labels")})
        measure.run(inputs, {"seed": 0}, outputs, {})
        return read_costs(outputs.costs), read_labels(outputs.labels)

    return run


class Inputs(SimpleNamespace):
    """A job's inputs."""

    def get(self, name, other):
        """As Snakemake's."""
        return vars(self).get(name, other)


def test_what_else_is_known_of_a_head_stands_beside_its_cost_and_numbers_are_held_against_costs(job):
    named = [{"name": "nsubj"}, {"name": "dobj"}]
    relation = Column("relation", "best relation", "g", RELATION, categories=named)
    costs, labels = job(
        analysis("relations", relation, Column("above", "above", "g", ACCURACY), files=2),
        analysis("surface", Column("sep", "to [SEP]", "g", -ACCURACY)),
        analysis("none", files=0),
    )
    assert costs["best relation (ewt)"].fillna("").tolist() == ["", *["nsubj"] * 70, "dobj"]
    assert costs["to [SEP] (ewt)"].tolist() == (-ACCURACY).tolist()
    assert costs["type (mine)"].tolist() == ["vertical", "dense"] * 36
    of_numbers = labels[labels["family"] == "numbers of heads"].set_index("label")["statistic"]
    assert {"above (ewt)", "to [SEP] (ewt)"} <= set(of_numbers.index)
    assert "best relation (ewt)" not in of_numbers
    assert of_numbers["above (ewt)"] == pytest.approx(-of_numbers["to [SEP] (ewt)"])


def test_two_columns_of_one_name_are_said_in_a_sentence(job):
    columns = [analysis(name, Column(name, "to [SEP]", "g", ACCURACY)) for name in ("surface", "mine")]
    with pytest.raises(InputError, match=r"Two columns of heads are called to \[SEP\] \(ewt\); rename that of mine\."):
        job(*columns)
