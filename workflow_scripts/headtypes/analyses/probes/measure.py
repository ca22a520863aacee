"""Probes: parsers that read all heads' attention, or words and distances alone (Clark et al. 2019, section 5).

All probes are trained and scored, from all random starts, in one pass. p(i | j), that word i or the root is the head of
word j, is a softmax over the root and all words but j. The first dimension of a probe's parameters is the random start.
"""

import copy
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from accelerate.utils import align_module_device
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import PreTrainedModel

from headtypes.analyses.words import EncodedWords, WordMaps, encode_sentences
from headtypes.attention.one_pass import ModelOnTask, read_attention
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed, write_json
from headtypes.core.progress import progress
from headtypes.data.kinds.treebank import Sentence, counted_words
from headtypes.data.tasks import read_records
from headtypes.models.model_config import layers_and_heads
from headtypes.models.records import ModelRecord, read_model_record

# Bytes of maps that are held at once.
_HELD = 2**25
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


def _read_vectors(path: str, words: Iterable[str]) -> dict[str, np.ndarray]:
    # One line each, as GloVe's. Some words of the larger files contain spaces, and lines of fastText's end in spaces.
    wanted, vectors, width = set(words), {}, None
    try:
        # Some editors write a byte-order mark, which is not part of the first word.
        with open(path, encoding="utf-8-sig", newline="\n") as lines:
            for number, line in enumerate(map(str.rstrip, lines), start=1):
                if width is None:
                    if re.fullmatch(r"\d+ \d+", line):
                        raise InputError(f"{path}, line 1: {line!r} is a header of word2vec or fastText; remove it.")
                    width = line.count(" ")
                word, *numbers = line.rsplit(" ", width)
                # A word with spaces that ends in a number is that of a line with more numbers.
                _, space, last = word.rpartition(" ")
                if len(numbers) != width or not width or not word or (space and _NUMBER.fullmatch(last)):
                    raise InputError(
                        f"{path}, line {number}: a word and {width or 'its'} numbers are needed, as many as on line 1 "
                        "and separated by single spaces, as in the files of GloVe."
                    )
                if word not in wanted:
                    continue
                try:
                    vector = np.array(numbers, dtype=np.float32)
                except ValueError as error:
                    raise InputError(f"{path}, line {number}: {error}.") from error
                if not np.isfinite(vector).all():
                    raise InputError(f"{path}, line {number} holds a number that is not finite.")
                if not np.array_equal(vectors.setdefault(word, vector), vector):
                    raise InputError(f"{path}, line {number}: the word {word!r} has other numbers on another line.")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as word vectors ({error}).") from error
    return vectors


def vectors_of_file(path: str, sentences: Sequence[Sequence[str]]) -> tuple[list[np.ndarray], float]:
    """Return (vectors, known): vectors of the words of sentences, in lower case, from a file in GloVe's text format.

    sentences: lists of words. vectors: for each sentence [word, channel] float32, zeros for a word without a vector.
    known: share, 0 to 1, of all words of the sentences, repetitions included, that have a vector.
    Raises `InputError` if a line is damaged or contradicts an earlier one, or the file has none of the words.
    """
    lower = [[word.lower() for word in words] for words in sentences]
    vectors = _read_vectors(path, {word for words in lower for word in words})
    if not vectors:
        raise InputError(
            f"{path} has no vector of any word of these sentences; name a file of their language, whose words are in "
            "lower case."
        )
    known = [word in vectors for words in lower for word in words]
    unknown = np.zeros_like(next(iter(vectors.values())))
    by_sentence = [np.stack([vectors.get(word, unknown) for word in words]) for words in lower]
    return by_sentence, float(np.mean(known))


def vectors_of_model(
    model: PreTrainedModel, input_ids: Sequence[Sequence[int]], word_of_token: Sequence[Sequence[int]]
) -> list[np.ndarray]:
    """Return for each sentence the mean input embedding of each word's subwords, [word, channel] float32.

    input_ids, word_of_token: each sentence's token ids, and the index of each token's word, -1 for special tokens.
    """
    module = model.get_input_embeddings()
    with align_module_device(module):
        weight = module.weight.detach()
    by_sentence = []
    for ids, words in zip(input_ids, word_of_token, strict=True):
        word = torch.tensor(words)
        own = weight[torch.tensor(ids)[word >= 0].to(weight.device)].float().cpu()
        total = torch.zeros(max(words) + 1, own.shape[1]).index_add_(0, word[word >= 0], own)
        by_sentence.append((total / torch.bincount(word[word >= 0])[:, None]).numpy())
    return by_sentence


class _ReadSentences(NamedTuple):
    sentences: list[Sentence]
    encoded: EncodedWords
    vectors: list[np.ndarray]
    known: float = 1.0


def _readable_sentences(sentences: Sequence[Sentence], run: ModelOnTask, vectors: str | None) -> _ReadSentences:
    encoded = encode_sentences([sentence.words for sentence in sentences], run.tokenizer, run.longest, run.what)
    kept = [sentences[index] for index in encoded.kept]
    if vectors is not None:
        return _ReadSentences(kept, encoded, *vectors_of_file(vectors, [sentence.words for sentence in kept]))
    own = vectors_of_model(run.model, encoded.encoded.input_ids, encoded.word_of_token)
    return _ReadSentences(kept, encoded, own)


def _maps_in_both_directions(
    model: PreTrainedModel, encoded: EncodedWords, *, batch_tokens: int, what: str, bar: tqdm
) -> Iterator[torch.Tensor]:
    # For each sentence the `maps` of `ProbedSentence`.
    heads = math.prod(layers_and_heads(model))
    sizes = np.array([4 * heads * (max(words) + 3) ** 2 for words in encoded.word_of_token])
    starts = np.flatnonzero(np.diff(np.cumsum(sizes) // _HELD, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(sizes)], strict=True):
        part, readers = encoded.encoded.selected(range(start, stop)), [WordMaps(encoded.word_of_token[start:stop])]
        (maps_of_part,) = read_attention(model, part, readers, batch_tokens=batch_tokens, what=what, bar=bar)
        for maps in maps_of_part:
            flat = torch.from_numpy(maps).flatten(0, 1)
            yield torch.cat([flat, flat.transpose(1, 2)])


# The modules that hold the embeddings of words, positions and token types, and their norm, in Transformers' models.
_EMBEDDINGS = {"embeddings", "embed_tokens", "embed_positions", "embed_in", "wte", "wpe", "word_embeddings"}


def random_network(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """Return a copy of a model with random weights (normal, standard deviation 0.02) and biases of 0.

    Layer norms scale by 1, and embeddings are those of the model. The model must be on one device.
    """
    drawn = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    kept = {id(parameter) for parameter in drawn.get_input_embeddings().parameters()}
    with torch.no_grad():
        for name, parameter in drawn.named_parameters():
            *modules, last = name.split(".")
            if id(parameter) in kept or _EMBEDDINGS.intersection(modules):
                continue
            if "bias" in last:
                parameter.zero_()
            elif parameter.ndim == 1:
                parameter.fill_(1)
            else:
                # As the weights of BERT are drawn.
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.02)
        for name, module in drawn.named_modules():
            own = list(module.parameters(recurse=False))
            if own and all(parameter.ndim == 1 for parameter in own) and not _EMBEDDINGS.intersection(name.split(".")):
                # A norm may scale by its weight plus 1, as Gemma's do; the architecture knows which weight that takes.
                drawn._init_weights(module)
    return drawn


def train_probes(
    training: Sequence[Sentence],
    scored: Sequence[Sentence],
    record: ModelRecord,
    *,
    vectors: str | None,
    sentences: int | str,
    starts: int,
    root: str,
    seed: int,
    learning_rate: float = 0.002,  # The paper does not give it.
    **settings,
) -> dict:
    """Return how many syntactic heads probes (parsers that read attention) find, after training on a treebank.

    training: sentences from which probes learn, one step each, in this order. scored: sentences that probes then parse.
    vectors: path of a file of word vectors in GloVe's text format; None for the model's own embeddings.
    sentences: how many of the first training sentences are used, or "all". starts: random starts of each probe.
    root: which vectors candidates for a syntactic head (the root and all words) have. `first`: a word has its own
        vector, the root none. `released`, as in the paper's code: the root has word 1's vector, word 1 has word 2's,
        the last word none; a word may be its own syntactic head. settings: for `ModelOnTask`, such as precision.
    Returns a dictionary for JSON with the keys
      words: [sentence] number of words of a scored sentence, without punctuation. right: {probe ("attention",
        "attention_and_words", "distance_and_words"; "random_network": on a random network's attention, and words):
        [start][sentence] number of these words whose syntactic head the probe finds}.
      scored, training: {"read", "left_out": numbers of sentences that the model could read, and could not}.
      vectors: {"channels": length of a word vector, "known": share of scored words that have one}.
    """
    training = training if sentences == "all" else training[:sentences]
    run = ModelOnTask(record, **settings)
    learnt, parsed = (_readable_sentences(part, run, vectors) for part in (training, scored))
    networks = run.model, random_network(run.model, derive_seed(seed, "random_network"))
    maps, channels = 2 * record.layers * record.heads, learnt.vectors[0].shape[1]
    has_special_tokens = -1 in learnt.encoded.word_of_token[0]

    def trainer(name: str) -> Trainer:
        generators = generators_of(seed, name, starts)
        if name == "attention":
            probe = Attention(maps, generators, has_special_tokens)
        elif name == "distance_and_words":
            probe = DistanceAndWords(channels, generators, root)
        else:
            probe = AttentionAndWords(maps, channels, generators, has_special_tokens, root)
        return Trainer(probe, learning_rate, root)

    names = ("attention", "attention_and_words", "distance_and_words", "random_network")
    trainers = {name: (networks[name == "random_network"], trainer(name)) for name in names}
    right = {name: [] for name in trainers}
    passes = len(networks) * (len(learnt.sentences) + len(parsed.sentences))
    with progress(passes, run.what, "maps") as bar:

        def read(part: _ReadSentences) -> Iterator[tuple[Sentence, dict[PreTrainedModel, ProbedSentence]]]:
            how = {"batch_tokens": run.batch_tokens, "what": run.what, "bar": bar}
            maps_by_network = (_maps_in_both_directions(network, part.encoded, **how) for network in networks)
            for sentence, own, *maps in zip(part.sentences, part.vectors, *maps_by_network, strict=True):
                probed = (ProbedSentence(network_maps, torch.from_numpy(own)) for network_maps in maps)
                yield sentence, dict(zip(networks, probed, strict=True))

        for sentence, probed in read(learnt):
            heads = torch.tensor(sentence.heads)
            for network, trainer in trainers.values():
                trainer.train(probed[network], heads)
        for sentence, probed in read(parsed):
            heads, counted = torch.tensor(sentence.heads), torch.tensor(counted_words(sentence))
            for name, (network, trainer) in trainers.items():
                right[name].append((trainer.guess(probed[network]) == heads)[:, counted].sum(1).numpy())
    return {
        "right": {name: np.stack(counts_of_probe, axis=1).tolist() for name, counts_of_probe in right.items()},
        "words": [sum(counted_words(sentence)) for sentence in parsed.sentences],
        "scored": {"read": len(parsed.sentences), "left_out": len(scored) - len(parsed.sentences)},
        "training": {"read": len(learnt.sentences), "left_out": len(training) - len(learnt.sentences)},
        "vectors": {"channels": channels, "known": parsed.known},
    }


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    training, scored = read_records(inputs.training, Sentence), read_records(inputs.rows, Sentence)
    vectors = inputs.vectors[0] if inputs.vectors else None
    probes = train_probes(training, scored, read_model_record(inputs.model), vectors=vectors, **spec)
    write_json(outputs.probes, {**probes, "provenance": provenance})


_HIDDEN_UNITS, _DISTANCE_FEATURES = 256, 8


class ProbedSentence(NamedTuple):
    """A sentence of n words, as probes read it.

    maps: [2K, n + 2, n + 2] attention of K heads, from row to column in the first K maps, from column to row in the
        last K. Index 0 is `[CLS]`, 1 to n are the words, n + 1 is `[SEP]`. vectors: [n, channel], of words.
    """

    maps: Float[Tensor, "map index index"]
    vectors: Float[Tensor, "word channel"]


class Attention(nn.Module):
    """A probe that scores word i as the syntactic head of word j from attention alone: [random start, i, j].

    score[i, j] = sum_k w_k W^k[i, j] + u_k W^k[j, i], where W^k[i, j] is the attention of head k from word i to word j,
    and w and u are learned. For the root, W^k[0, j] = a W^k[CLS, j] + b W^k[SEP, j], and W^k[j, 0] = a W^k[j, CLS] + b
    W^k[j, SEP], with one learned a and b for all heads. Without special tokens, the root's score is a learned constant.

    maps: number of maps, two for each head. generators: a random generator for each random start of the training.
    """

    def __init__(self, maps: int, generators: Sequence[torch.Generator], has_special_tokens: bool):
        super().__init__()
        # As TensorFlow's Glorot has it for a list of weights, and for a number.
        self.weights = _glorot(generators, (maps,), maps, maps)
        self.special = _glorot(generators, (2,), 1, 1)
        self.constant = None if has_special_tokens else nn.Parameter(torch.zeros(len(generators)))

    def forward(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        maps = sentence.maps
        scores = torch.tensordot(self.weights, maps[:, 1:-1, 1:-1], 1)
        return torch.cat([self._root(maps, self.weights[..., None])[:, None], scores], 1)

    def _root(self, maps: Tensor, weights: Float[Tensor, "start map #word"]) -> Float[Tensor, "start word"]:
        if self.constant is not None:
            return self.constant[:, None].expand(-1, maps.shape[-1] - 2)
        ends = torch.stack([maps[:, 0, 1:-1], maps[:, -1, 1:-1]])
        return (weights * torch.tensordot(self.special, ends, 1)).sum(1)


class AttentionAndWords(Attention):
    """A probe that scores candidate i (0: the root) as the syntactic head of word j from attention and words' vectors.

    Scores are as in `Attention`, but a linear layer on the vectors of i and j computes the weight of each map. maps:
    number of maps, two for each head. channels: length of a word's vector. generators: one for each random start.
    root: which vector candidate i has: `first`, word i's (the root has zeros); `released`, as in the paper's code, word
        i + 1's (the last candidate has zeros).
    """

    def __init__(
        self, maps: int, channels: int, generators: Sequence[torch.Generator], has_special_tokens: bool, root: str
    ):
        super().__init__(maps, generators, has_special_tokens)
        self.weights = nn.Parameter(torch.zeros(len(generators), maps))
        self.word_weights = _glorot(generators, (2 * channels, maps), 2 * channels, maps)
        self.root = root

    def forward(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        maps = sentence.maps
        candidate_part, dependent_part, is_pair = _pair_parts(sentence.vectors, self.word_weights, self.root)
        between = maps[:, 1:-1, 1:-1]
        # [candidate, start, map] times [candidate, map, word], and the same with the words' own weights.
        by_candidate = (self.weights[:, None] + candidate_part)[:, 1:].transpose(0, 1) @ between.transpose(0, 1)
        by_dependent = dependent_part.transpose(0, 1) @ between.permute(2, 0, 1)
        scores = by_candidate.transpose(0, 1) + by_dependent.permute(1, 2, 0) * is_pair[1:, None]
        root = (self.weights + candidate_part[:, 0])[..., None] + dependent_part.transpose(1, 2) * is_pair[0]
        return torch.cat([self._root(maps, root)[:, None], scores], 1)


class DistanceAndWords(nn.Module):
    """A probe that scores candidates for each word's syntactic head, from both words' vectors and their distance.

    A call with a `ProbedSentence` gives scores [random start, candidate, word]; candidate 0 is the root, i is word i.
    channels: length of a word's vector. generators: of each random start's weights. root: which vector candidate i has:
        `first`: word i's (the root has zeros); `released`, as in the paper's code: word i + 1's (the last has zeros).
    """

    def __init__(self, channels: int, generators: Sequence[torch.Generator], root: str):
        super().__init__()
        inputs = 2 * channels + _DISTANCE_FEATURES
        self.word_weights = _glorot(generators, (2 * channels, _HIDDEN_UNITS), inputs, _HIDDEN_UNITS)
        self.distance_weights = _glorot(generators, (_DISTANCE_FEATURES, _HIDDEN_UNITS), inputs, _HIDDEN_UNITS)
        self.bias = nn.Parameter(torch.zeros(len(generators), _HIDDEN_UNITS))
        self.output = _glorot(generators, (_HIDDEN_UNITS, 1), _HIDDEN_UNITS, 1)
        self.root = root

    def forward(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        words = len(sentence.vectors)
        candidate_part, dependent_part, is_pair = _pair_parts(sentence.vectors, self.word_weights, self.root)
        features = _distance_features(words).flatten(0, 1) @ self.distance_weights
        features = features.unflatten(1, (words + 1, words))
        dependent_part = dependent_part[:, None] * is_pair[:, None, None]
        hidden = torch.tanh(features + candidate_part[:, :, None] + dependent_part + self.bias[:, None, None])
        return (hidden.flatten(1, 2) @ self.output).view(-1, words + 1, words)


def _distance_features(words: int) -> Float[Tensor, "candidate word 8"]:
    # Of candidate i and word j of n: (i - j) / n and (j - i) / n, 0 if negative; whether i - j is 0, -1, 1, -2 or 2; 0.
    # Of the root: seven zeros and 1.
    features = torch.zeros(words + 1, words, _DISTANCE_FEATURES)
    index = torch.arange(1, words + 1)
    distance = index[:, None] - index
    features[1:, :, 0] = distance.clamp(min=0) / words
    features[1:, :, 1] = (-distance).clamp(min=0) / words
    for number, offset in enumerate((0, -1, 1, -2, 2), start=2):
        features[1:, :, number] = (distance == offset).float()
    features[0, :, 7] = 1
    return features


class Trainer:
    """A probe, its training by Adam, and its guesses at each word's syntactic head, one sentence at a time."""

    def __init__(self, probe: nn.Module, learning_rate: float, root: str):
        self.probe, self._root = probe, root
        self._optimiser = torch.optim.Adam(probe.parameters(), lr=learning_rate)

    def train(self, sentence: ProbedSentence, heads: Tensor) -> None:
        """Take a step down the words' summed cross entropies. heads: [word] int64 syntactic heads, from 1; 0: root."""
        scores = self.scores(sentence)
        loss = cross_entropy(scores.transpose(1, 2).flatten(0, 1), heads.repeat(len(scores)), reduction="sum")
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.step()

    def guess(self, sentence: ProbedSentence) -> Tensor:
        """Return each word's likeliest syntactic head, [random start, word] int64, from 1, or 0 for the root."""
        with torch.no_grad():
            scores = self.scores(sentence)
        # Of numbers that are none, the first would be the largest.
        if not (scores < torch.inf).all():
            raise InputError(
                "The scores of a probe are not finite; check the numbers of the word vectors (probes.vectors)."
            )
        return scores.argmax(1)

    def scores(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        scores = self.probe(sentence)
        # In the paper's code, a word may be guessed as its own head.
        if self._root == "released":
            return scores
        own = torch.eye(scores.shape[2] + 1, dtype=torch.bool)[:, 1:]
        return scores.masked_fill(own, -torch.inf)


def generators_of(seed: int, probe: str, starts: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(derive_seed(seed, probe, start)) for start in range(starts)]


def _pair_parts(vectors: Tensor, weights: Tensor, root: str) -> tuple[Tensor, Tensor, Tensor]:
    # A linear layer on pairs of words is a sum: [start, candidate, output] of candidates, which are counted from the
    # root, and [start, word, output] of dependents. The third result is 0 for the candidate without a vector (`first`:
    # the root; `released`: the last word), in whose pairs both words' vectors count as zeros.
    candidate_part = vectors @ weights[:, : vectors.shape[1]]
    dependent_part = vectors @ weights[:, vectors.shape[1] :]
    released, is_pair = root == "released", torch.ones(len(vectors) + 1)
    is_pair[-1 if released else 0] = 0
    # [..., left, right, above, below] zeros around the last two dimensions.
    candidate_part = nn.functional.pad(candidate_part, (0, 0, 0, 1) if released else (0, 0, 1, 0))
    return candidate_part, dependent_part, is_pair


def _glorot(generators: Sequence[torch.Generator], shape: tuple[int, ...], inputs: int, outputs: int) -> nn.Parameter:
    limit = math.sqrt(6 / (inputs + outputs))
    return nn.Parameter(torch.stack([(2 * torch.rand(shape, generator=start) - 1) * limit for start in generators]))
