"""Types of attention heads: distance features, clustering, stability and ablation.

The rooms, listed so that each imports only from itself and from earlier entries:

base        errors, files, tables on disk, seeds, progress, statistics
world       the generated world, which knows nothing of models and tasks
hub         models and data sets of the Hugging Face Hub, and what it refuses
models      finding and loading models, supported architectures, GPUs
tasks       reading data, samples and questions, encoding them
answering   what a model reads of a task and answers, and how good that is
training    fine-tuning a model on a task
attention   the hook into Transformers, batches, the pass with its reducers, maps
features    what is computed from attention
types       clustering, naming, partitions, stability, confidence
ablation    what a model answers when heads are taken away
export      lists of heads in the formats of other programs
detectors   which heads attend by position, or to repeated tokens, tested against nulls
api         what to call from one's own Python, on a model that is already loaded
language    what single heads know of language: dependency relations, coreference
probes      parsers that read the attention of all heads, or of those of a type
figures     the figure style, and figures that belong to no paper
papers      claims, tables and figures, a folder for each paper
joined      every partition beside every analysis, and random heads
atlas       the pages that a reader opens
config      what a configuration may hold
workflow    what the rules need: plan, stages, resources, provenance
tools       what the commands need: the jobs of a plan, preview, estimates, audit; what a plan demands of its models
deposit     what is given away with a paper: which results, a card, and where models and data are from

`config` is near the end because it validates names that earlier rooms define. No room that computes may import it:
otherwise an edit of it would run everything again.
"""
