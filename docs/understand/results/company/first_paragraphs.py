"""Write the first two paragraphs of each article of a file of SQuAD: python first_paragraphs.py SQUAD TO"""

import json
import sys
from pathlib import Path

squad = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
for article in squad["data"]:
    article["paragraphs"] = article["paragraphs"][:2]
Path(sys.argv[2]).write_text(json.dumps(squad), encoding="utf-8")
