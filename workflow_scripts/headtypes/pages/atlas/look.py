"""The atlas of a model on a text that somebody has typed."""

from collections.abc import Callable
from contextlib import suppress

from transformers import PreTrainedTokenizerFast

from headtypes.analyses.distances.columns import head_features, lacks_cls, split
from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.analyses.maps.measure import KeyLengthsRead, Maps, readable
from headtypes.analyses.maps.results import AttentionMaps
from headtypes.attention.reducers import Reducer
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.data.records import Sample
from headtypes.models.records import ModelRecord
from headtypes.pages.atlas.data import Found, gather, numbers_on

# Tokens of the longest text; a longer one is cut.
LONGEST = 128


def look_at(
    record: ModelRecord, sample: Sample, found: Found, *, precision: str, distance_bins: int, first_token: bool = True
) -> dict:
    """What is known of a model's heads, as `data.gather` returns it, with their attention on one text or pair.

    sample: its id stands for a task's name; the distance features shown are those on this text alone.
    found:  results of the model, as in `data.gather`; there may be none.
    distance_bins, first_token: as in `distances.results.read_distance`.
    Raises `InputError` where a head's attention is not finite, or does not sum to one.
    """
    run = ModelOnTask(record, task="your text", precision=precision, max_seq_length=LONGEST)
    encoded = run.encode([sample], SentencePair.name)
    settings = {"distance_bins": distance_bins, "first_token": first_token}
    return seen(record, encoded, with_norms(run.read), run.tokenizer, sample.id, found, **settings)


def with_norms(read: Callable[..., list]) -> Callable[..., list]:
    """The same reading, with what turns attention into norms at its end where the model allows it."""

    def reading(encoded: Encoded, *reducers: Reducer) -> list:
        with suppress(InputError):
            return read(encoded, *reducers, KeyLengthsRead())
        return read(encoded, *reducers)

    return reading


def seen(
    record: ModelRecord,
    encoded: Encoded,
    read: Callable[..., list],
    tokenizer: PreTrainedTokenizerFast,
    name: str,
    found: Found,
    *,
    distance_bins: int,
    first_token: bool = True,
) -> dict:
    """As `look_at`, of one text that is encoded; name: of the text.

    read: what reads it with reducers, which may add the result of `KeyLengthsRead`.
    """
    features = DistanceFeatures(encoded.kinds, first_token and lacks_cls(encoded.kinds))
    (attention,), (shares,), *lengths = read(encoded, Maps(), features)
    tokens = [readable(tokenizer, token) for token in encoded.input_ids[0]]
    maps = AttentionMaps(attention, tokens, name, bool(encoded.truncated[0]), *(of_text for (of_text,) in lengths))
    data = gather(record, [(name, [maps])], found, distance_bins=distance_bins, conditions={})
    distance, first = split(shares)
    values = head_features(distance, distance_bins, first).reshape(record.layers * record.heads, -1)
    return {
        **data,
        "title": f"A text of yours in {record.name}",
        "features": numbers_on(name, values, encoded.lengths, distance_bins, first is not None),
    }
