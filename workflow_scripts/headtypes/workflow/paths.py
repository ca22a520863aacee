"""Where each result lies, relative to the working directory: patterns whose wildcards are those of the rules.

Paths that only one rule uses (its logs, its benchmarks, a paper's tables and figures) are given in that rule.
"""

MODEL = "results/sources/models/{model}.json"
ROWS = "results/sources/tasks/{task}.jsonl"
ROWS_RECORD = "results/sources/tasks/{task}.json"
TRAINING_ROWS = "results/sources/training/{task}.jsonl"
TRAINING_RECORD = "results/sources/training/{task}.json"
FINETUNED = "results/models/{model}"

SAMPLES = "results/samples/{task}.jsonl"
QUESTIONS = "results/questions/{task}.jsonl"
WINDOWS = "results/windows/{model}/{task}.h5"

FEATURES = "results/features/{model}/{task}.h5"
FEATURES_SHARD = "results/shards/features/{model}/{task}/{shard}-of-{shards}.h5"
GRADIENTS = "results/gradients/{model}/{task}.csv"
HEAD_OUTPUTS = "results/head_outputs/{model}/{task}.h5"
MAPS = "results/maps/{model}/{task}.h5"
EXAMPLES = "results/examples/{model}/{task}.h5"

PARTITION = "results/partitions/{model}/{partition}.csv"
NAMING = "results/partitions/{model}/{partition}.naming.json"
STABILITY = "results/stability/{model}/{partition}.json"
CONFIDENCE = "results/confidence/{model}/{partition}.csv"
CONFIDENCE_CLUSTERINGS = "results/confidence/{model}/{partition}.json"
EMBEDDING = "results/embedding/{model}/{partition}.csv"
CHOICE = "results/choice/{model}/{task}.csv"
CHOICE_AGREEMENT = "results/choice/{model}/{task}.agreement.csv"
CHOICE_BEST = "results/choice/{model}/{task}.best.csv"

ABLATION_SHARD = "results/shards/ablation/{model}/{partition}/{condition}/{shard}-of-{shards}.parquet"
PREDICTIONS = "results/ablation/{model}/{partition}/{condition}/predictions.json"
METRICS = "results/ablation/{model}/{partition}/{condition}/metrics.json"
SCORES = "results/ablation/{model}/{partition}/{condition}/per_question.parquet"
INTERVALS = "results/ablation/{model}/{partition}/intervals.csv"
CONTROLS = "results/controls/{model}/{partition}/{condition}.parquet"
IMPORTANCE = "results/importance/{model}/{task}.csv"
CURVES = "results/curves/{model}/{partition}.csv"
