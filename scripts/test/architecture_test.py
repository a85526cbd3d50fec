#!/usr/bin/env python3
"""Holds docs/architecture.md against the tree: each path that it names exists, its table of folders
lists the folders that there are, section 2 names the rooms of the large ones, the picture has the
folders and its arrows are includes that exist, and the page is short enough to read. The paths and
links of all other documents exist, too.
The README's counts are those of docs/compliance.md.
"""
import pathlib
import re
import subprocess
import sys

LINES_MAX, COLUMNS_MAX, WORDS_MAX = 300, 160, 4000
NOT_LISTED = {".ci", ".github"}  # hold files for others' programs
WITH_ROOMS = ("pds", "ses", "prov/uet", "sim", "io", "cms", "tss")  # each folder in it has its text


def tracked_folders(root, under=""):
    """The names of the folders directly in `under` that hold tracked files."""
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True,
                            check=True).stdout
    prefix = under + "/" if under else ""
    inside = [line[len(prefix):] for line in listed.splitlines() if line.startswith(prefix)]
    return {line.split("/")[0] for line in inside if "/" in line}


def named_paths(text):
    """What stands in back quotes and looks like a path, and the targets of links."""
    quoted = re.findall(r"`([a-z_]+(?:/[a-z0-9_.*-]+)+)`", text)
    files = re.findall(r"`([a-z_]+\.(?:md|py|sh|h|cpp))`", text)
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    return quoted, files, linked


def listed_folders(text):
    table = text[text.index("## 2. Folders"):]
    table = table[:table.index("###")] if "###" in table else table
    return {name.split("/")[0] for name in re.findall(r"^\| `([a-z/]+)` \|", table, re.M)}


def unnamed_rooms(root, text):
    section = text[text.index("## 2. Folders"):text.index("\n## 3.")]
    for folder in WITH_ROOMS:
        for room in sorted(tracked_folders(root, folder) - {"test"}):
            if f"`{folder}/{room}`" not in section:
                yield f"section 2 says nothing about {folder}/{room}"


def includes_of(root, folder):
    """What the files of a folder include, but their tests."""
    for path in sorted((root / folder).rglob("*")):
        if path.suffix in (".h", ".cpp") and "test" not in path.parts[len(root.parts):]:
            yield from re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def arrows_without_include(root, dot):
    """Arrows of the picture that no #include follows; dashed ones are call-backs. A node stands for
    the folders in the first line of its label. A label without a folder, such as "network", is
    outside this repository: its arrows are not checked. An arrow from or to a frame (ltail, lhead)
    is one of the folder that the frame's label begins with.
    """
    nodes = dict(re.findall(r'^ *(\w+) \[label="([^"\\]+)', dot, re.M))
    folders = {name: [folder for folder in label.split(", ") if (root / folder).is_dir()]
               for name, label in nodes.items()}
    frames = re.findall(r'subgraph (\w+) \{\s*label="(\w+)', dot)
    folders |= {name: [folder] for name, folder in frames}
    arrows = re.findall(r"^ *(\w+) -> (\w+)(.*)$", dot, re.M)
    if not arrows:
        yield "the picture's source has no arrow"
    for tail, head, rest in arrows:
        if "dashed" in rest:
            continue
        ends = dict(re.findall(r"(ltail|lhead)=(\w+)", rest))
        targets = folders.get(ends.get("lhead", head), [])
        for folder in folders.get(ends.get("ltail", tail), []) if targets else []:
            if not any(included.startswith(target + "/") for included in includes_of(root, folder)
                       for target in targets):
                yield f"no #include follows the picture's arrow {folder} -> {targets[0]}"


def findings(root):
    page = root / "docs/architecture.md"
    text = page.read_text()
    if text.count("\n") > LINES_MAX:
        yield f"the page has {text.count(chr(10))} lines, {LINES_MAX} are allowed"
    if len(text.split()) > WORDS_MAX:
        yield f"the page has {len(text.split())} words, {WORDS_MAX} are allowed"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS_MAX:
            yield f"line {number} has {len(line)} columns, {COLUMNS_MAX} are allowed"
    quoted, files, linked = named_paths(text)
    for path in quoted:
        if not list(root.glob(path)) and not list(root.glob(path + ".*")):
            yield f"there is no {path}"
    for path in files:
        if not list(root.rglob(path)):
            yield f"there is no file {path}"
    for path in linked:
        if not (page.parent / path).exists():
            yield f"there is no {path} to link to"
    there = tracked_folders(root) - NOT_LISTED
    listed = listed_folders(text)
    for name in sorted(there - listed):
        yield f"the table of folders lacks {name}"
    for name in sorted(listed - there):
        yield f"the table of folders has {name}, which is not a folder"
    yield from unnamed_rooms(root, text)
    dot = (root / "docs/pictures/folders.dot").read_text()
    yield from arrows_without_include(root, dot)
    svg = (root / "docs/pictures/folders.svg").read_text()
    for label in re.findall(r'label="([^"]+)"', dot):
        for line in label.split(r"\n"):
            if line.replace("'", "&#39;") not in svg and line not in svg:
                yield f'the picture lacks "{line}": draw it anew'


def document_findings(root):
    """(document, finding): the other documents name only what there is, too."""
    there = tracked_folders(root)
    pages = [*root.glob("docs/**/*.md"), *root.glob("*.md")]
    skipped = {root / "docs/architecture.md", root / "CHANGELOG.md"}
    foreign = ("reports", "reference")  # they also name files of other projects
    for page in sorted(set(pages) - skipped):
        quoted, _, linked = named_paths(page.read_text())
        name = page.relative_to(root)
        for path in quoted:
            is_path = path.split("/")[0] in there and page.parent.name not in foreign
            if is_path and not list(root.glob(path)) and not list(root.glob(path + ".*")):
                yield name, f"there is no {path}"
        for path in linked:
            if "//" not in path and not (page.parent / path).exists():
                yield name, f"there is no {path} to link to"


def readme_findings(root):
    readme = (root / "README.md").read_text()
    counts = (root / "docs/compliance.md").read_text()
    for row in re.findall(r"^\| [\w-]+\.md \|.*$", counts, re.M):
        if row not in readme:
            yield f"the counts are not those of docs/compliance.md: {row}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(findings(root))
    for finding in found:
        print(f"docs/architecture.md: {finding}")
    others = list(document_findings(root))
    for page, finding in others:
        print(f"{page}: {finding}")
    stale = list(readme_findings(root))
    for finding in stale:
        print(f"README.md: {finding}")
    return 1 if found or others or stale else 0


if __name__ == "__main__":
    sys.exit(main())
