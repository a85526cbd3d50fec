#!/usr/bin/env python3
"""Checks what style.md says a machine can check; prints file:line for every finding.

Usage: scripts/check_tidy.py [ROOT]      (exit 0: clean, 1: findings, 2: wrong usage)

What it does not do: formatting (clang-format) and compiler warnings.
"""
import pathlib
import re
import subprocess
import sys

import arrows
import class_sizes
import command_line
import plain_words

COLUMNS = 100
FILE_LINES = 500
HEADER_LINES = 250
FUNCTION_LINES = 60
CODE = (".h", ".cpp", ".c")
SCRIPTS = (".py", ".sh", ".js")
BUILD_LISTS = ("CMakeLists.txt", ".cmake")

SANS_IO = ("base", "wire", "cms", "pds", "ses", "tss", "fep")

# Libraries of a part of a layer that other layers link.
PART_OF = {"pds_record": "pds"}

# Things a sans-IO folder must not touch (architecture.md, section 7).
FORBIDDEN = [
    (r"\b(clock_gettime|gettimeofday|std::chrono|steady_clock|system_clock)\b", "a clock"),
    (r"\b(rand|srand|random|getrandom|std::random_device|std::mt19937)\s*[({;]",
     "outside randomness"),
    (r"\bgetenv\b", "the environment"),
    (r"\bstd::(thread|mutex|atomic|condition_variable)\b", "threads"),
    (r"\b(socket|sendmsg|recvmsg|epoll_\w+|ioctl)\s*\(", "sockets"),
    (r"\b(fopen|open|std::ofstream|std::ifstream|std::fstream)\s*\(", "files"),
    (r"\bstd::(unordered_\w+|shared_ptr|function)\b", "a type with hidden allocation or order"),
    (r"\b(throw|try|catch)\b(?!\w)", "exceptions"),
    (r"\b(dynamic_cast|typeid)\b", "RTTI"),
    (r"#include <(iostream|fstream|sstream|thread|mutex|atomic|chrono|random|regex|functional)>",
     "a header with such things"),
    (r"#include <(sys/socket|unistd|fcntl|netinet/in|arpa/inet|poll|sys/epoll|time)\.h>",
     "a system header"),
]
# The end of a broken invariant may print; set-up owns its memory.
FORBIDDEN_EXEMPT = {"base/assert.cpp"}
ALLOCATION = re.compile(r"(?<![\w:])(malloc|calloc|realloc|new\s+[A-Za-z_:<]|std::vector|"
                        r"std::string\b|std::map|std::set|std::deque|std::list|make_unique|"
                        r"make_shared)")
# Where memory is taken at set-up, or text is made for people.
ALLOCATION_EXEMPT = {"base/arena.h", "base/arena.cpp", "fep/fabric_endpoint.h",
                     "fep/fabric_endpoint.cpp", "fep/engine.h", "fep/engine.cpp"}

# The one place that knows which names libfabric's headers have.
LIBFABRIC_HEADER = "prov/uet/api/compat.h"

# Operation tables of libfabric, and with them its C entry points, stand here only.
ENTRY_POINTS = "prov/uet/api/"

TEXT_SUFFIXES = {".h", ".cpp", ".c", ".py", ".sh", ".cmake", ".txt", ".md", ".json", ".in", ".csv",
                 ".yml", ".conf", ".html", ".css", ".js", ".dot", ".svg"}
TEXT_NAMES = {"LICENSE", ".gitignore", ".clang-format", ".clang-tidy", "run"}
DATA_PREFIXES = ("wire/test/data/", "fuzz/corpus/", "dissector/test/data/", "docs/images/")


def tracked_files(root):
    out = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                          "--exclude-standard"], capture_output=True, check=False)
    if out.returncode == 0:
        return [p for p in out.stdout.decode().split("\0") if p and (root / p).is_file()]
    return [str(p.relative_to(root)) for p in root.rglob("*")
            if p.is_file() and p.suffix != ".pyc"
            and not str(p.relative_to(root)).startswith(("build", ".git"))]


def strip_comments_and_strings(text):
    """Blanks comments and literals, keeping line breaks and lengths of what remains."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    pattern = (r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|'
               r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'")
    return re.sub(pattern, blank, text)


# A constructor's head up to the name of a member that gets its value in braces.
MEMBER_VALUE = re.compile(r"\)\s*(noexcept\s*)?:(?!:)(.*[,\s])?[\w:]+(<.*>)?$", re.S)


def functions(code):
    """Yields (first line, last line, head) of every brace block that follows a parameter list."""
    stack = []  # (line, head, is_function, start of the head if it continues after the brace)
    head_start = 0
    line = 1
    for i, ch in enumerate(code):
        if ch == "\n":
            line += 1
        elif ch == "{":
            head = code[head_start:i].strip()
            inside = any(entry[2] for entry in stack)
            is_member_value = not inside and (MEMBER_VALUE.search(head) is not None
                                              or head.count("(") > head.count(")"))
            is_function = (not inside and not is_member_value
                           and re.search(r"\)\s*(const|noexcept|override|final|mutable|"
                           r"->\s*[\w:<>*& ]+|:\s*[\w:]+[({].*|\s)*$", head, re.S) is not None
                           and not re.match(r"(namespace|class|enum)\b", head))
            first = line - head.count("\n")
            stack.append((first, head, is_function, head_start if is_member_value else None))
            head_start = i + 1
        elif ch == "}":
            if stack:
                first, head, is_function, goes_on = stack.pop()
                if is_function:
                    yield first, line, head
                if goes_on is not None:
                    head_start = goes_on
                    continue
            head_start = i + 1
        elif ch == ";":
            if not any(entry[2] or entry[3] is not None for entry in stack):
                head_start = i + 1


def check_text(path, text, report):
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            report(path, number, "trailing blanks")
        if len(line) > COLUMNS and path.endswith(CODE + (".py", ".sh") + BUILD_LISTS):
            report(path, number, f"{len(line)} columns, at most {COLUMNS}")
    if text and not text.endswith("\n"):
        report(path, text.count("\n") + 1, "no line break at the end")


def check_head_comment(path, text, report):
    first = text.lstrip().split("\n")[0] if text.strip() else ""
    if path.endswith((".h", ".cpp", ".c")) and not first.startswith(("//", "/*")):
        report(path, 1, "no head comment that says what the file is")
    if path.endswith((".py", ".sh", ".cmake")) and not first.startswith(("#", '"""')):
        report(path, 1, "no head comment that says what the file is")


def check_size(path, text, report):
    lines = text.count("\n")
    limit = HEADER_LINES if path.endswith(".h") and "/test/" not in path else FILE_LINES
    if path.endswith(CODE + SCRIPTS + BUILD_LISTS) and lines > limit:
        report(path, 1, f"{lines} lines, at most {limit}")


def check_includes(path, text, allowed, report):
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#include "([^"/]+/[^"]*)"', line)
        if match and not allowed.may_include(path, match.group(1)):
            report(path, number, f"{path.split('/')[0]} may not include {match.group(1)} "
                                 f"({arrows.PAGE}, section 2)")


def check_sans_io(path, code, report):
    folder = path.split("/")[0]
    if folder not in SANS_IO or "/test/" in path or path in FORBIDDEN_EXEMPT:
        return
    if path.startswith("fep/engine."):
        return
    for number, line in enumerate(code.split("\n"), 1):
        for pattern, what in FORBIDDEN:
            if re.search(pattern, line):
                report(path, number, f"{what} in a sans-IO folder")
        if path not in ALLOCATION_EXEMPT and ALLOCATION.search(line):
            report(path, number, "memory from the heap in a sans-IO folder")


def check_conditions(path, code, report):
    """Which libfabric this is gets decided in one header, by its version alone."""
    for number, line in enumerate(code.split("\n"), 1):
        condition = re.match(r"\s*#\s*(?:el)?if(?:n?def)?\b(.*)", line)
        names = re.findall(r"\bFI_\w+", condition.group(1)) if condition else []
        if path == LIBFABRIC_HEADER:
            names = [n for n in names if n not in ("FI_MAJOR_VERSION", "FI_MINOR_VERSION")]
        if names:
            report(path, number,
                   f"a condition on {names[0]}; {LIBFABRIC_HEADER} decides by version")


def check_entry_points(path, code, report):
    """The provider's objects have no C entry points: those only convert."""
    if (not path.startswith("prov/uet/") or path.startswith(ENTRY_POINTS) or "/test/" in path):
        return
    for number, line in enumerate(code.split("\n"), 1):
        if re.match(r"\s*(?:\w+\s+)*fi_ops\w*\s+\w+\s*=?\s*\{", line):
            report(path, number, f"an operation table of libfabric outside {ENTRY_POINTS}")


def check_functions(path, code, report):
    for first, last, head in functions(code):
        if last - first + 1 > FUNCTION_LINES:
            name = re.sub(r"\s+", " ", head).split("(")[0].split(" ")[-1]
            report(path, first, f"{name} has {last - first + 1} lines, at most {FUNCTION_LINES}")


def check_cmake_edges(root, allowed, report):
    """The DEPS of each layer's library must be allowed by the arrows too."""
    for folder, targets in allowed.folders.items():
        lists = root / folder / "CMakeLists.txt"
        if targets is None or not lists.is_file():
            continue
        for match in re.finditer(r"uet_add_library\(\s*(\w+)([^)]*)\)", lists.read_text()):
            name, body = match.groups()
            deps = re.search(r"\bDEPS\b([^)]*)", body)
            own = folder + "_"  # a library of a part of the layer
            if not (name == folder or name.startswith(own)) or not deps:
                continue
            for dep in deps.group(1).split():
                is_own = dep == folder or dep.startswith(own)
                if not is_own and PART_OF.get(dep, dep) not in targets:
                    report(f"{folder}/CMakeLists.txt", 1, f"{folder} may not depend on {dep}")


def main():
    args = command_line.read(__doc__, sys.argv[1:], words=(0, 1))
    root = command_line.folder(args[0] if args else ".").resolve()
    findings = []

    def report(path, line, what):
        findings.append(f"{path}:{line}: {what}")

    try:
        allowed = arrows.Arrows(root)
    except arrows.Unreadable as fault:
        sys.exit(f"{arrows.PAGE}, section 2: {fault}")
    if circle := allowed.circle():
        report(arrows.PAGE, 1, f"the arrows of section 2 go in a circle: {' -> '.join(circle)}")
    files = tracked_files(root)
    is_here = "scripts/class_sizes.py" in files  # else only citations of existing files
    unused = {e for e in class_sizes.EXCEPTIONS if is_here or e.split()[0] in files}
    for path in files:
        if path.startswith(DATA_PREFIXES):
            continue
        name = path.rsplit("/", 1)[-1]
        raw = (root / path).read_bytes()
        if b"\0" in raw or (pathlib.Path(path).suffix not in TEXT_SUFFIXES
                            and name not in TEXT_NAMES):
            report(path, 1, "a binary, or a kind of file this project does not keep")
            continue
        text = raw.decode("utf-8", "replace")
        check_head_comment(path, text, report)
        plain_words.check_words(path, text, report)
        if path.startswith("docs/reference/"):
            continue
        check_text(path, text, report)
        check_size(path, text, report)
        if path.endswith(CODE):
            code = strip_comments_and_strings(text)
            check_includes(path, text, allowed, report)
            check_sans_io(path, code, report)
            check_functions(path, code, report)
            check_conditions(path, code, report)
            check_entry_points(path, code, report)
            class_sizes.check_classes(path, code, report, unused)
    for exception in sorted(unused):
        report("scripts/class_sizes.py", 1, f"the exception for {exception} is not needed")
    check_cmake_edges(root, allowed, report)

    for finding in findings:
        print(finding)
    print(f"check_tidy: {len(files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
