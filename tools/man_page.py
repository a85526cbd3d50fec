#!/usr/bin/env python3
"""Turns docs/man/fi_uet.7.md into a manual page, and keeps its list of parameters right.

Usage: tools/man_page.py --roff PAGE.md OUTPUT             writes the manual page
       tools/man_page.py [--write] PROVIDER-DIR [ROOT]     checks (or writes) the parameters

The parameters stand between two comments in the text and come from `fi_info -e`, as those of
docs/configuration.md do. Understood of Markdown: a head of `name: value` lines, headings,
paragraphs, "*term*" lines followed by ": " lines, code fences, `code`, *emphasis*.
Exit 0: good; 1: stale, or not understood; 2: bad usage; 77: fi_info is not installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import configuration_doc

BEGIN, END = "<!-- parameters: generated, do not edit -->", "<!-- end of parameters -->"


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


def with_parameters(markdown, rows):
    before, rest = markdown.split(BEGIN)
    after = rest.split(END)[1]
    listed = "".join(f"`{name}`\n: {text}\n\n" for name, text in rows)
    return f"{before}{BEGIN}\n{listed}{END}{after}"


def complaints(page):
    """What groff says of a page; nothing where it is not installed."""
    if shutil.which("groff") is None:
        return ""
    return subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True,
                          capture_output=True, check=False).stderr


def check(write, provider_dir, root):
    if shutil.which("fi_info") is None:
        print("SKIPPED: fi_info is not installed")
        return 77
    path = root / "docs/man/fi_uet.7.md"
    text = path.read_text()
    rows = configuration_doc.settings(provider_dir)
    if not rows:
        print("fi_info lists no FI_UET_ setting: is the provider in that folder?")
        return 1
    wanted = with_parameters(text, rows)
    page = roff(wanted)
    missing = [name for name, _ in rows if escape(name) not in page]
    said = complaints(page)
    if said:
        print(f"groff: {said}")
        return 1
    if missing:
        print("not in the page: " + " ".join(missing))
        return 1
    if write:
        path.write_text(wanted)
    elif wanted != text:
        print(f"{path} is stale: run tools/man_page.py --write PROVIDER-DIR")
        return 1
    print(f"{len(rows)} parameters, the page is up to date")
    return 0


def main():
    args = sys.argv[1:]
    if len(args) == 3 and args[0] == "--roff":
        pathlib.Path(args[2]).write_text(roff(pathlib.Path(args[1]).read_text()))
        return 0
    write = "--write" in args
    args = [a for a in args if a != "--write"]
    if not 1 <= len(args) <= 2 or args[0].startswith("-"):
        print(__doc__)
        return 0 if args and args[0] in ("-h", "--help") else 2
    return check(write, args[0], pathlib.Path(args[1] if len(args) == 2 else "."))


if __name__ == "__main__":
    sys.exit(main())
