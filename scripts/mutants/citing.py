"""Which GoogleTest tests cite which rules, and which program each test is in."""
import fnmatch
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
    """A GoogleTest program as ctest runs it. An entry of ctest for some of its tests is another
    one, with a name of its own."""

    def __init__(self, name, target, command, environment, labels):
        self.name, self.target, self.command = name, target, command
        self.labels, self.environment, self.left_out = labels, environment, ""
        self.folders = set(labels)  # the tests of the folder: its labels and its sources
        self.locks = []  # resources that no two programs may have at the same time
        self.tests = {}  # "Suite.Name": rules
        self.is_part = False  # there are more tests in its target
        self.seconds = None  # of a run of all its tests without a fault

    def filter_of(self, tests):
        """For --gtest_filter: the tests, as plain, typed and with parameters."""
        if self.is_part and not tests:
            tests = self.tests
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


def program_of(test, target, executable, sources, tree):
    """The program of a ctest entry of this target."""
    properties = {p["name"]: p["value"] for p in test["properties"]}
    program = Program(test["name"], target, [str(executable)], properties.get("ENVIRONMENT", []),
                      properties.get("LABELS", []))
    program.locks = sorted(properties.get("RESOURCE_LOCK", []))
    for setting in program.environment + properties.get("ENVIRONMENT_MODIFICATION", []):
        left_out = re.match(r"GTEST_FILTER=(?:set:)?-(.*)", setting)
        if left_out:
            program.left_out = left_out[1]
    for source in sources:
        if source.is_relative_to(tree):
            program.folders.add(source.relative_to(tree).parts[0])
        if source.suffix == ".cpp" and source.is_file():
            program.tests.update(rules_of_tests(source.read_text()))
    if test["name"] != target:
        keep_part(program, test["command"][1:])
    return program


def keep_part(program, arguments):
    """Of the tests those that the entry runs; none when it chooses by parameters of tests."""
    chosen = [a.removeprefix("--gtest_filter=") for a in arguments
              if a.startswith("--gtest_filter=")]
    program.is_part = True
    program.tests = {name: rules for name, rules in program.tests.items()
                     if chosen and fnmatch.fnmatchcase(name, chosen[0])}


def programs_of(build, tree):
    """The test programs of a configured build, with their tests and the rules that these cite.

    Before a program is built ctest does not say what its entries for some of its tests are.
    """
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                           capture_output=True, text=True, check=True)
    targets = targets_of(build, tree)
    by_path = {str(executable): name for name, (executable, _) in targets.items()}
    programs = []
    for test in json.loads(shown.stdout)["tests"]:
        path = test.get("command", [""])[0]
        target = test["name"] if test["name"] in targets else by_path.get(path)
        if target is not None:
            programs.append(program_of(test, target, *targets[target], pathlib.Path(tree)))
    return [p for p in programs if p.tests]
