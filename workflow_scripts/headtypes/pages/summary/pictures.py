"""Figures and their captions as a page holds them."""

import base64
import io
import re
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from PIL import Image

from headtypes.core.files import StrPath, undamaged

# Pixels: twice the width at which the page shows a figure.
_WIDTH = 1400
# Of colours, figures have few; with this many, nothing is lost that an eye would see.
_COLOURS = 128


@dataclass(frozen=True)
class Picture:
    """A figure: its name, what it shows, and the PNG itself as a data URI; file: the PDF, relative to the page."""

    title: str
    caption: list[str]
    data: str
    width: int
    height: int
    file: str


def picture_of(title: str, png: StrPath, caption: list[str], file: str) -> Picture:
    """Read a PNG and make it as wide as the page needs. Raises `InputError` that names a damaged file."""
    with undamaged(png, "is not a PNG"), Image.open(png) as image:
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
        if flat.width > _WIDTH:
            flat = flat.resize((_WIDTH, round(flat.height * _WIDTH / flat.width)), Image.Resampling.LANCZOS)
        data = data_uri(flat.quantize(_COLOURS, dither=Image.Dither.NONE))
    return Picture(title, caption, data, flat.width, flat.height, file)


def data_uri(image: Image.Image) -> str:
    packed = io.BytesIO()
    image.save(packed, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}"


def caption_of(path: StrPath, wildcards: dict[str, str]) -> list[str]:
    """Return the paragraphs of a caption of Snakemake's report, which needs nothing but wildcards, as text."""
    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(Path(path).read_text("utf-8"))
    text = template.render(snakemake={"wildcards": wildcards})
    paragraphs = re.split(r"\n\s*\n", text.strip())
    # Emphasis, which plain text does not have.
    return [re.sub(r"\*+([^*]+)\*+", r"\1", " ".join(paragraph.split())) for paragraph in paragraphs]
