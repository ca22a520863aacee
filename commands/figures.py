"""Copy the figures of a run into one folder, as PDF, with a caption for each that can be copied into a paper.

python commands/figures.py FOLDER [--configfile FILE ...] [--directory FOLDER]
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow_scripts"))

from headtypes.core.errors import InputError
from headtypes.core.files import write_text
from headtypes.pages.summary.page import caption_of
from headtypes.papers.registry import PAPERS
from headtypes.planning.config import laid_over, mistakes_in
from headtypes.planning.plan import Plan, plan_of


def figures(plan: Plan, folder: Path) -> int:
    """Copy the PDF of each figure of the summary page into a folder, with `captions.md`; return the number of figures.

    Raises `InputError` if there is no figure yet.
    """
    captions = []
    for figure in (figure for paper in PAPERS.values() for figure in paper.figures):
        for key, png in figure.files(plan).items():
            pdf = Path(png).with_suffix(".pdf")
            if pdf.exists():
                folder.mkdir(parents=True, exist_ok=True)
                name = "-".join(pdf.parts[1:])
                shutil.copyfile(pdf, folder / name)
                of = dict(zip(figure.of, key, strict=True))
                caption = "\n\n".join(caption_of(ROOT / f"report/{figure.caption}.rst", of))
                captions.append(f"## {name}\n\n{figure.title}. {caption}\n")
    if not captions:
        raise InputError("There is no figure yet; run snakemake first, with the same configuration.")
    write_text(folder / "captions.md", "\n".join(captions))
    return len(captions)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where they are put; files of the same names are replaced")
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], action="extend", help="laid over config.yaml")
    parser.add_argument("--directory", type=Path, default=Path(), help="where the results are")
    asked = parser.parse_args(arguments)
    files, folder = [ROOT / "config.yaml", *map(Path.resolve, asked.configfile)], asked.folder.resolve()
    os.chdir(asked.directory)
    print(f"{figures(plan_of(laid_over(files)), folder)} figures and captions.md are in {folder}.")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit("\n".join(mistakes_in(str(error))))
