#!/usr/bin/env python3
"""Joins the requirement table with the citations in code and tests and with the planted faults.

Usage: scripts/check_citations.py [--write] [ROOT]

  --write   write docs/compliance.md (without it, a stale file is a finding)

Findings (exit 1): a cited id that the table does not have; a range of more than 40 ids in a test;
a cited section of docs/architecture.md or decision that does not exist; a requirement that no test
cites and docs/open-requirements.csv does not list with a reason; an entry of that list that
matches nothing open any more; docs/compliance.md not as this program would write it.
Exit 0: none of these. Exit 2: wrong usage.
"""
import csv
import fnmatch
import re
import subprocess
import sys

import command_line

ID = r"(?:PDS|SES|WIRE|LF|CMS|TSS|LINK|ABI)-[A-Z]?\d+|(?<![\w-])T-\d\d"
CITATION = re.compile(rf"({ID})(?:\.\.(\d+)|\s+to\s+(?:\w+-)?[A-Z]?(\d+))?")
PAGE = re.compile(r"\[(?:[^\]]*, )?architecture ([^\]]*)\]")
DECISION = re.compile(r"\bdecisions? (\d+)\b")
CODE_FOLDERS = ("base", "wire", "cms", "pds", "ses", "tss", "keys", "fep", "io", "link", "prov",
                "sim", "tools", "scripts", "fuzz", "conformance", "dissector")
SOURCES = (".h", ".cpp", ".c", ".py", ".sh")
NOT_SEARCHED = ("scripts/check_citations.py", "scripts/test/checkers_test.py",
                "scripts/test/mutants_test.py")


def read_requirements(root):
    with open(root / "docs/reference/requirements.csv", newline="") as f:
        return {row["id"]: row for row in csv.DictReader(f)}


def read_open(root):
    path = root / "docs/open-requirements.csv"
    with open(path, newline="") as f:
        rows = [r for r in csv.DictReader(f)]
    for r in rows:
        if not (r.get("pattern") and r.get("status") and r.get("reason")):
            raise SystemExit(f"{path}: every row needs pattern, status and reason: {r}")
        if r["status"] not in ("open", "exception"):
            raise SystemExit(f"{path}: status is open or exception: {r}")
    return rows


def source_files(root):
    out = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others",
                          "--exclude-standard"], capture_output=True, text=True, check=False)
    names = out.stdout.split("\n") if out.returncode == 0 else [
        str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    return [n for n in names if n.split("/")[0] in CODE_FOLDERS
            and (n.endswith(SOURCES) or is_case(n))
            and n not in NOT_SEARCHED and (root / n).is_file()]


def is_case(name):
    return name.startswith("conformance/cases/")


# The most rules that a range may cite: no test proves more of them at once.
RANGE_MAX = 40


def expand(match):
    """PDS-012..019 cites every id from 012 to 019."""
    first = match.group(1)
    last = match.group(2) or match.group(3)
    if last is None:
        return [first]
    prefix, letter, digits = re.match(r"(\w+)-([A-Z]?)(\d+)$", first).groups()
    width = len(digits)
    return [f"{prefix}-{letter}{n:0{width}d}" for n in range(int(digits), int(last) + 1)]


def citations(root):
    code, tests = {}, {}
    for name in source_files(root):
        target = tests if "/test/" in name or "_test." in name or is_case(name) else code
        for number, line in enumerate((root / name).read_text(errors="replace").split("\n"), 1):
            for match in CITATION.finditer(line):
                for rid in expand(match):
                    target.setdefault(rid, []).append(f"{name}:{number}")
    return code, tests


def wide_ranges(root):
    """Ranges in tests that cite too many rules at once, as findings."""
    for name in source_files(root):
        if "/test/" not in name and "_test." not in name and not is_case(name):
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").split("\n"), 1):
            for match in CITATION.finditer(line):
                count = len(expand(match))
                if count > RANGE_MAX:
                    yield (f"{name}:{number}: {match.group(0)} cites {count} rules, at most "
                           f"{RANGE_MAX}: cite those that the test proves")


def sections(root):
    path = root / "docs/architecture.md"
    text = path.read_text() if path.is_file() else ""
    return set(re.findall(r"^## (\d+)\.", text, re.M))


def decisions(root):
    return {str(int(p.name[:4])) for p in (root / "docs/decisions").glob("[0-9]*.md")}


def dead_links(root):
    """Citations of sections and decisions that do not exist, as findings."""
    known, rulings = sections(root), decisions(root)
    for name in source_files(root):
        for number, line in enumerate((root / name).read_text(errors="replace").split("\n"), 1):
            for cited in PAGE.findall(line):
                dead = [s for s in re.split(r", |\.\.", cited) if s not in known]
                if dead:
                    yield f"{name}:{number}: docs/architecture.md has no section {dead[0]}"
            for cited in DECISION.findall(line):
                if cited not in rulings:
                    yield f"{name}:{number}: docs/decisions has no decision {cited}"


def planted(root):
    """{rule: whether tests that cite it notice all faults that are planted in it}."""
    noticed = {}
    for path in sorted((root / "scripts/mutants").glob("*.txt")):
        for line in path.read_text().split("\n"):
            head = re.match(rf"(\? )?\S+/\S+ ({ID}) ", line)
            if head:
                rid = head.group(2)
                noticed[rid] = noticed.get(rid, True) and not head.group(1)
    return noticed


def state_of(rid, noticed):
    """Of a rule that a test cites."""
    return "cited" if rid not in noticed else "tested" if noticed[rid] else "gap"


def matching_row(rid, rows):
    return next((r for r in rows if fnmatch.fnmatchcase(rid, r["pattern"])), None)


STATES = ("tested", "gap", "cited", "exception", "open")


def render(requirements, code, tests, rows, noticed):
    by_file = {}
    for rid, row in requirements.items():
        by_file.setdefault(row["file"], []).append(rid)
    out = ["# Compliance", "",
           "Generated by `scripts/check_citations.py --write` from the requirement table, the",
           "citations in code and tests, and `docs/open-requirements.csv`. Do not edit.", "",
           "*tested*: faults are planted in the rule, and tests that cite it notice each of them",
           "(`scripts/mutants.sh`). *gap*: they miss one. *cited*: a test cites the rule, and no",
           "fault is planted in it yet. *exception*: deliberately not done, with the reason.",
           "*open*: not done yet, with the reason.", "",
           f"| reference | rules | {' | '.join(STATES)} |",
           "|---" * (len(STATES) + 2) + "|"]
    body = []
    for file, rids in by_file.items():
        counts = dict.fromkeys(STATES, 0)
        lines = [f"## {file}", "", "| rule | state | where or why | summary |", "|---|---|---|---|"]
        for rid in rids:
            if rid in tests:
                state = state_of(rid, noticed)
                places = sorted({p.rsplit(":", 1)[0] for p in tests[rid]})
                where = ", ".join(f"`{p}`" for p in places[:2])
                where += f" and {len(places) - 2} more" if len(places) > 2 else ""
            else:
                row = matching_row(rid, rows)
                state = row["status"] if row else "open"
                where = row["reason"] if row else "**no test and no reason**"
                if rid in code:
                    where += f" (cited in `{code[rid][0].rsplit(':', 1)[0]}`)"
            counts[state] += 1
            summary = requirements[rid]["summary"].replace("|", "\\|")
            lines.append(f"| {rid} | {state} | {where} | {summary} |")
        out.append(f"| {file} | {len(rids)} | {' | '.join(str(counts[s]) for s in STATES)} |")
        body += ["", *lines]
    return "\n".join(out + body) + "\n"


def main():
    args = command_line.read(__doc__, sys.argv[1:], flags=("--write",), words=(0, 1))
    write = "--write" in sys.argv
    root = command_line.folder(args[0] if args else ".").resolve()
    requirements, rows = read_requirements(root), read_open(root)
    code, tests = citations(root)
    findings = list(dead_links(root)) + list(wide_ranges(root))
    for rid in sorted(set(code) | set(tests)):
        if rid not in requirements:
            places = code.get(rid, []) + tests.get(rid, [])
            findings.append(f"{places[0]}: cites {rid}, which the requirement table does not have")
    used = set()
    for rid in requirements:
        if rid in tests:
            continue
        row = matching_row(rid, rows)
        if row is None:
            findings.append(f"docs/open-requirements.csv: {rid} is neither tested nor listed")
        else:
            used.add(row["pattern"])
    for row in rows:
        if row["pattern"] not in used:
            findings.append(f"docs/open-requirements.csv: {row['pattern']} matches nothing open")
    noticed = planted(root)
    text = render(requirements, code, tests, rows, noticed)
    path = root / "docs/compliance.md"
    if write:
        path.write_text(text)
    elif not path.is_file() or path.read_text() != text:
        findings.append("docs/compliance.md is stale: run scripts/check_citations.py --write")
    for finding in findings:
        print(finding)
    states = [state_of(rid, noticed) for rid in requirements if rid in tests]
    print(f"check_citations: {len(requirements)} rules, {len(states)} cited by tests, "
          f"{states.count('tested')} of them tested, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
