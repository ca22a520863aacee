"""Types of attention heads: distance features, clustering, stability and ablation.

The rooms, from the ground up. A module imports only from its own room and from those that stand before it here:

base        errors, files, tables on disk, seeds, progress, statistics
world       the generated world, which knows nothing of models and tasks
models      finding and loading models, supported architectures, GPUs
tasks       reading data, samples and questions, encoding and scoring
training    fine-tuning a model on a task
attention   the hook into Transformers, batches, the pass with its reducers, maps
features    what is read of attention
types       clustering, naming, partitions, stability, confidence
ablation    what a model answers when heads are taken away
figures     how figures look, and those that belong to no paper
papers      claims, tables and figures, a folder for each paper
config      what a configuration may hold
workflow    what the rules need: plan, stages, resources, provenance, audit

`config` stands high, since it validates the names that the rooms below own, and no room that computes may import it:
an edit of it would run everything again.
"""
