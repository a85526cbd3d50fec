"""Reports phrases that hide who does what (docs/style.md, section 10).

`plain_words.csv` has the phrases and, for each, what a plain sentence has in its place. A phrase is
found although its words stand on two lines, and in the name of a test, whose words are those of
CamelCase or snake_case. docs/reference and licences are not checked.
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

TEST_NAME = re.compile(r"^[ \t]*(?:(?:TYPED_)?TEST(?:_F|_P)?\(\s*\w+,\s*|def (?=test_))(\w+)", re.M)
NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
IN_NAME = re.compile(r"\b(" + "|".join(PHRASES) + r")\b")


def words_of(name):
    """The words of an identifier, in small letters with blanks between them."""
    return " ".join(NAME_WORD.findall(name)).lower()


def check_words(path, text, report):
    """Reports each listed phrase with its line."""
    if path.startswith(EXEMPT):
        return

    def refuse(match, phrase):
        line = text.count("\n", 0, match.start(1)) + 1
        report(path, line, f'"{phrase}" is not plain: write {PHRASES[phrase]} '
                           "(docs/style.md, section 10)")

    for match in ANY.finditer(text):
        refuse(match, " ".join(re.findall(r"[a-z]+", match.group(1).lower())))
    for name in TEST_NAME.finditer(text):
        for found in IN_NAME.finditer(words_of(name.group(1))):
            refuse(name, found.group(1))
