"""The plan: which jobs a configuration asks for; and all rules and results, as their own modules declare them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from headtypes.analyses.declaration import Analysis
from headtypes.analyses.registry import ANALYSES, OWN, analysis_named
from headtypes.analyses.types.names import type_names
from headtypes.attention.operations import head_of, need_head_outputs, reading_matters
from headtypes.attention.reducers import Of
from headtypes.comparisons import stage as compared_types
from headtypes.core.files import derive_seed, files_in
from headtypes.core.stage import Result, Stage, given, wildcards_of
from headtypes.data import stage as data
from headtypes.data.kinds.text import Text
from headtypes.data.tasks import KINDS, Kind
from headtypes.models import stage as models
from headtypes.models.records import model_files
from headtypes.pages import stage as pages
from headtypes.papers import registry as papers
from headtypes.papers.registry import PAPERS
from headtypes.planning.checks import check, check_evaluated, left_out, types_in
from headtypes.planning.config import (
    Config,
    ConfigError,
    Finetuned,
    Layers,
    changes_nothing,
    is_result,
    read_config,
    types_of,
)
from headtypes.training import stage as training

_MODULES = (models, data, training, papers, compared_types, pages)
STAGES: dict[str, Stage] = {
    **{stage.name: stage for module in _MODULES for stage in vars(module).values() if isinstance(stage, Stage)},
    **{stage.name: stage for declared in (*ANALYSES, OWN, *PAPERS.values()) for stage in declared.stages},
}
RESULTS: tuple[Result, ...] = (
    *(result for module in (pages, papers, compared_types) for result in module.RESULTS),
    *(result for paper in PAPERS.values() for result in paper.results),
    *(replace(result, section=analysis.section) for analysis in (*ANALYSES, OWN) for result in analysis.results),
    *(result for module in (models, data, training) for result in module.RESULTS),
)

UNDER = "@"  # between a condition and a reading; no name holds it
RANDOM_TOKENS = "random tokens"  # in place of a task where a model reads none; no task has this name


class FeaturePlan(NamedTuple):
    """A pair of a model and a task on whose inputs the model's heads are measured."""

    model: str
    task: str

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(self)

    @property
    def wildcards(self) -> dict[str, str]:
        return self._asdict()


class AnalysisPlan(NamedTuple):
    """A triple: a user's analysis, a model, and a task on whose samples the analysis reads the model."""

    analysis: str
    model: str
    task: str
    key = FeaturePlan.key
    wildcards = FeaturePlan.wildcards


@dataclass(frozen=True)
class PartitionPlan:
    """A division of a model's heads into types: by clustering into `k` types, or from a CSV `file` of the user's.

    of: "weights" or "norms": whether features of attention or of norms divide and describe the heads.
    """

    model: str
    name: str
    task: str
    types: tuple[str, ...]
    method: str | None = None
    k: int | None = None
    file: str | None = None
    of: Of = "weights"

    @property
    def of_task(self) -> FeaturePlan:
        return FeaturePlan(self.model, self.task)

    @property
    def clustering(self) -> str:
        return self.name.removeprefix(f"{self.task}-")

    @property
    def key(self) -> tuple[str, ...]:
        return self.model, self.name

    @property
    def subject(self) -> str:
        return f"{self.model} on {self.task}"

    @property
    def wildcards(self) -> dict[str, str]:
        return {"model": self.model, "partition": self.name, "task": self.task}


@dataclass(frozen=True)
class AblationPlan:
    """An evaluation of a model on its task, under one condition, one partition and one reading of the paper.

    reading: name of a reading in the section `readings`; None for the section `ablation`.
    """

    model: str
    partition: str
    condition: str
    task: str
    reading: str | None = None

    @property
    def name(self) -> str:
        return self.condition if self.reading is None else f"{self.condition}{UNDER}{self.reading}"

    @property
    def key(self) -> tuple[str, ...]:
        return self.model, self.partition, self.name

    @property
    def wildcards(self) -> dict[str, str]:
        return {"model": self.model, "partition": self.partition, "task": self.task, "condition": self.name}


def plan_of(layers: Layers) -> "Plan":
    try:
        return Plan(read_config(layers.values))
    except ConfigError as error:
        raise ConfigError(error.mistakes, layers.places) from None


class Plan:
    """The selected models, tasks and conditions, and the pairs (model, task), partitions and ablations of all jobs."""

    def __init__(self, config: Config):
        self.config = config
        self.models = _selected(config.models, config.select.models)
        self.tasks = _selected(config.tasks, config.select.tasks)
        self.readings = list(config.readings)
        check(config, self.models, self.tasks, RESULTS)
        self.conditions = _with_baseline(config)
        # The types of a partition that is not selected are unknown.
        known = len(self.imported) == len(config.partitions)
        kinds = [*map(type_names, config.clustering.k), *(partition.types for partition in self.imported)]
        self.left_out_conditions = left_out(config, self.conditions, kinds) if known else []
        check_evaluated(config, {(run.model, run.condition): self.operations(run.condition) for run in self.ablations})

    def model_files(self, model: str) -> list[str]:
        source = self.config.models[model].source
        if source.package is None and source.gguf is not None:
            return [source.gguf]
        return [] if source.folder is None else list(map(str, model_files(source.folder, source.pickle)))

    def task_files(self, task: str, key: str = "file") -> list[str]:
        """Return the paths of a task's files, [] without any.

        key: "training_file", "test_file" or "file", which is all files of the folder if the task names a folder.
        """
        source = self.config.tasks[task].source
        if key == "file" and source.folder is not None:
            return files_in(source.folder, f"config: tasks.{task}.source.folder")
        return list(filter(None, [getattr(source, key)]))

    def inputs_of_analysis(self, analysis: str) -> dict[str, str]:
        return self.config.analyses[analysis].inputs

    def made_from(self, model: str) -> list[str]:
        return self.config.made_from(model)

    def analysis_files(self, analysis: str) -> dict[str, str]:
        return {name: path for name, path in self.config.analyses[analysis].inputs.items() if not is_result(path)}

    def vector_files(self) -> list[str]:
        return list(filter(None, [self.config.probes.vectors]))

    def kind_of(self, task: str) -> Kind:
        return KINDS[self.config.tasks[task].kind]

    def seed(self, *drawn: str) -> int:
        """Return a seed from the config's seed and `drawn`, names of what it is for, such as a rule and a model."""
        return derive_seed(self.config.seed, *drawn)

    @cached_property
    def features(self) -> list[FeaturePlan]:
        return [entry for entry in self.inputs if self.config.has_features(entry.task)]

    @cached_property
    def own_analyses(self) -> list[AnalysisPlan]:
        return [AnalysisPlan(name, *entry) for name in self.config.analyses for entry in self.features]

    def own_analyses_of(self, model: str, **others: str) -> list[AnalysisPlan]:
        return [entry for entry in self.own_analyses if entry.model == model]

    @property
    def analyses(self) -> list[Analysis]:
        return [*ANALYSES, *map(analysis_named, self.config.analyses)]

    def inputs_of(self, kind: str) -> list[FeaturePlan]:
        return [entry for entry in self.inputs if self.kind_of(entry.task).name == kind]

    def tasks_of(self, kind: str) -> list[str]:
        return list(dict.fromkeys(entry.task for entry in self.inputs_of(kind)))

    @cached_property
    def inputs(self) -> list[FeaturePlan]:
        return [
            FeaturePlan(model, task)
            for model in self.models
            for task in dict.fromkeys(self.config.models[model].tasks)
            if task in self.tasks
        ]

    @cached_property
    def partitions(self) -> dict[tuple[str, str], PartitionPlan]:
        planned = [
            PartitionPlan(model, name, task, type_names(k), method, k, of=of)
            for model, task in self.features
            for name, (method, k, of) in self.config.clusterings(task).items()
        ]
        for name, entry in self.config.partitions.items():
            if entry.model in self.models and entry.task in self.tasks:
                types = types_in(f"partitions.{name}.file", entry.file)
                planned.append(PartitionPlan(entry.model, name, entry.task, types, file=entry.file))
        return {(partition.model, partition.name): partition for partition in planned}

    def partition(self, model: str, partition: str, **others: str) -> PartitionPlan:
        return self.partitions[model, partition]

    @cached_property
    def clustered(self) -> list[PartitionPlan]:
        return [partition for partition in self.partitions.values() if partition.method is not None]

    @cached_property
    def imported(self) -> list[PartitionPlan]:
        return [partition for partition in self.partitions.values() if partition.method is None]

    @cached_property
    def ablations(self) -> list[AblationPlan]:
        """The evaluations of each condition on each partition that has the condition's types.

        Each entry of `readings` that changes a setting on which a condition's operations depend adds an evaluation.
        """
        return [
            AblationPlan(partition.model, partition.name, condition, partition.task, reading)
            for partition in self.partitions.values()
            if self.config.models[partition.model].evaluate == partition.task
            for condition in self._applicable(partition)
            for reading in (None, *self._readings(condition, partition.task))
        ]

    @cached_property
    def ablated(self) -> list[PartitionPlan]:
        names = dict.fromkeys((ablation.model, ablation.partition) for ablation in self.ablations)
        return [self.partitions[name] for name in names]

    @cached_property
    def tabulated(self) -> list[AblationPlan]:
        """The evaluations in our Tables 2 and 3, after Guan et al. 2020: those under no entry of `readings`."""
        return [ablation for ablation in self.ablations if ablation.reading is None]

    @cached_property
    def controlled(self) -> list[AblationPlan]:
        """The evaluations that the section `controls` repeats on random heads, as many as the condition ablates."""
        return list(filter(self._is_controlled, self.ablations))

    def controlled_of(self, model: str, partition: str) -> list[AblationPlan]:
        return list(filter(self._is_controlled, self.ablations_of(model, partition)))

    @cached_property
    def beside_random_heads(self) -> list[PartitionPlan]:
        return [partition for partition in self.ablated if self.controlled_of(partition.model, partition.name)]

    @cached_property
    def company(self) -> list[FeaturePlan]:
        """The pairs (model, task that the model answers) on which random sets of heads are ablated."""
        asked = [entry for entry in self.inputs if self.config.models[entry.model].evaluate == entry.task]
        return asked if self.config.company.sets != 0 else []

    def partitions_of(self, model: str, task: str) -> list[PartitionPlan]:
        return [partition for partition in self.partitions.values() if partition.model == model]

    @property
    def company_needs_head_outputs(self) -> bool:
        return need_head_outputs([self.config.company.operation])

    @cached_property
    def with_norms(self) -> list[FeaturePlan]:
        return [entry for entry in self.features if "norms" in self.config.divided_by(entry.task)]

    @cached_property
    def gradients(self) -> list[FeaturePlan]:
        """The pairs (model, task) for gradients: a model's tasks of kind text, and the task that the model answers."""
        return [
            entry
            for entry in self.features
            if self.config.gradients.samples > 0
            and (self.is_text(entry.task) or self.config.models[entry.model].evaluate == entry.task)
        ]

    @cached_property
    def texts(self) -> list[FeaturePlan]:
        return [entry for entry in self.features if self.is_text(entry.task)]

    @cached_property
    def detected(self) -> list[FeaturePlan]:
        """A `FeaturePlan`, with `RANDOM_TOKENS` in place of a task, for each model whose heads detectors test."""
        return [FeaturePlan(model, RANDOM_TOKENS) for model in self.models if model in self.config.detectors.models]

    def shown_partition(self, model: str, task: str) -> PartitionPlan | None:
        """Return, from a model's partitions on a task, the first with four types, else the first; None without any."""
        partitions = [partition for partition in self.partitions.values() if partition.of_task == (model, task)]
        return next((partition for partition in partitions if len(partition.types) == 4), next(iter(partitions), None))

    def entries_of(self, analysis: Analysis, model: str, partition: str | None = None, **others: str) -> list:
        """Return the entries of the plan, such as (model, task), for which an analysis reads a model.

        partition: name of a partition; entries of the model's other partitions are left out. None: all entries.
        others: ignored, so that all wildcards of a job may be passed.
        """
        return [
            entry
            for entry in (analysis.files[0].of(self) if analysis.files else ())
            if entry.model == model and partition in (None, getattr(entry, "partition", partition))
        ]

    def left_out(self, model: str, partition: str) -> list[AblationPlan]:
        """Return a partition's evaluations that change exactly one type and are repeated with random heads."""
        return [
            ablation
            for ablation in self.controlled_of(model, partition)
            if len(targets := list(self.operations(ablation.condition))) == 1 and head_of(targets[0]) is None
        ]

    @cached_property
    def compared_types(self) -> list[PartitionPlan]:
        return [
            partition
            for partition in self.partitions.values()
            if any(self.entries_of(analysis, *partition.key) for analysis in self.analyses if analysis.is_compared)
        ]

    def is_text(self, task: str) -> bool:
        return self.kind_of(task).name == Text.name

    def ablations_of(self, model: str, partition: str) -> list[AblationPlan]:
        return self._ablations_of.get((model, partition), [])

    @cached_property
    def _ablations_of(self) -> dict[tuple[str, ...], list[AblationPlan]]:
        return {names: list(group) for names, group in groupby(self.ablations, lambda ablation: ablation.key[:2])}

    def baseline(self, model: str, partition: str) -> AblationPlan | None:
        """Return the planned evaluation of a model and partition whose condition changes no head; None without one."""
        ablations = self.ablations_of(model, partition)
        return next((ablation for ablation in ablations if not self.operations(ablation.condition)), None)

    def operations(self, condition: str) -> dict[str, str]:
        """Return {type or head, such as "3-10": operation} of a condition, without types whose operation is `keep`.

        A head with `keep` is left out only if no type is changed; otherwise its own type may be one that is changed.
        """
        named = self.config.conditions[condition]
        # A head that is kept may be of a type that is changed.
        spared = any(named[type_] != "keep" for type_ in types_of(named))
        return {
            target: operation
            for target, operation in named.items()
            if operation != "keep" or (spared and head_of(target) is not None)
        }

    def reading(self, condition: str, task: str | None = None) -> tuple[str, dict]:
        """Return a condition's name, and the settings of its evaluation as {field of `Reading`: value}.

        condition: name, or `name@reading` with an entry of the section `readings`. Only settings that matter to the
        condition's operations are returned. With `task`, settings without meaning for the task's kind are left out too.
        """
        condition, _, further = condition.partition(UNDER)
        without = self.kind_of(task).without_reading if task else ()
        fields = self.config.ablation
        if further:
            fields = fields.model_copy(update=self.config.readings[further].model_dump(exclude_unset=True))
        matter = reading_matters(self.operations(condition).values())
        return condition, {name: getattr(fields, name) for name in matter if name not in without}

    def needs_head_outputs(self, condition: str) -> bool:
        return need_head_outputs(self.operations(condition).values())

    @cached_property
    def clusterings(self) -> list[str]:
        return list(dict.fromkeys(partition.clustering for partition in self.clustered))

    def clustered_by(self, clustering: str) -> list[PartitionPlan]:
        return [partition for partition in self.clustered if partition.clustering == clustering]

    def clustered_on(self, model: str, task: str) -> list[PartitionPlan]:
        return [partition for partition in self.clustered if partition.of_task == (model, task)]

    def finetuned(self, model: str) -> Finetuned | None:
        return self.config.models[model].source.finetuned

    def memory_of(self, model: str) -> dict[str, float] | None:
        """Return the limits on a model's weights, {"gpu": GB on each GPU, "cpu": GB in memory}; None if none is set."""
        memory = self.config.models[model].memory
        return None if memory is None else given(memory)

    def is_made(self, model: str) -> bool:
        """Return whether the workflow itself fine-tunes or trains a model."""
        source = self.config.models[model].source
        return source.finetuned is not None or source.trained is not None

    @cached_property
    def repeats(self) -> dict[str, list[str]]:
        """The groups of models that differ in their random seed alone, as {name of the group: names of the models}."""
        repeats: dict[str, list[str]] = {}
        for model in self.models:
            if name := self.config.models[model].repeat_of:
                repeats.setdefault(name, []).append(model)
        return repeats

    @cached_property
    def probed(self) -> list[FeaturePlan]:
        if not self.config.probes.seeds:
            return []
        tasks = self.config.tasks
        return [entry for entry in self.inputs_of("treebank") if tasks[entry.task].source.training_file is not None]

    def _is_controlled(self, ablation: AblationPlan) -> bool:
        controls = self.config.controls
        return bool(
            ablation.reading is None
            and controls.draws
            and (controls.conditions is None or ablation.condition in controls.conditions)
            and self.operations(ablation.condition)
            and self.baseline(ablation.model, ablation.partition)
        )

    def _readings(self, condition: str, task: str) -> list[str]:
        own = self.reading(condition, task)
        return [name for name in self.readings if self.reading(f"{condition}{UNDER}{name}", task) != own]

    def _applicable(self, partition: PartitionPlan) -> list[str]:
        conditions = self.config.conditions
        fitting = [name for name in conditions if set(types_of(conditions[name])) <= set(partition.types)]
        # A condition without types, such as the baseline, goes along with others.
        ablated = any(conditions[name] for name in fitting) or not any(conditions.values())
        return [name for name in self.conditions if name in fitting] if ablated else []


def _selected(registry: Iterable[str], selection: list[str] | None) -> list[str]:
    return [name for name in registry if selection is None or name in selection]


def _with_baseline(config: Config) -> list[str]:
    chosen = config.select.conditions
    if chosen and not any(changes_nothing(config.conditions[name]) for name in chosen):
        chosen = [next(name for name in config.conditions if changes_nothing(config.conditions[name])), *chosen]
    return _selected(config.conditions, chosen)


def files_of(plan: Plan, results: Iterable[Result] = RESULTS) -> list[str]:
    """Return the paths of all files of `results` that the jobs of a plan make."""
    return [
        path.format(**wildcards_of(result.path, entry))
        for result in results
        for entry in (result.of(plan) if result.of else ())
        for path in result.paths
    ]
