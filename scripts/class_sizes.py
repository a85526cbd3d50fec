#!/usr/bin/env python3
"""Counts the functions and the data members of the classes that C++ files define.

Usage: scripts/class_sizes.py [ROOT] [COUNT]    prints the COUNT (10) largest classes of ROOT (.)

A function is each one that a class declares: public or private, static or not, with constructors,
destructors, operators and functions that are defaulted or deleted; each overload counts. A member
is a non-static data member. Nested classes count by themselves, friends and bases not at all. A
plain record may have as many members as it needs: all are public, and its functions only
answer questions (const, static) or list the members (fields). Tables of operations are structs of
libfabric; none is defined here.
"""
import pathlib
import re
import sys
from dataclasses import dataclass

import command_line

FUNCTIONS = 30
MEMBERS = 14

# Classes that may be larger, by file and class, each with the reason. An entry that is not needed
# is a finding.
EXCEPTIONS = {
    # One object for one thing, with many small facts about it.
    "ses/outgoing/tx_message.h TxMessage":
        "the record of an operation; its functions compute from few members",
    "ses/endpoint.h Endpoint": "the record of an endpoint that SES has open",
    "pds/pdc/pdc.h Pdc": "composes the parts of one end of a connection and names them",
    "pds/pdc/peer_table.h Peer":
        "the record of a peer; its functions answer what packets to it carry",
    "pds/parts.h Parts": "composes the parts of PDS and shows which one may use which",
    "prov/uet/memory/mr.h MemoryRegion":
        "what an application asked for in fi_mr_attr, until it is enabled",
    "sim/simulation.cpp Run": "composes the parts of one run of the simulation",
}


@dataclass
class ClassSize:
    name: str  # with the classes around it
    line: int
    functions: list
    members: list
    is_open: bool = True  # all members are public, and no function changes them

    def is_large(self):
        if len(self.functions) > FUNCTIONS:
            return True
        return len(self.members) > MEMBERS and not self.is_open


def closing(code, at, pair="{}"):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] == pair[0]:
            depth += 1
        elif code[i] == pair[1]:
            depth -= 1
            if depth == 0:
                return i
    return len(code) - 1


def without_arguments(text):
    """Drops template arguments, attributes and what stands in alignas and decltype."""
    text = re.sub(r"\[\[.*?\]\]", " ", text, flags=re.S)
    text = re.sub(r"\boperator\s*(\(\)|[^\s\w(]+)", "operator_", text)
    text = text.replace("->", "  ")
    while True:
        shorter = re.sub(r"<[^<>]*>", " ", text)
        if shorter == text:
            break
        text = shorter
    text = re.sub(r"\b(alignas|decltype|requires|explicit|noexcept)\s*"
                  r"\([^()]*(\([^()]*\)[^()]*)*\)", " ", text)
    return re.sub(r"\s+", " ", text).strip()


CLASS_HEAD = re.compile(r"(?:^|[\s>])(?:class|struct|union)\b(?!\s*\{)(?:\s|\[\[.*?\]\]|"
                        r"alignas\([^)]*\))*([\w:]+)(?:\s*<[^{]*>)?\s*(?:final\s*)?(?::[^:].*)?$",
                        re.S)


def class_name(head):
    """The name of the class that this head begins, or None. A nameless one gives an empty name."""
    head = head.strip()
    if re.search(r"\benum\b", head):
        return None
    if re.search(r"\b(class|struct|union)\s*$", head):
        return ""
    found = CLASS_HEAD.search(head)
    if not found or "(" in re.sub(r"alignas\([^)]*\)", "", head).split(":")[0]:
        return None
    return found.group(1)


def is_struct(head):
    return re.search(r"\bclass\b", head) is None


def sort_statement(text, own_name, size):
    """Adds what one statement of a class declares to `size`."""
    if re.search(r"\b(private|protected)\s*:", text):
        size.is_open = False
    text = re.sub(r"\b(public|private|protected)\s*:", " ", text).strip()
    text = without_arguments(text)
    text = re.sub(r"^(template|requires\s+[\w:]+)\s+", "", text)
    if not text or re.match(r"(using|typedef|friend|static_assert|enum)\b", text):
        return
    if re.match(r"(class|struct|union)\s+\w+$", text):
        return  # declared, defined elsewhere
    declared = re.split(r"(?<![=!<>])=(?!=)", text)[0]
    function = re.search(r"(~?\w+)\s*\((?!\s*\*)", declared)
    if function:
        name = function.group(1)
        size.functions.append(name)
        if name == own_name or name.startswith("~"):
            return  # makes or ends the record, and changes no other one
        asks = re.search(r"\bstatic\b", declared) or re.search(r"\)[^()]*\bconst\b", declared)
        if not asks and name != "fields":
            size.is_open = False
        return
    if re.search(r"\bstatic\b", text):
        return
    pointer = re.search(r"\(\s*\*\s*(\w+)", declared)  # to a function
    if pointer:
        size.members.append(pointer.group(1))
        return
    text = re.sub(r"\([^()]*\)", " ", text)
    for one in text.split(","):
        words = re.findall(r"\w+", re.split(r"=|(?<!:):(?!:)|\[", one)[0])
        if words:
            size.members.append(words[-1])


def read_class(code, first, last, name, line_of, out, outer="", is_open=True):
    """Reads the body code[first:last] of the class `name`; appends it and the nested ones."""
    full = f"{outer}::{name}" if outer else name
    size = ClassSize(full, line_of(first), [], [], is_open)
    out.append(size)
    statement = ""
    i = first
    while i < last:
        ch = code[i]
        if ch == ";":
            sort_statement(statement, name, size)
            statement = ""
        elif ch == "(":
            end = closing(code, i, "()")
            statement += code[i:end + 1]
            i = end
        elif ch == "{":
            end = closing(code, i)
            plain = re.sub(r"\b(public|private|protected)\s*:", " ", statement)
            nested = class_name(plain)
            if nested:
                read_class(code, i + 1, end, nested, line_of, out, full, is_struct(plain))
                statement = "Nested " if re.match(r"\s*\w", code[end + 1:last]) else ""
            elif nested == "":  # nameless: its members are the outer ones'
                inner = []
                read_class(code, i + 1, end, name, line_of, inner, outer)
                size.functions += inner[0].functions
                size.members += inner[0].members
                out += inner[1:]
                statement = ""
            elif is_function_body(plain):
                sort_statement(without_values(statement), name, size)
                statement = ""
            i = end
        else:
            statement += ch
        i += 1


def without_values(head):
    """The head of a constructor without the values of members, any other as it is."""
    parts = re.split(r"\)\s*(?:noexcept\s*)?:(?!:)", head)
    return head if len(parts) == 1 else parts[0] + ")"


def is_function_body(head):
    """Whether a brace after `head` opens a function, and not the value of a member."""
    text = without_arguments(head)
    if "(" not in re.split(r"(?<![=!<>])=(?!=)", text)[0] or re.search(r"\benum\b", text):
        return False
    if re.search(r"\)\s*(noexcept\s*)?:(?!:)", text):  # initialisers of a constructor
        return not re.search(r"[,:]\s*[\w:]+\s*$", text)
    return True


def classes(code):
    """Yields the size of each class of `code`, which has no comments and no literals."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  code, flags=re.M)
    starts = [0]
    for m in re.finditer("\n", code):
        starts.append(m.end())

    def line_of(at):
        return code.count("\n", 0, at) + 1

    out = []
    i, head = 0, 0
    while i < len(code):
        if code[i] in ";}":
            head = i + 1
        elif code[i] == "{":
            text = code[head:i]
            name = class_name(text)
            if name:
                end = closing(code, i)
                read_class(code, i + 1, end, name, line_of, out, is_open=is_struct(text))
                i = end
            elif not re.search(r"\bnamespace\b|\bextern\b", text):
                i = closing(code, i)
            head = i + 1
        i += 1
    return out


def check_classes(path, code, report, unused):
    """Reports what is too large in a file, and takes the exceptions it needs from `unused`."""
    for size in classes(code):
        if not size.is_large():
            continue
        key = f"{path} {size.name}"
        if key in EXCEPTIONS:
            unused.discard(key)
            continue
        report(path, size.line,
               f"{size.name} has {len(size.functions)} functions and {len(size.members)} members, "
               f"at most {FUNCTIONS} and {MEMBERS}")


def main():
    import check_tidy  # which uses this module, too
    args = command_line.read(__doc__, sys.argv[1:], words=(0, 2))
    root = command_line.folder(args[0] if args else ".").resolve()
    count = int(args[1]) if len(args) > 1 else 10
    rows = []
    for path in check_tidy.tracked_files(root):
        if path.endswith((".h", ".cpp")):
            code = check_tidy.strip_comments_and_strings((root / path).read_text())
            rows += [(size, path) for size in classes(code) if size.functions]
    rows.sort(key=lambda row: (-len(row[0].functions), -len(row[0].members)))
    for size, path in rows[:count]:
        print(f"{len(size.functions):4} functions {len(size.members):4} members  {size.name}  "
              f"({path})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
