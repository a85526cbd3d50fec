"""Reads the lists of faults and plants all of them at once in a copy of the tree.

Each fault stands behind a switch, uet_fault(N) of fault.h, so that one build serves all of them.
"""
import pathlib
import re
import zlib

HEAD = re.compile(r"(\? )?(\S+/\S+)\s+([A-Z]+-[A-Z]?\d+)\s+(\S.*)$")
DECLARATION = re.compile(r"((?:[\w:<>,]+[&*]?\s+[&*]?)+\w+\s*=)(?!=)\s*(.+);$", re.S)
MARKED = re.compile(r"(.*)`(.+)`(.*)$", re.S)


# The definition of uet_fault(); lines keep their numbers.
SWITCH = '#include "scripts/mutants/fault.h"\n#line 1\n'


class Misfit(Exception):
    """An entry that cannot be read or that the code does not have exactly once."""


class Fault:
    """One entry of a list; its name is FOLDER/place in the list.

    is_gap: it is known that no test which cites the rule notices it.
    """

    def __init__(self, name, file, rule, text):
        self.name, self.file, self.rule, self.text = name, file, rule, text
        self.search = self.replacement = None
        self.is_gap = False

    @property
    def number(self):
        """By what it does, so that other entries come and go and its file is not built again."""
        text = f"{self.file}\n{self.search}\n{self.replacement}"
        return 1 + zlib.crc32(text.encode()) % (1 << 30)

    @property
    def folder(self):
        return self.file.split("/")[0]


def read_list(path):
    faults = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        where = f"{path.name}:{number}"
        if line.startswith("- ") and faults and faults[-1].search is None:
            faults[-1].search = line[2:].strip()
        elif line.startswith("+") and faults and faults[-1].search and \
                faults[-1].replacement is None:
            faults[-1].replacement = line[1:].strip()
        elif line.strip() and not line.startswith("#"):
            head = HEAD.match(line)
            if not head or head.group(2).split("/")[0] != path.stem:
                raise Misfit(f"{where}: not a fault of {path.stem}/: {line}")
            if faults and faults[-1].replacement is None:
                raise Misfit(f"{where}: the fault before this one lacks a line")
            faults.append(Fault(f"{path.stem}/{len(faults) + 1}", *head.groups()[1:]))
            faults[-1].is_gap = head.group(1) is not None
    if not faults or faults[-1].replacement is None:
        raise Misfit(f"{path.name}: the last fault lacks a line")
    return faults


def read_lists(folder):
    """All faults, in the order of the lists."""
    faults = [f for path in sorted(pathlib.Path(folder).glob("*.txt")) for f in read_list(path)]
    by_number = {}
    for fault in faults:
        other = by_number.setdefault(fault.number, fault)
        if other is not fault:
            raise Misfit(f"{fault.name} is the same as {other.name}")
    return faults


# --- one fault in the text of its file ---

def pattern_of(text):
    """Any white space of the list stands for any white space of the code."""
    return r"\s+".join(re.escape(word) for word in text.split())


def span_of(fault, code):
    """Where the piece that the fault replaces begins and ends in the code."""
    marked = MARKED.match(fault.search)
    if marked:
        before, piece, after = marked.groups()
        parts = [pattern_of(before), f"(?P<piece>{pattern_of(piece)})", pattern_of(after)]
        parts[0] += r"\s*" if parts[0] else ""
        parts[2] = (r"\s*" if parts[2] else "") + parts[2]
        pattern = "".join(parts)
    else:
        pattern = f"(?P<piece>{pattern_of(fault.search)})"
    found = list(re.finditer(pattern, code))
    if len(found) != 1:
        raise Misfit(f"{fault.name} does not fit {fault.file}: found {len(found)} times: "
                     f"{fault.search}")
    statement = re.split(r"[;{}]", code[:found[0].start("piece")])[-1]
    if re.match(r"\s*(static\s|inline\s)*constexpr\b[^(]*=", statement):
        raise Misfit(f"{fault.name}: what the compiler computes has no fault: {fault.search}")
    return found[0].span("piece")


def blank_comments(code):
    return re.sub(r"//[^\n]*", lambda m: " " * len(m.group(0)), code)


def condition_of(text):
    """The condition of "if (...)" or "while (...)" when the text is that and no more."""
    match = re.match(r"(if|while)\s*\((.*)\)$", text, re.S)
    if not match:
        return None
    depth = 0
    for ch in match.group(2):
        depth += {"(": 1, ")": -1}.get(ch, 0)
        if depth < 0:
            return None
    return match.groups() if depth == 0 else None


def is_one_expression(text):
    """Whether brackets are closed where they were opened, no comma stands outside of them, and no
    operator that takes two sides at an end."""
    if re.match(r"[|&=<>?:/%]", text) or re.search(r"[-+*/%|&=<>?:]$", text):
        return False
    open_brackets, closing = [], {")": "(", "}": "{", "]": "["}
    for ch in re.sub(r"'.'|\"[^\"]*\"", "0", text):
        if ch in "({[":
            open_brackets.append(ch)
        elif ch in closing and (not open_brackets or open_brackets.pop() != closing[ch]):
            return False
        elif ch in ",;" and not open_brackets:
            return False
    return not open_brackets


def open_brackets_of(text):
    """What this text leaves open, minus what it closes, for each kind of bracket."""
    code = re.sub(r"'.'|\"[^\"]*\"", "0", text)
    return [code.count(a) - code.count(b) for a, b in ("()", "[]", "{}")]


def is_statement(piece, before):
    """Whether the piece is whole statements; `before` is the code in front of it."""
    if not piece.endswith((";", "}")) or not re.match(r"[\w:*({]|--|\+\+", piece):
        return False
    before = before.rstrip()
    if before.endswith("::"):
        return False
    return before.endswith((";", "{", "}", ")", ":")) or before.endswith((" else", " do"))


def common_form(fault, piece, before):
    """(form, head, original, replacement): how this fault is written behind its switch."""
    replacement = fault.replacement
    if open_brackets_of(piece) != open_brackets_of(replacement):
        raise Misfit(f"{fault.name}: the brackets of the two lines differ: {fault.search}")
    if piece.endswith(" {") and replacement.endswith(" {"):
        form, head, original, wrong = common_form_of(fault, piece[:-2], replacement[:-2], before)
        return form, head, original, wrong, " {"
    return (*common_form_of(fault, piece, replacement, before), "")


def common_form_of(fault, piece, replacement, before):
    condition, wrong_condition = condition_of(piece), condition_of(replacement)
    if condition and wrong_condition and condition[0] == wrong_condition[0]:
        return "condition", condition[0], condition[1], wrong_condition[1]
    declared, wrong_declared = DECLARATION.match(piece), DECLARATION.match(replacement)
    if declared and not piece.startswith("return ") and " " in declared.group(1).strip("= "):
        if not wrong_declared or \
                declared.group(1).split() != wrong_declared.group(1).split():
            raise Misfit(f"{fault.name}: a declaration can only get another initial value")
        return "declaration", declared.group(1), declared.group(2), wrong_declared.group(2)
    if is_statement(piece, before):
        return "statement", "", piece, replacement
    if not replacement:
        raise Misfit(f"{fault.name}: nothing cannot stand in place of an expression")
    if piece.endswith(";") and replacement.endswith(";"):
        form, piece, replacement = "value", piece[:-1], replacement[:-1]
    else:
        form = "expression"
    if before.rstrip().endswith(("!", "~", ".", "->", "::")):
        raise Misfit(f"{fault.name}: what stands before it belongs to the piece: {piece}")
    for text in (piece, replacement):
        if not is_one_expression(text):
            raise Misfit(f"{fault.name}: not one expression: {text}")
    return form, "", piece, replacement


def write(form, head, original, wrong, tail):
    """Code that does what was there, or what is wrong where a switch says so.

    `wrong` lists (number, replacement) of all faults of this piece.
    """
    if form == "statement":
        text = "".join(f"if (uet_fault({n})) {{ {w} }} else " for n, w in wrong)
        return f"{{ {text}{{ {original} }} }}{tail}"
    choice = "".join(f"uet_fault({n}) ? ({w}) : " for n, w in wrong)
    value = f"({choice}({original}))"
    if form == "condition":
        return f"{head} {value}{tail}"
    if form == "declaration":
        return f"{head} {value};{tail}"
    return value + (";" if form == "value" else "") + tail


# --- all faults of a file ---

class Piece:
    """What one or more faults replace, with the pieces of other faults that lie in it."""

    def __init__(self, span):
        self.span, self.faults, self.inner = span, [], []


def nest(faults, code):
    """The outermost pieces, in order; a piece within another one is its inner piece."""
    pieces = {}
    for fault in faults:
        span = span_of(fault, code)
        pieces.setdefault(span, Piece(span)).faults.append(fault)
    outer, stack = [], []
    for piece in sorted(pieces.values(), key=lambda p: (p.span[0], -p.span[1])):
        while stack and stack[-1].span[1] <= piece.span[0]:
            stack.pop()
        if stack and piece.span[1] > stack[-1].span[1]:
            raise Misfit(f"{piece.faults[0].name} overlaps {stack[-1].faults[0].name}")
        (stack[-1].inner if stack else outer).append(piece)
        stack.append(piece)
    return outer


def render(pieces, begin, end, code, blank):
    """The code from begin to end with these pieces behind their switches."""
    out, at = [], begin
    for piece in pieces:
        out.append(code[at:piece.span[0]])
        out.append(render_piece(piece, blank))
        at = piece.span[1]
    out.append(code[at:end])
    return "".join(out)


def render_piece(piece, blank):
    text, before = blank[slice(*piece.span)].rstrip(), blank[:piece.span[0]]
    forms = [common_form(f, text, before) for f in piece.faults]
    form, head, original, _, tail = forms[0]
    if any(f[:3] != forms[0][:3] for f in forms):
        raise Misfit(f"{piece.faults[0].name} and {piece.faults[1].name}: one piece, two forms")
    begin = piece.span[0] + text.index(original, len(head))
    original = render(piece.inner, begin, begin + len(original), blank, blank)
    wrong = [(f.number, g[3]) for f, g in zip(piece.faults, forms)]
    return write(form, head, original, wrong, tail)


TABLE = re.compile(r"\bconstexpr(?= [\w:<>, ]+\[\] = \{)")
UNFROZEN = re.compile(r"\bconst {5}[\w:<>, ]+\[\] = \{.*?\};", re.S)


def unfreeze(pieces, code):
    """The code in which tables with faults are not constant: `const     T k[] = {`."""
    for table in TABLE.finditer(code):
        end = code.find("};", table.end())
        if any(table.end() < piece.span[0] < end for piece in pieces):
            code = code[:table.start()] + "const".ljust(len("constexpr")) + code[table.end():]
    return code


def plant_in(faults, code):
    """The code of one file with all its faults behind their switches."""
    pieces = nest(faults, code)
    code = unfreeze(pieces, code)
    code = render(pieces, 0, len(code), code, blank_comments(code))
    return SWITCH + UNFROZEN.sub(lambda m: m[0].replace("uet_fault(", "uet_fault_now("), code)


def plant(faults, root):
    """{file: text with its faults}, for each file of the tree that has faults. Raises Misfit for
    all entries that do not fit, in one message."""
    by_file, texts, wrong = {}, {}, []
    for fault in faults:
        by_file.setdefault(fault.file, []).append(fault)
    for file, own in by_file.items():
        try:
            code = (pathlib.Path(root) / file).read_text()
        except OSError:
            wrong.append(f"{own[0].name}: there is no file {file}")
            continue
        fitting = []
        for fault in own:
            try:
                plant_in([fault], code)
                fitting.append(fault)
            except Misfit as misfit:
                wrong.append(str(misfit))
        try:
            texts[file] = plant_in(fitting, code)
        except Misfit as misfit:
            wrong.append(str(misfit))
    if wrong:
        raise Misfit("\n".join(wrong))
    return texts
