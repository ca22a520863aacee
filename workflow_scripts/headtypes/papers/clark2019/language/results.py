"""Results on disk, from which the quantities about treebanks and coreference are collected."""

from collections.abc import Mapping

from headtypes.analyses.coreference.accuracy import score_mentions
from headtypes.analyses.coreference.mentions import AntecedentGuesses
from headtypes.analyses.probes.scores import read_probes, right_words
from headtypes.analyses.relations.accuracy import best_heads
from headtypes.analyses.relations.guesses import ArcGuesses, read_parts
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import read_arrays, read_groups
from headtypes.data.kinds.coreference.records import AnnotatedDocument
from headtypes.data.records import read_records
from headtypes.papers.clark2019.language.quantities import coreference_quantities, treebank_quantities
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.keys import Key
from headtypes.papers.quantities import Quantities

Paths = Mapping[Key, StrPath]


def collect_treebanks(
    arcs: Paths,
    rows: Paths,
    tests: Mapping[str, StrPath],
    probes: Paths,
    published: Clark2019,
    *,
    seed: int,
    least: int = 0,
) -> dict[Key, Quantities]:
    """What is known of every model on every treebank, in the order of the arcs.

    arcs, rows, probes: files by model and treebank, rows those of the sentences; of probes there may be fewer.
    tests: by treebank, where it has such a part.
    least: as in `relations.accuracy.measure_relations`, needed where there are arcs.
    seed: of the sentences that are drawn for intervals.
    """
    found = {}
    for key, path in arcs.items():
        guesses, parts = read_groups(path, ArcGuesses), read_parts(rows[key], tests.get(key[1]))
        of_probes = None
        if key in probes:
            of_probes = right_words(read_probes(probes[key]), parts["file"], guesses["file"])
        choices = best_heads(parts, guesses, least=least)
        found[key] = treebank_quantities(choices, of_probes, published, seed=seed)
    return found


def collect_coreference(antecedents: Paths, rows: Paths, published: Clark2019, *, seed: int) -> dict[Key, Quantities]:
    """What is known of every model on every set of documents; rows: the files of these, by model and set as well."""
    found = {}
    for key, path in antecedents.items():
        scores, document = score_mentions(
            read_records(rows[key], AnnotatedDocument), read_arrays(path, AntecedentGuesses)
        )
        found[key] = coreference_quantities(scores, document, published, seed=seed)
    return found
