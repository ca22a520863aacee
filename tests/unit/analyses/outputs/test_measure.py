"""What heads write equals its definition, computed densely; a head that writes nothing is told from one that writes."""

import numpy as np
import pytest
import torch

from headtypes.analyses.outputs.analysis import LABELS, per_head, per_set
from headtypes.analyses.outputs.measure import COLUMNS, STREAM, Outputs, WrittenByHeads, measure_outputs
from headtypes.analyses.outputs.tables import heads_table, layers_table
from headtypes.attention.one_pass import ModelOnTask, read_attention, read_samples
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import read_arrays, write_arrays
from headtypes.core.table_files import write_csv
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from headtypes.models.model_config import headed_layers
from tests.support.dense import GATED, defined_writes
from tests.support.models import ENCODERS, FAMILIES, QUESTIONS, in_float64, tiny_bert, tiny_family
from tests.support.records import SAMPLES, recorded

# These normalise what an attention layer has made before they add it, or add it with that of another layer, or to what
# no module reads again.
WITHOUT = ("gemma2", "gemma3_text", "gemma3n_text", "olmo2", "olmo_hybrid", "falcon", "falcon_h1", "gptj", "zamba2")


def defined_outputs(model, family, ids, types, kinds, largest_of):
    """[layer, head, column] and [layer, 3]; largest_of: the token found to be largest, of which several may be."""
    layers = defined_writes(model, family, ids, types)
    inputs = {"input_ids": torch.tensor([ids])} | ({} if types is None else {"token_type_ids": torch.tensor([types])})
    model = in_float64(model)
    narrowed = []
    for layer in model.encoder.layer if family == "mobilebert" else ():
        # What it adds to is narrower than its hidden states.
        layer.bottleneck.input.register_forward_hook(lambda *called: narrowed.append(called[-1]))
    with torch.inference_mode():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    hidden = narrowed or hidden
    length = len(ids)
    groups = {
        "written": range(length),
        "written_first": [0],
        "written_special": [t for t in range(1, length) if kinds[t] in (1, 2)],
        "written_punctuation": [t for t in range(1, length) if kinds[t] in (3, 4)],
        "written_other": [t for t in range(1, length) if kinds[t] == 0],
        **{f"written_quarter_{q + 1}": [t for t in range(1, length) if 4 * t // length == q] for q in range(4)},
    }
    columns = np.full((len(layers), len(layers[0][0]), len(COLUMNS)), np.nan)
    streams = np.empty((len(layers), len(STREAM)))
    for layer, (attention, value, into) in enumerate(layers):
        stream = hidden[headed_layers(model.config)[layer]][0].numpy()
        sizes = np.abs(stream)
        largest = int(largest_of[layer])
        streams[layer] = sizes.max(), np.sort(sizes.ravel())[(sizes.size - 1) // 2], largest
        assert sizes[largest].max() == pytest.approx(sizes.max())
        for head in range(len(attention)):
            lengths = np.linalg.norm((attention[head] @ value[head] @ into[head]).numpy(), axis=-1)
            beside = lengths / np.linalg.norm(stream, axis=-1)
            found = {name: np.mean(beside[[*tokens]]) for name, tokens in groups.items() if len(tokens)}
            found["length"] = np.mean(lengths)
            found["first"], found["to_largest"] = (attention[head, :, t].mean().item() for t in (0, largest))
            for name, number in found.items():
                columns[layer, head, COLUMNS.index(name)] = number
    return columns, streams


@pytest.mark.parametrize("family", [each for each in [*FAMILIES, *ENCODERS] if each not in GATED])
def test_what_heads_write_in_padded_batches_equals_the_definition(family):
    model, tokenizer = tiny_family(family)
    model = in_float64(getattr(model, "base_model", model))
    encoded = encode_samples(SAMPLES, tokenizer, "question_answering", 30)
    reducers, how = [WrittenByHeads(encoded.kinds)], {"batch_tokens": 10_000, "what": "test"}
    if family in WITHOUT:
        with pytest.raises(InputError, match="changes the output of attention layer 1 before it adds it"):
            read_attention(model, encoded, reducers, **how)
        return
    ((written, streams),) = read_attention(model, encoded, reducers, **how)
    for index, ids in enumerate(encoded.input_ids):
        types = encoded.token_types and encoded.token_types[index]
        largest = streams[index, :, STREAM.index("token")]
        columns, stream = defined_outputs(model, family, ids, types, encoded.kinds[index], largest)
        np.testing.assert_allclose(written[index], columns, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(streams[index], stream, rtol=1e-5)


def measured(record, samples=SAMPLES):
    run = ModelOnTask(record, task="text", precision="float32", batch_tokens=512)
    (found,) = read_samples(run, samples, "text", [measure_outputs])
    return found


def planted(tmp_path):
    """A BERT in whose second layer head 3 writes nothing, whatever it looks at, and head 1 much."""
    model, tokenizer = tiny_bert(layers=2)
    projection = model.bert.encoder.layer[1].attention.output.dense.weight.data
    projection[:, 2 * 7 : 3 * 7] = 0
    projection[:, :7] *= 3
    return recorded(model, tokenizer, tmp_path / "model")


def test_a_head_that_looks_and_writes_nothing_is_told_from_one_that_writes(tmp_path):
    outputs = measured(planted(tmp_path))
    write_arrays(tmp_path / "outputs.h5", outputs, {})
    read = read_arrays(tmp_path / "outputs.h5", Outputs)
    np.testing.assert_array_equal(read.written, outputs.written)
    heads = heads_table(read).set_index(["layer", "head"])
    silent, loud = heads.loc[(1, 2)], heads.loc[(1, 0)]
    # It looks at tokens as others do, so that no sink shows it.
    assert silent[["written", "off", "off_no_sink"]].tolist() == [0, 100, 100]
    assert 0 < silent["first"] < 0.5
    assert loud["off"] == 0
    assert loud["relative"] > 1.5
    assert (heads["off"] > 0).sum() == 1
    # So few samples say nothing of others.
    assert heads["low"].isna().all()
    layers = layers_table(read)
    np.testing.assert_allclose(layers["off"], [0, 100 / 5])
    assert layers["varies"].eq(0).all()
    write_csv(tmp_path / "heads.csv", heads.reset_index())
    columns = {column.key: column for column in per_head("text", tmp_path / "heads.csv")}
    assert columns["outputs.text.written"].values[7] == 0
    assert columns["outputs.text.off"].values[7] == 100
    measures = {(it.quantity, it.statistic): it for it in per_set("text", tmp_path / "heads.csv", {}, seed=0)}
    assert {quantity for quantity, _ in measures} <= LABELS.keys()
    assert measures["relative", "smallest"].values(np.ones((1, 10), bool)) == 0


def test_heads_that_are_off_for_some_samples_and_massive_activations_are_found(tmp_path):
    outputs = measured(planted(tmp_path), [Sample(str(n), *QUESTIONS[n % 3]) for n in range(8)])
    outputs.written[:4, 0, 1, COLUMNS.index("length")] = 0
    outputs.stream[2:4, 1] = 2500, 2, 3
    outputs.stream[4:6, 1] = 2500, 3, 3
    layers = layers_table(outputs)
    assert layers["varies"].tolist() == [1, 0]
    assert heads_table(outputs)["off"][1] == 50
    assert layers["massive"].tolist() == [0, 25]


def test_a_model_whose_heads_write_what_is_changed_first_has_a_reason_and_no_values(tmp_path):
    outputs = measured(recorded(*tiny_family("olmo2"), tmp_path / "model"))
    write_arrays(tmp_path / "outputs.h5", outputs, {})
    read = read_arrays(tmp_path / "outputs.h5", Outputs)
    assert "before it adds it to the residual stream" in read.reason
    write_csv(tmp_path / "heads.csv", heads_table(read))
    assert layers_table(read)["largest"].isna().all()
    assert per_head("text", tmp_path / "heads.csv") == []
    assert list(per_set("text", tmp_path / "heads.csv", {}, seed=0)) == []
