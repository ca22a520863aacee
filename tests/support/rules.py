"""Rules of the workflow by what they do, as tests expect it."""

# And so take a GPU where there is one.
RUN_A_MODEL = {
    "evaluate_condition",
    "evaluate_controls",
    "evaluate_curves",
    "evaluate_shard",
    "extract_features",
    "extract_shard",
    "finetune_model",
    "map_attention",
    "measure_head_outputs",
    "measure_importance",
}
