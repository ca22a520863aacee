"""Probes: parsers that read all heads' attention, or words and distances alone (Clark et al. 2019, section 5).

p(i | j), that word i or the root is the head of word j, is a softmax over the root and all words but j. Candidates are
counted as the treebank counts heads: 0 is the root. Every probe is trained from several random starts at once: the
first dimension of its parameters is the start, and the starts share nothing but the sentence.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from headtypes.analyses.words.settings import Root
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed

HIDDEN_UNITS = 256
DISTANCE_FEATURES = 8


class ProbedSentence(NamedTuple):
    """A sentence of n words, as probes read it.

    maps:    W and its transpose for each of K heads, [2K, n + 2, n + 2]; [f, i, j] is candidate i with dependent j.
        Indices are those of `words`: `[CLS]` first and `[SEP]` last.
    vectors: [n, channel].
    """

    maps: Float[Tensor, "map index index"]
    vectors: Float[Tensor, "word channel"]


class Attention(nn.Module):
    """score[i, j] = sum_k w_k W^k[i, j] + u_k W^k[j, i].

    The root's feature is a times the word's attention to `[CLS]` (turned round: that of `[CLS]` to the word) plus b
    times that to `[SEP]`, with one a and one b for all maps. For a model without either token the root's score is a
    constant that is learned.
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
    """`Attention` whose weights depend on the two words: w = a + W (v_i, v_j), a linear layer with a bias.

    A pair with the root has two vectors of zeros. W (v_i, v_j) = W_1 v_i + W_2 v_j, so that no pair's vectors are
    joined, and the score is two products with the maps.
    """

    def __init__(
        self, maps: int, channels: int, generators: Sequence[torch.Generator], has_special_tokens: bool, root: Root
    ):
        super().__init__(maps, generators, has_special_tokens)
        self.weights = nn.Parameter(torch.zeros(len(generators), maps))
        self.of_words = _glorot(generators, (2 * channels, maps), 2 * channels, maps)
        self.shift = _shift(root)

    def forward(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        maps = sentence.maps
        of_candidate, of_dependent, is_pair = _of_pairs(sentence.vectors, self.of_words, self.shift)
        between = maps[:, 1:-1, 1:-1]
        # [candidate, start, map] times [candidate, map, word], and the same with the words' own weights.
        by_candidate = (self.weights[:, None] + of_candidate)[:, 1:].transpose(0, 1) @ between.transpose(0, 1)
        by_dependent = of_dependent.transpose(0, 1) @ between.permute(2, 0, 1)
        scores = by_candidate.transpose(0, 1) + by_dependent.permute(1, 2, 0) * is_pair[1:, None]
        root = (self.weights + of_candidate[:, 0])[..., None] + of_dependent.transpose(1, 2) * is_pair[0]
        return torch.cat([self._root(maps, root)[:, None], scores], 1)


class DistanceAndWords(nn.Module):
    """A hidden layer of tanh units over both words' vectors and eight features of their distance; no attention."""

    def __init__(self, channels: int, generators: Sequence[torch.Generator], root: Root):
        super().__init__()
        inputs = 2 * channels + DISTANCE_FEATURES
        self.of_words = _glorot(generators, (2 * channels, HIDDEN_UNITS), inputs, HIDDEN_UNITS)
        self.of_distance = _glorot(generators, (DISTANCE_FEATURES, HIDDEN_UNITS), inputs, HIDDEN_UNITS)
        self.bias = nn.Parameter(torch.zeros(len(generators), HIDDEN_UNITS))
        self.output = _glorot(generators, (HIDDEN_UNITS, 1), HIDDEN_UNITS, 1)
        self.shift = _shift(root)

    def forward(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        words = len(sentence.vectors)
        of_candidate, of_dependent, is_pair = _of_pairs(sentence.vectors, self.of_words, self.shift)
        features = distance_features(words).flatten(0, 1) @ self.of_distance
        features = features.unflatten(1, (words + 1, words))
        of_dependent = of_dependent[:, None] * is_pair[:, None, None]
        hidden = torch.tanh(features + of_candidate[:, :, None] + of_dependent + self.bias[:, None, None])
        return (hidden.flatten(1, 2) @ self.output).view(-1, words + 1, words)


def distance_features(words: int) -> Float[Tensor, "candidate word 8"]:
    """Return for candidate i and word j: (i - j)/n and (j - i)/n if positive; whether i - j is 0, -1, 1, -2, 2; i is
    root.
    """
    features = torch.zeros(words + 1, words, DISTANCE_FEATURES)
    index = torch.arange(1, words + 1)
    distance = index[:, None] - index
    features[1:, :, 0] = distance.clamp(min=0) / words
    features[1:, :, 1] = (-distance).clamp(min=0) / words
    for number, offset in enumerate((0, -1, 1, -2, 2), start=2):
        features[1:, :, number] = (distance == offset).float()
    features[0, :, 7] = 1
    return features


class Trainer:
    """A probe with its optimiser; one sentence is one step."""

    def __init__(self, probe: nn.Module, learning_rate: float, root: Root):
        self.probe, self._root = probe, root
        self._optimiser = torch.optim.Adam(probe.parameters(), lr=learning_rate)

    def train(self, sentence: ProbedSentence, heads: Tensor) -> None:
        """Take one step down the sum of the words' cross entropies.

        heads: [word] int64, gold.
        """
        scores = self.scores(sentence)
        loss = cross_entropy(scores.transpose(1, 2).flatten(0, 1), heads.repeat(len(scores)), reduction="sum")
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.step()

    def guess(self, sentence: ProbedSentence) -> Tensor:
        """Return the likeliest head of each word, [start, word] int64. Raises `InputError` where scores are not
        finite.
        """
        with torch.no_grad():
            scores = self.scores(sentence)
        # Of numbers that are none, the first would be the largest.
        if not (scores < torch.inf).all():
            raise InputError(
                "The scores of a probe are not finite; check the numbers of the word vectors (probes.vectors)."
            )
        return scores.argmax(1)

    def scores(self, sentence: ProbedSentence) -> Float[Tensor, "start candidate word"]:
        """Return the scores of all candidates; that of a word as its own head is minus infinity."""
        scores = self.probe(sentence)
        if self._root == "released":
            return scores
        own = torch.eye(scores.shape[2] + 1, dtype=torch.bool)[:, 1:]
        return scores.masked_fill(own, -torch.inf)


def generators_of(seed: int, probe: str, starts: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(derive_seed(seed, probe, start)) for start in range(starts)]


def _of_pairs(vectors: Tensor, weights: Tensor, shift: int) -> tuple[Tensor, Tensor, Tensor]:
    """Apply a linear layer, [start, 2 * channel, output], to pairs of words, in parts.

    shift: 0 if candidate i has the vector of word i, and the root none; 1 if it has that of word i + 1, and the last
        none.
    Returns the candidate's part, [start, candidate, output]; the dependent's, [start, word, output]; and whether a
    candidate has a vector, [candidate], without which the dependent adds nothing either.
    """
    of_candidate = vectors @ weights[:, : vectors.shape[1]]
    of_dependent = vectors @ weights[:, vectors.shape[1] :]
    is_pair = torch.ones(len(vectors) + 1)
    is_pair[-1 if shift else 0] = 0
    # [..., left, right, above, below] zeros around the last two dimensions.
    of_candidate = nn.functional.pad(of_candidate, (0, 0, 0, 1) if shift else (0, 0, 1, 0))
    return of_candidate, of_dependent, is_pair


def _shift(root: Root) -> int:
    return int(root == "released")


def _glorot(generators: Sequence[torch.Generator], shape: tuple[int, ...], inputs: int, outputs: int) -> nn.Parameter:
    limit = math.sqrt(6 / (inputs + outputs))
    return nn.Parameter(torch.stack([(2 * torch.rand(shape, generator=start) - 1) * limit for start in generators]))
