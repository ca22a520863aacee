"""Analyses of a user's own: the class that such a file derives from, and the job that reads it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from tokenizers import Encoding
from torch import Tensor

from headtypes.analyses.own.analysis import class_in
from headtypes.attention.one_pass import ModelOnTask
from headtypes.attention.reducers import Block, PerSample
from headtypes.core.errors import InputError, spelled_out
from headtypes.core.files import StrPath
from headtypes.core.statistics import mean_intervals, mean_of_known
from headtypes.core.table_files import head_table, write_csv
from headtypes.data.encoding import Encoded
from headtypes.data.tasks import Sample, read_records
from headtypes.models.records import ModelRecord, read_model_record


@dataclass(frozen=True)
class SampleBlock:
    """The attention of some tokens of one sample (queries) to all its tokens (keys), by all heads of one layer.

    weights: [head, query, key]. queries, keys: positions in the sample, from 0. layer: index of the layer, from 0.
    ids, kinds: of each key its token id, and 1 for `[CLS]`, 2 for `[SEP]`, 3 for a comma, 4 for a period, 0 for others.
    """

    weights: Float[Tensor, "head query key"]
    queries: Int[Tensor, " query"]
    keys: Int[Tensor, " key"]
    ids: Int[Tensor, " key"]
    kinds: Int[Tensor, " key"]
    layer: int
    sample: Sample
    encoding: Encoding

    @property
    def tokens(self) -> list[str]:
        return self.encoding.tokens


class HeadAnalysis:
    """A number of every head: the mean over samples of a value that a subclass's method `add` gives on each sample.

    add: function (`SampleBlock`) -> [head, query] numbers; their mean over queries is the head's value on the sample.
    label, unit: name of the number where it is shown, by default the name of the class, and its unit.
    inputs: {name in the config: path of a file that the analysis reads}. Further attributes of a subclass are
        parameters, to which the config, or an argument of the class, can give other values.
    """

    label: str = ""
    unit: str = ""
    inputs: Mapping[str, str] = {}

    def __init__(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            if not hasattr(type(self), name):
                raise InputError(f"{type(self).__name__} has no parameter {name}; give it one, as `{name} = ...`.")
            setattr(self, name, value)

    def add(self, block: SampleBlock) -> Float[Tensor, "head query"]:
        """Return a number for each head and query, NaN for none; means over all queries give a head's value."""
        raise NotImplementedError


class QueryMeans(PerSample):
    """A reducer whose result, [sample, layer, head], is the mean over queries of the numbers from `HeadAnalysis.add`.

    Queries are all tokens of a sample. Means leave out NaN, and are NaN without numbers. encoded: the samples.
    """

    def __init__(self, analysis: HeadAnalysis, encoded: Encoded):
        # The sum of the numbers, how many there are, and the sum of the attention.
        super().__init__(3)
        self._analysis, self._encoded = analysis, encoded

    def add(self, block: Block) -> None:
        rows = range(self.batch.samples.size)[block.group.samples]
        keys = torch.arange(block.group.length, device=block.attention.device)
        for place, weights in zip(rows, block.attention, strict=True):
            index = int(self.batch.samples[place])
            kinds = torch.as_tensor(self._encoded.kinds[index], device=keys.device)
            ids = self.batch.inputs["input_ids"][place, : len(keys)]
            about = self._encoded.samples[index], self._encoded.encodings[index]
            of_queries = self._numbers(SampleBlock(weights, keys[block.rows], keys, ids, kinds, block.layer, *about))
            is_known = ~of_queries.isnan()
            self.values[place, block.layer, block.heads] += torch.stack(
                [of_queries.nan_to_num().sum(-1), is_known.sum(-1), weights.sum((-1, -2))], -1
            )

    def result(self) -> np.ndarray:
        total, number, _ = np.moveaxis(super().result().astype(float), -1, 0)
        return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)

    def _numbers(self, block: SampleBlock) -> Tensor:
        given, wanted = self._analysis.add(block), block.weights.shape[:2]
        name, asked = f"{type(self._analysis).__name__}.add", f"one for each head and query, {[*wanted]}"
        try:
            numbers = torch.as_tensor(given, dtype=torch.float32, device=block.weights.device)
        except (TypeError, ValueError, RuntimeError):
            raise InputError(f"{name} gave a {type(given).__name__}, and has to give numbers, {asked}.") from None
        if numbers.shape != wanted:
            raise InputError(f"{name} gave numbers {[*numbers.shape]}, and has to give {asked}.")
        # Where the attention itself is not finite, the pass says so.
        if numbers.isinf().any() and block.weights.isfinite().all():
            raise InputError(f"{name} gave an infinite number; give NaN where a query has none.")
        return numbers


def value_table(analysis: HeadAnalysis, values: Float[np.ndarray, "sample layer head"]) -> pd.DataFrame:
    """Return one row for each head: layer, head (both from 0), value, low, high, samples, label and unit.

    value: mean over samples without NaN; low, high: its 95 % interval over these samples; samples: number of these.
    label, unit: name of the analysis and unit of measurement of its values, such as nats, the same in each row.
    """
    known = ~np.isnan(values)
    low, high = mean_intervals(np.where(known, values, 0), known.astype(float))
    numbers = {"value": mean_of_known(values), "low": low, "high": high, "samples": known.sum(0)}
    columns = {name: of_heads.ravel() for name, of_heads in numbers.items()}
    return head_table(
        values.shape[1:], {**columns, "label": analysis.label or spelled_out(type(analysis)), "unit": analysis.unit}
    )


def load_analysis(file: StrPath, parameters: Mapping[str, Any]) -> HeadAnalysis:
    """Return the analysis in a user's Python file, which is run; parameters: {attribute of the analysis: its value}."""
    name, spec = class_in(file), spec_from_file_location("own_analysis", file)
    # Classes look up their module, as dataclasses do.
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)(**parameters)


def measure_heads(
    analysis: HeadAnalysis, samples: list[Sample], record: ModelRecord, *, kind: str, **settings: Any
) -> pd.DataFrame:
    model = ModelOnTask(record, **settings)
    encoded = model.encode(samples, kind)
    (values,) = model.read(encoded, QueryMeans(analysis, encoded))
    return value_table(analysis, values)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    analysis = load_analysis(spec.pop("file"), {**spec.pop("parameters"), "inputs": inputs.own})
    del spec["inputs"]
    samples, model = read_records(inputs.samples, Sample), read_model_record(inputs.model)
    write_csv(outputs.own, measure_heads(analysis, samples, model, **spec))
