"""Fine-tuning models, and training small ones from scratch."""

from dataclasses import replace
from functools import partial

from headtypes.core.stage import WEIGHTS, Plan, Result, given, stage
from headtypes.data.stage import SECTION, fetched, fetching
from headtypes.models.stage import RECORD

fetch_training = fetching("fetch_training", "training_file", "training")


@stage("training", reads="rows", calls="training.finetuning:run")
def finetune_model(plan: Plan, model: str) -> dict:
    finetuned = plan.finetuned(model)
    settings = {name: value for name, value in given(finetuned).items() if name not in ("base", "task")}
    return {"kind": plan.kind_of(finetuned.task).name, **settings, "seed": plan.seed("finetune_model", model)}


@stage(calls="training.copying:run")
def train_model(plan: Plan, model: str) -> dict:
    trained = plan.config.models[model].source.trained
    return {**given(trained), "seed": plan.seed("train_model", model)}


# What a model's folder must hold: each is an output of its own, so that one that is deleted is missed.
SAVED = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
_declared = partial(Result, section=SECTION, withheld=WEIGHTS)
TRAINING_ROWS, TRAINING_RECORD = fetched(
    "fetch_training",
    lambda plan: [{"task": entry.task} for entry in [*filter(None, map(plan.finetuned, plan.models)), *plan.probed]],
    "where training data come from",
    "training",
    "the training data of the task",
)
FINETUNED = _declared(
    "results/models/{model}",
    "finetune_model",
    "a model that was fine-tuned",
    of=lambda plan: [{"model": model} for model in plan.models if plan.finetuned(model)],
    content="a model that the workflow fine-tuned, as written by `save_pretrained`",
)
TRAINED = _declared(
    "results/trained/{model}",
    "train_model",
    "a small model that was trained from scratch until it copies",
    of=lambda plan: [{"model": model} for model in plan.models if plan.config.models[model].source.trained],
    content="a decoder that the workflow trained from scratch, as written by `save_pretrained`; its "
    "`training.json` has the `steps` of its training, whether it `copies`, and the share of repeated tokens that "
    "it `predicted`",
)
RESULTS = (
    *(TRAINING_ROWS, TRAINING_RECORD, FINETUNED, TRAINED),
    *(
        replace(made, path=f"{made.path}/{{{','.join(SAVED)}}}", about="a file of such a model", section="", content="")
        for made in (FINETUNED, TRAINED)
    ),
    *(replace(RECORD, rule=made.rule, of=made.of, name="", section="", content="") for made in (FINETUNED, TRAINED)),
)
