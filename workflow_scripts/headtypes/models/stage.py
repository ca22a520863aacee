"""Finding models."""

from headtypes.core.stage import Plan, Result, given, stage
from headtypes.models.records import version_of


@stage(calls="models.architectures:run")
def fetch_model(plan: Plan, model: str) -> dict:
    # Neither `sha256` nor the model's `memory` changes a result.
    source = {key: value for key, value in given(plan.config.models[model].source).items() if key != "sha256"}
    source |= {"reader": version_of("gguf")} if source.get("gguf") else {}
    return {"model": model, "source": source}


RECORD = Result(
    "results/sources/models/{model}.json",
    "fetch_model",
    "where a model was found, and its SHA-256",
    of=lambda plan: [{"model": model} for model in plan.models if not plan.is_made(model)],
    name="model",
    section="Inputs and fine-tuned models",
    content="where the model was found: folder, revision, SHA-256 of the weights, shape",
)
RESULTS = (RECORD,)
