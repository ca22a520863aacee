"""The heads of a loaded model on a text, to be looked at in a notebook or a browser."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import InstanceOf

from headtypes.analyses.types.partitions import Partition, write_partition
from headtypes.api.arguments import Model, Tokenizer, alone, check_partition, check_readable, checked
from headtypes.api.reading import samples_of
from headtypes.attention.one_pass import read_attention
from headtypes.core.files import StrPath, write_text
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds.sentence_pair import SentencePair
from headtypes.models.model_config import body_of, headed_layers, longest_input
from headtypes.models.records import ModelRecord
from headtypes.pages.atlas.live import LONGEST, seen
from headtypes.pages.atlas.page import page_of


@dataclass(frozen=True)
class Page:
    """A page of every head, as in the atlas; the last line of a notebook's cell shows it, also without a kernel."""

    html: str

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 48rem; border: 0"></iframe>'

    def save(self, path: StrPath) -> None:
        """Write the page; it opens from disk, without a network and without other files."""
        write_text(path, self.html)


@checked
def show(
    model: Model,
    tokenizer: Tokenizer,
    text: str,
    second: str | None = None,
    *,
    partition: InstanceOf[Partition] | None = None,
) -> Page:
    """Show where every head of a loaded model looks in a text, or in two that are read together.

    model:     in evaluation mode, on any device; afterwards it is as before.
    text, second: of which the first `live.LONGEST` tokens are shown.
    partition: the types of the heads (`reading.head_types`), to colour them by.
    Raises `InputError` where there is no text, or the model's heads cannot be read.
    """
    check_readable(model, tokenizer)
    check_partition(model, partition)
    samples = samples_of([text if second is None else (text, second)])
    longest = min(LONGEST, longest_input(model.config, tokenizer))
    encoded = encode_samples(samples, tokenizer, SentencePair.name, longest)
    config, what = model.config, type(model).__name__
    record = ModelRecord(
        name=what,
        folder="",
        weights={},
        files={},
        pickle=False,
        parameters=model.num_parameters(),
        model_type=config.model_type,
        architectures=config.architectures,
        layers=len(headed_layers(config)),
        heads=config.num_attention_heads,
        width=config.hidden_size,
        max_length=longest,
    )
    with TemporaryDirectory() as folder, alone(model):
        types = Path(folder, "types.csv")
        if partition is not None:
            write_partition(types, partition)
        data = seen(
            record,
            encoded,
            lambda read, *of: read_attention(body_of(model), read, of, batch_tokens=4096, what=what),
            tokenizer,
            {} if partition is None else {"partitions": [("yours", types)]},
            distance_bins=16,
        )
    return Page(page_of(data, {"model": what, "text": [text, second]}))
