#!/usr/bin/env python3
"""Turns docs/man/*.md into manual pages.

Usage: scripts/man_page.py --roff PAGE.md OUTPUT     writes the manual page
       scripts/man_page.py [ROOT]                    checks that all pages can be written

The line `<!-- parameters of docs/configuration.md -->` of a page becomes the tables of that
document, which has a check of its own. Understood of Markdown: a head of `name: value` lines,
headings, paragraphs, "*term*" lines followed by ": " lines, code fences, `code`, *emphasis*.
Exit 0: good; 1: a page has what is not understood (a table, a fence that stays open), a parameter
is missing, or groff (where installed) complains; 2: wrong usage.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import command_line

PARAMETERS = "<!-- parameters of docs/configuration.md -->"


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def inline(text):
    """Emphasis and code, with the rest made safe for roff."""
    out = []
    for part in re.split(r"(`[^`]*`|\*[^*]+\*|\[[^]]*\]\([^)]*\))", text):
        link = re.fullmatch(r"\[([^]]*)\]\([^)]*\)", part)
        if link:
            out.append(escape(link.group(1)))
        elif len(part) > 1 and part[0] == part[-1] and part[0] in "`*":
            out.append(("\\fB" if part[0] == "`" else "\\fI") + escape(part[1:-1]) + "\\fR")
        else:
            out.append(escape(part))
    return "".join(out)


def head_of(lines):
    """The values of the head, and the lines behind it."""
    if not lines or lines[0] != "---":
        raise ValueError("no head")
    end = lines.index("---", 1)
    return dict(re.match(r"(\w+): *(.*)", line).groups() for line in lines[1:end]), lines[end + 1:]


def roff(markdown):
    head, lines = head_of(markdown.split("\n"))
    out = [f'.TH "{head["title"].upper()}" "{head["section"]}" "" "{head["source"]}" '
           f'"{head["book"]}"']
    in_code, paragraph = False, False
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if line.startswith("```"):
            out.append(".fi\n.RE" if in_code else ".PP\n.RS 4\n.nf")
            in_code, paragraph = not in_code, False
        elif in_code:
            out.append(escape(line))
        elif line.startswith("<!--"):
            continue
        elif line.startswith("|"):
            raise ValueError(f"a table, which would become running text: {line}")
        elif line.startswith("# "):
            out.append(f".SH {escape(line[2:])}")
            paragraph = False
        elif line.startswith("## "):
            out.append(f".SS {escape(line[3:])}")
            paragraph = False
        elif following.startswith(": "):
            out += [".TP", inline(line)]
        elif line.startswith(": "):
            out.append(inline(line[2:]))
            paragraph = True
        elif not line:
            paragraph = False
        else:
            if not paragraph:
                out.append(".PP")
            out.append(inline(line.strip()))
            paragraph = True
    if in_code:
        raise ValueError("a code fence is not closed")
    return "\n".join(out) + "\n"


def parameters(path):
    """(level, name, meaning, values, default) of every row of the tables."""
    rows, level = [], ""
    for line in path.read_text().splitlines():
        heading = re.fullmatch(r"## (\w+)", line)
        row = re.fullmatch(r"\| `(FI_UET_\w+)` \| (.*) \| (.*) \| (.*) \|", line)
        if heading:
            level = heading.group(1)
        elif row:
            rows.append((level, *row.groups()))
    return rows


def listing(rows):
    """The rows as text of a page, with a heading for each level."""
    out, level = [], None
    for row_level, name, meaning, values, default in rows:
        if row_level != level:
            level = row_level
            out.append(f"## {level}\n\n")
        out.append(f"`{name}`\n: {meaning}. Values: {values}; default: {default}.\n\n")
    return "".join(out)


def page_of(path):
    """The manual page of a text in docs/man."""
    rows = parameters(path.parent.parent / "configuration.md")
    return roff(path.read_text().replace(PARAMETERS + "\n", listing(rows)))


def complaints(page):
    """What groff says of a page; nothing where it is not installed."""
    if shutil.which("groff") is None:
        return ""
    return subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True,
                          capture_output=True, check=False).stderr


def check(root):
    texts = sorted((root / "docs/man").glob("*.md"))
    rows = parameters(root / "docs/configuration.md")
    faults = [] if texts and rows else ["no pages, or no parameters"]
    for path in texts:
        try:
            page = page_of(path)
        except ValueError as error:
            faults.append(f"{path}: {error}")
            continue
        said = complaints(page)
        if said:
            faults.append(f"{path}: groff: {said}")
        if PARAMETERS in path.read_text():
            faults += [f"{path}: {row[1]} is missing" for row in rows if escape(row[1]) not in page]
    if not any(PARAMETERS in path.read_text() for path in texts):
        faults.append("no page lists the parameters")
    print("\n".join(faults) or f"{len(texts)} pages, {len(rows)} parameters")
    return 1 if faults else 0


def main():
    to_roff = "--roff" in sys.argv
    args = command_line.read(__doc__, sys.argv[1:], flags=("--roff",),
                             words=(2, 2) if to_roff else (0, 1))
    if to_roff:
        try:
            pathlib.Path(args[1]).write_text(page_of(pathlib.Path(args[0])))
        except ValueError as error:
            sys.stderr.write(f"{args[0]}: {error}\n")
            return 1
        return 0
    return check(command_line.folder(args[0] if args else "."))


if __name__ == "__main__":
    sys.exit(main())
