"""Which GoogleTest tests cite which rules, and which program each test is in."""
import json
import re
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from check_citations import CITATION, expand  # pylint: disable=wrong-import-position

TEST = re.compile(r"(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")


def rules_of_tests(text):
    """{"Suite.Name": rules} of one source file.

    A test cites what the comment above it and its own body cite; what stands elsewhere, in the head
    of the file or at a helper, is cited by every test of the file.
    """
    tests, shared, waiting, current = {}, set(), set(), None
    for line in text.split("\n"):
        rules = {rule for match in CITATION.finditer(line) for rule in expand(match)}
        begin = TEST.match(line)
        if begin:
            current = ".".join(begin.groups())
            tests.setdefault(current, set()).update(waiting | rules)
            waiting = set()
            current = None if line.endswith("}") else current
        elif current:
            tests[current] |= rules
            current = None if line.startswith("}") else current
        elif line.startswith("//"):
            waiting |= rules
        else:
            shared |= waiting | rules
            waiting = set()
    for rules in tests.values():
        rules |= shared
    return tests


class Program:
    """A GoogleTest program as ctest runs it; its name is that of its target."""

    def __init__(self, name, command, environment, labels):
        self.name, self.command = name, command
        self.labels, self.environment, self.left_out = labels, environment, ""
        self.folders = set(labels)  # whose tests it has: of its labels and of its sources
        self.tests = {}  # "Suite.Name": rules
        self.seconds = None  # of a run of all its tests without a fault

    def filter_of(self, tests):
        """For --gtest_filter: the tests, as plain, typed and with parameters."""
        names = ":".join(f"{t}:*/{t}/*:{t.replace('.', '/*.')}" for t in sorted(tests)) or "*"
        return names + (f":-{self.left_out}" if self.left_out else "")


def targets_of(build, tree):
    """{name of a target: (its executable, its sources)}: what cmake says of its targets."""
    reply = pathlib.Path(build) / ".cmake/api/v1/reply"
    found = {}
    for path in reply.glob("target-*.json"):
        target = json.loads(path.read_text())
        if target["type"] == "EXECUTABLE":
            executable = pathlib.Path(build) / target["artifacts"][0]["path"]
            sources = [pathlib.Path(tree) / s["path"] for s in target["sources"]]
            found[target["name"]] = (executable, sources)
    return found


def program_of(test, executable, sources, tree):
    """The program of a ctest entry that has the name of its target."""
    properties = {p["name"]: p["value"] for p in test["properties"]}
    program = Program(test["name"], [str(executable)], properties.get("ENVIRONMENT", []),
                      properties.get("LABELS", []))
    for change in properties.get("ENVIRONMENT_MODIFICATION", []):
        left_out = re.match(r"GTEST_FILTER=set:-(.*)", change)
        if left_out:
            program.left_out = left_out[1]
    for source in sources:
        if source.is_relative_to(tree):
            program.folders.add(source.relative_to(tree).parts[0])
        if source.suffix == ".cpp" and source.is_file():
            program.tests.update(rules_of_tests(source.read_text()))
    return program


def programs_of(build, tree):
    """The test programs of a configured build, with their tests and the rules that these cite."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                           capture_output=True, text=True, check=True)
    targets = targets_of(build, tree)
    programs = [program_of(test, *targets[test["name"]], pathlib.Path(tree))
                for test in json.loads(shown.stdout)["tests"] if test["name"] in targets]
    return [p for p in programs if p.tests]
