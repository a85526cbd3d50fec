"""Reports phrases that hide who does what (docs/style.md, section 10).

`plain_words.csv` has the phrases and, for each, what a plain sentence has in its place. A phrase is
found although its words stand on two lines. docs/reference and licences are not checked.
"""
import csv
import pathlib
import re

LIST = pathlib.Path(__file__).with_suffix(".csv")
EXEMPT = ("docs/reference/", "scripts/plain_words.csv", "scripts/test/", "LICENSE",
          "dissector/LICENSE")


def phrases():
    """The listed phrases, in small letters, each with what to write instead."""
    with LIST.open(newline="", encoding="utf-8") as rows:
        return {row["phrase"]: row["what to write"] for row in csv.DictReader(rows)}


PHRASES = phrases()

# Between two words: blanks, or a line break with the mark of a comment or of a string.
GAP = r"(?:[ \t]+|[ \t]*\"?[ \t]*\n[ \t]*(?://+|#+|\*|>|\")?[ \t]*)"
ANY = re.compile(r"\b(" + "|".join(p.replace(" ", GAP) for p in PHRASES) + r")\b", re.I)


def check_words(path, text, report):
    """Reports each listed phrase with its line."""
    if path.startswith(EXEMPT):
        return
    for match in ANY.finditer(text):
        phrase = " ".join(re.findall(r"[a-z]+", match.group(1).lower()))
        line = text.count("\n", 0, match.start()) + 1
        report(path, line, f'"{phrase}" is not plain: write {PHRASES[phrase]} '
                           "(docs/style.md, section 10)")
