"""Which folder may include which, as the table in section 2 of docs/architecture.md says.

The last column of a row lists folders in back quotes, says "nothing" or "all"; text in parentheses
is a remark. After a semicolon come the parts of the folder with arrows of their own:
"`io/seal` also `tss`" adds to the folder's arrows, "`sim/world` only `base`" replaces them. Parts
may have a row of their own, whose last column then begins with "also" or "only".
"""
import pathlib
import re

PAGE = "docs/architecture.md"
# The tests of a single part link that part and the parts that it needs.
PART_TEST = re.compile(r"(pds|ses)/\w+/test/")
SHARED = ("sim/world", "sim/machines")  # by the tests of every layer (section 8)


class Unreadable(Exception):
    """A row of the table is not in the form above."""


def is_below(path, folder):
    """Whether path lies in the folder, or is a file of that name with any ending."""
    return path == folder or path.startswith((folder + "/", folder + "."))


def names_in(text):
    names = re.findall(r"`([\w/]+)`", text)
    rest = re.sub(r"`[\w/]+`|\([^)]*\)|[\s,]", "", text)
    if rest not in ("", "nothing", "libfabric"):
        raise Unreadable(f'"{text.strip()}" is not a list of folders')
    return set(names)


class Arrows:
    """The arrows of a tree; the page of this repository counts for a tree without one."""

    def __init__(self, root):
        page = root / PAGE
        if not page.is_file():
            page = pathlib.Path(__file__).resolve().parent.parent / PAGE
        self.folders = {}  # folder: those that it may include, or None: all
        self.added, self.replaced = [], []  # (part, folders), the longest part first
        text = page.read_text()
        table = text[text.index("## 2. Folders"):].split("\n###")[0]
        for names, cell in re.findall(r"^\| (`[\w/]+`(?:, `[\w/]+`)*) \|.*\| (.*?) ?\|$", table,
                                      re.M):
            if re.match(r"(also|only)\b", cell):
                self._take_part(f"{names} {cell}")
            elif "," in names:
                raise Unreadable(f"{names}: a row of several names is one of parts")
            else:
                self._take(names.strip("`"), cell)
        for part, _ in self.added + self.replaced:
            if part.split("/")[0] not in self.folders:
                raise Unreadable(f"{part} has no row")

    def _take(self, name, cell):
        folder = name.split("/")[0]
        of_folder, *of_parts = cell.split(";")
        self.folders[folder] = None if of_folder.strip() == "all" else names_in(of_folder)
        for text in of_parts:
            self._take_part(text)

    def _take_part(self, text):
        parts, word, targets = (re.split(r"\b(also|only)\b", text) + [""] * 2)[:3]
        if not word:
            raise Unreadable(f'"{text.strip()}" has neither "also" nor "only"')
        kept = self.added if word == "also" else self.replaced
        kept += [(part, names_in(targets)) for part in sorted(names_in(parts))]

    def of(self, path):
        """The folders that this path may include besides its own; None: all."""
        for part, targets in self.replaced:
            if is_below(path, part):
                return targets | {part}
        folder = path.split("/")[0]
        allowed = self.folders[folder]
        if allowed is None:
            return None
        added = [targets for part, targets in self.added if is_below(path, part)]
        return allowed.union({folder}, *added)

    def may_include(self, path, header):
        if path.split("/")[0] not in self.folders:
            return True
        allowed = self.of(path)
        target = header.split("/")[0]
        if allowed is None or any(is_below(header, folder) for folder in allowed):
            return True
        if target == "test":
            return True
        if "/test/" not in path or target in ("prov", "tools"):
            return False
        if target == "sim":
            is_shared = any(is_below(header, folder) for folder in SHARED)
            return is_shared and not PART_TEST.match(path)
        return True  # a layer's tests may join it with others

    def circle(self):
        """Folders whose arrows lead back to themselves, in order; empty: there are none."""
        done = set()

        def visit(folder, way):
            if folder in way:
                return way[way.index(folder):] + [folder]
            if folder in done:
                return []
            found = []
            for target in sorted(self.folders.get(folder) or ()):
                found = found or visit(target, way + [folder])
            done.add(folder)
            return found

        for folder in self.folders:
            if found := visit(folder, []):
                return found
        return []
