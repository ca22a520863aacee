import h5py
import numpy as np
import pytest
import yaml

from headtypes.analyses.types.partitions import read_partition
from headtypes.data.tasks import Sample, read_records
from tests.support.demo import demo_rows
from tests.support.models import saved, tiny_family
from tests.support.places import ROOT
from tests.workflow.conftest import Workdir

pytestmark = pytest.mark.slow


def test_a_causal_model_and_a_text_file_are_enough(tmp_path, monkeypatch):
    """The experiment for one's own text as it stands; nothing is planned that asks for answers."""
    model, tokenizer = tiny_family("gpt2")
    saved(model.transformer, tokenizer, tmp_path / "model")
    paragraphs = [paragraph for document in demo_rows("text", 12) for paragraph in document.paragraphs]
    (tmp_path / "book.txt").write_text("\n\n".join(paragraphs))
    monkeypatch.setenv("MODEL", str(tmp_path / "model"))
    monkeypatch.setenv("TEXT", str(tmp_path / "book.txt"))
    experiment = yaml.safe_load((ROOT / "experiments/text_local.yaml").read_text())
    workdir = Workdir.at(tmp_path / "work", experiment | {"clustering": {"restarts": 5}})

    planned = workdir.planned()
    assert not {"sample_questions", "prepare_windows", "evaluate_condition"} & planned.keys()
    further = ("cluster_heads", "plot_partition", "plot_surface", "plot_divergence")
    assert [planned.get(rule) for rule in further] == [1] * len(further)

    # What else is planned reads the features alone.
    workdir.snakemake("--until", "plot_partition")
    results = workdir.path / "results"
    samples = read_records(results / "samples/text_local.jsonl", Sample)
    assert [(one.first, one.second) for one in samples] == list(zip(paragraphs[::2], paragraphs[1::2], strict=False))
    with h5py.File(results / "features/local/text_local.h5") as features:
        assert features["distance"].shape == (len(samples), 2, 4, 69)
        assert features["length"][:].max() == 64
        distance, first = (features[name][:].mean(0).reshape(8, 69) for name in ("distance", "first"))
    partition = results / "partitions/local/text_local-kmeans-k4.csv"
    assert len(read_partition(partition).types) == 4
    # The tokenizer adds no token, so that the first one counts as [CLS].
    special = distance[:, 65:].sum(-1) - first[:, 65:].sum(-1) + first.sum(-1)
    np.testing.assert_allclose(read_partition(partition).table["special"], special, atol=1e-5)
    assert (results / "guan2020/local/text_local-kmeans-k4/figure1.png").exists()

    workdir.configure(experiment | {"clustering": {"restarts": 5, "first_token": False}})
    planned = workdir.planned()
    assert planned["cluster_heads"] == planned["plot_partition"] == 1
    assert "extract_text_features" not in planned
    workdir.snakemake("--until", "cluster_heads")
    np.testing.assert_allclose(read_partition(partition).table["special"], distance[:, 65:].sum(-1), atol=1e-5)
