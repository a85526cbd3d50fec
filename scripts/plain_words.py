"""Words that comments, messages and documents must not have, because readers stumble over them.

Section 10 of docs/style.md asks for plain words: subject, verb, object, and the nouns of the
field. The list has only phrases that are always a riddle or out of date; each has a hint. A phrase
is found although its words stand on two lines. docs/reference and licences are not checked.
"""
import re

# A phrase, and what a plain sentence has in its place.
PHRASES = {
    "borne": "say what happens, and after how long",
    "business": "name the part that does it",
    "by the letter": "name the setting or the rule",
    "for ever": "name the limit or its absence: no limit, without end, never",
    "for want of": "because ... is missing",
    "in vain": "say what was not found, or did not come",
    "nobody but": "only ...",
    "nobody else": "no other ..., with the noun",
    "nobody knows": "unknown",
    "of ours": "name the owner: this end, this process, the target",
    "so many octets": "name the parameter: `bytes` octets",
    "so many packets": "name the parameter: `packets` packets",
    "tells of": "reports",
    "that is none": "name what it is not, or what happens",
    "that there is not": "that does not exist, or undefined",
    "to nobody": "name the missing peer, process or user",
    "told of": "say which packet, call or message reports it",
    "told to wait": "deferred",
    "what there is": "name the things",
    "where they would": "if they ..., else they ...",
    "whoever": "name the peer, user or process",
}
EXEMPT = ("docs/reference/", "scripts/plain_words.py", "scripts/test/", "LICENSE",
          "dissector/LICENSE")

# Between two words: blanks, or a line break with the mark of a comment or of a string.
GAP = r"(?:[ \t]+|[ \t]*\"?[ \t]*\n[ \t]*(?://+|#+|\*|>|\")?[ \t]*)"
ANY = re.compile(r"\b(" + "|".join(p.replace(" ", GAP) for p in PHRASES) + r")\b", re.I)


def check_words(path, text, report):
    """Reports each forbidden phrase with its line."""
    if path.startswith(EXEMPT):
        return
    for match in ANY.finditer(text):
        phrase = " ".join(re.findall(r"[a-z]+", match.group(1).lower()))
        line = text.count("\n", 0, match.start()) + 1
        report(path, line, f'"{phrase}" is not plain: {PHRASES[phrase]} '
                           "(docs/style.md, section 10)")
