"""Whether weights hold the head of a language model, told from their names; unlike `loading`, this loads nothing.

What the names leave open is decided when the model is loaded.
"""

from collections.abc import Collection

# Parts of the names of such heads.
_HEADS = (
    "lm_head",
    "predictions",
    "generator_lm_head",
    "vocab_transform",
    "vocab_projector",
    "pred_layer",
    "decoder",
    "embed_out",
)
# Of heads for other tasks; `cls` in GGUF.
_OTHERS = ("qa_outputs", "classifier", "score", "classification_head", "discriminator_predictions", "cls")
# Types whose models guess masked words, unless they are decoders, with a head of more weights than their embeddings.
MASKED = (
    "albert",
    "bert",
    "big_bird",
    "camembert",
    "convbert",
    "data2vec-text",
    "distilbert",
    "electra",
    "ernie",
    "esm",
    "eurobert",
    "ibert",
    "longformer",
    "megatron-bert",
    "mobilebert",
    "modernbert",
    "mpnet",
    "nomic_bert",
    "rembert",
    "roberta",
    "roberta-prelayernorm",
    "roformer",
    "squeezebert",
    "xlm-roberta",
    "xlm-roberta-xl",
)


def lacking_head(
    model_type: str | None, is_decoder: bool, tied: bool | None, tensors: Collection[str], causal: bool
) -> str | None:
    """What a model lacks that is to predict tokens, said of the model (`has no ...`); None if nothing is known of it.

    model_type, is_decoder, tied: of its config.json: model_type, is_decoder, and tie_word_embeddings, None where the
        file does not say whether the output weights are the embeddings.
    tensors: names of its weights; empty where they are not known.
    causal:  whether it is to predict each token from those before it.
    """
    masked = model_type in MASKED and not is_decoder
    if causal and masked:
        return f"is a {model_type} model, for masked words, which predicts no token from those before it"
    parts = {part for name in tensors for part in name.split(".")}
    if not parts or not parts.isdisjoint(_HEADS):
        return None
    if others := sorted(parts & set(_OTHERS)):
        return f"has no head for language, but one for another task, {others[0]}"
    if masked or tied is False:
        return "has no head for language: its weights hold no more than the bare model"
    return None
