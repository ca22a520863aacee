"""What may be given away of each rule's results: numbers, tables and figures; no weights, and no text of a corpus."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

WEIGHTS = "the weights of a model"
TEXT = "text of a corpus"
ARTICLES = "titles of a corpus's articles"
PICTURED = "pictures of a corpus's words"
UNDECIDED = "results of which nobody has said whether they hold text of a corpus"

_ALL, _ROWS, _ANSWERS = ("*",), ("*.jsonl",), ("predictions.json", "per_question.parquet")


class Content(NamedTuple):
    """What a rule's results are, and which of them stay out: patterns of names of files, and why."""

    about: str
    without: tuple[str, ...] = ()
    why: str = ""


CONTENTS = {
    "choose_clustering": Content("how many types suit the heads"),
    "cluster_heads": Content("the type of each head, and how the types were named"),
    "compare_with_clark": Content("the claims and values of Clark et al. (2019) beside those found"),
    "compare_with_guan": Content("the claims and values of Guan et al. (2020) beside those found"),
    "embed_heads": Content("the heads in the plane, for Figure 2"),
    "evaluate_condition": Content("scores of the model under a condition", _ANSWERS, TEXT),
    "evaluate_controls": Content("scores of each question with random heads left out", _ALL, ARTICLES),
    "evaluate_curves": Content("scores while heads are left out in growing sets"),
    "evaluate_shard": Content("a part of an evaluation", _ALL, ARTICLES),
    "export_full_attention": Content("heads that need the whole cache, for other programs"),
    "export_heads": Content("lists and masks of heads for other programs"),
    "extract_antecedents": Content("which word each head takes for an antecedent, by its place"),
    "extract_arcs": Content("which word each head takes for the syntactic head, by its place"),
    "extract_features": Content("distance features of every sample"),
    "extract_shard": Content("a part of the distance features"),
    "fetch_model": Content("where a model was found, and its SHA-256"),
    "fetch_task": Content("where data come from", _ROWS, TEXT),
    "fetch_test": Content("where test sentences come from", _ROWS, TEXT),
    "fetch_training": Content("where training data come from", _ROWS, TEXT),
    "finetune_model": Content("a model that was fine-tuned", _ALL, WEIGHTS),
    "import_partition": Content("the type of each head, from a file"),
    "join_types": Content("every type in every analysis, beside random heads"),
    "map_attention": Content("attention maps with their tokens", _ALL, TEXT),
    "map_examples": Content("attention maps with their tokens", _ALL, TEXT),
    "map_sentences": Content("attention maps with their words", _ALL, TEXT),
    "measure_confidence": Content("how certain the type of each head is"),
    "measure_coreference": Content("accuracy of heads at antecedents"),
    "measure_detectors": Content("scores of detectors on random tokens"),
    "measure_divergence": Content("how differently heads attend"),
    "measure_divergence_shard": Content("a part of the divergences"),
    "measure_gradients": Content("how much the loss depends on attention to each kind of token"),
    "measure_head_outputs": Content("mean outputs of heads"),
    "measure_importance": Content("importance of each head by the gradient"),
    "measure_intervals": Content("intervals of all scores and drops"),
    "measure_offsets": Content("how often a word at a fixed offset is the syntactic head"),
    "measure_probes": Content("attachment scores of probes and baselines"),
    "measure_reach": Content("attention beyond sinks and recent tokens"),
    "measure_relations": Content("accuracy of heads at dependency relations"),
    "measure_stability": Content("stability of the types"),
    "measure_surface": Content("attention to positions and kinds of tokens, and its entropy"),
    "plot_choice": Content("how many types suit the heads"),
    "plot_confidence": Content("how often each head keeps its type"),
    "plot_controls": Content("drops beside those with random heads"),
    "plot_curves": Content("scores while heads are left out in growing sets"),
    "plot_examples": Content("heads that show a pattern best", _ALL, PICTURED),
    "plot_gradients": Content("gradients by kind of token"),
    "plot_heads": Content("typical heads of each type", _ALL, PICTURED),
    "plot_joined": Content("every type in every analysis, beside random heads"),
    "plot_layers": Content("types by layer"),
    "plot_maps": Content("the attention of every head"),
    "plot_models": Content("types of all models"),
    "plot_plane": Content("heads in the plane, by how differently they attend"),
    "plot_projection": Content("heads in the plane"),
    "plot_sentences": Content("heads that find relations or antecedents", _ALL, PICTURED),
    "plot_surface": Content("attention to special tokens and neighbours, and its entropy"),
    "prepare_windows": Content("questions as inputs of a model", _ALL, TEXT),
    "probe_types": Content("right words of the probes that read one type"),
    "project_heads": Content("heads in the plane, by how differently they attend"),
    "sample_inputs": Content("samples", _ALL, TEXT),
    "sample_questions": Content("questions, pairs or documents", _ALL, TEXT),
    "tabulate_ablations": Content("what the model loses under each condition, Tables 2 and 3 of Guan et al. (2020)"),
    "tabulate_coreference": Content("antecedents, Table 2 of Clark et al. (2019)"),
    "tabulate_detectors": Content("which heads the detectors find"),
    "tabulate_models": Content("types of models beside one another"),
    "tabulate_probes": Content("probes, Table 3 of Clark et al. (2019)"),
    "tabulate_readings": Content("conditions under other readings of the paper"),
    "tabulate_relations": Content("dependency relations, Table 1 of Clark et al. (2019)"),
    "tabulate_stability": Content("types and their stability, Table 1 of Guan et al. (2020)"),
    "train_probes": Content("right words of each probe"),
    "write_atlas": Content("the page with every head of a model", _ALL, TEXT),
    "write_summary": Content("the page of all results", _ALL, PICTURED),
}


def why_not(stage: str, path: str) -> str:
    """Why a result of a rule is not given away; nothing where it is."""
    content = CONTENTS.get(stage, Content(stage, _ALL, UNDECIDED))
    return content.why if any(fnmatchcase(Path(path).name, pattern) for pattern in content.without) else ""
