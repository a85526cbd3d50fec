#!/usr/bin/env python3
"""Plants the faults of mutants/*.txt in a copy of the tree and says which test notices each.

All faults are compiled in at once, each behind a switch; the environment of a test says which one
it has. First the tests that cite the rule of the fault run, then the others of its folder, until
one fails, crashes or runs longer than a test may.

Called by scripts/mutants.sh, which installs what the build needs.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import citing
import plant

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = pathlib.Path(__file__).resolve().parent
SECONDS_MIN, SECONDS_MAX, TIMES_AS_LONG = 20, 180, 8
MEMORY_MAX_BYTES = 8_000_000_000
SECONDS_BETWEEN_LOOKS = 0.2
SIMULATED = ("wire", "cms", "pds", "ses", "fep")  # folders whose faults the simulator may notice
TIMED = ("io", "prov")  # folders whose tests have sockets and threads
CITING, OTHER, SURVIVED = "citing", "other", "survived"
LOCKS = collections.defaultdict(threading.Lock)  # by what ctest calls a RESOURCE_LOCK


def fail(what):
    sys.stderr.write(f"mutants.sh: {what}\n")
    sys.exit(1)


def say(what):
    print(f"\n== {what}", flush=True)


# --- which faults ---

def chosen(faults, args):
    if args.only:
        wanted, found = args.only.split(","), []
        for word in wanted:
            own = [f for f in faults if word in (f.name, f.folder, f.rule, f.file)]
            if not own:
                sys.stderr.write(f"mutants.sh: there is no fault {word} (see --list)\n")
                sys.exit(2)
            found += [f for f in own if f not in found]
        faults = [f for f in faults if f in found]
    if args.sample:
        faults = [f for f in faults if not f.is_gap]
        picked = random.Random(args.seed).sample(faults, min(args.sample, len(faults)))
        faults = [f for f in faults if f in picked]
    return faults


# --- the copy and its build ---

def files_of_tree():
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, capture_output=True, text=True, check=True)
    return [n for n in out.stdout.split("\0") if n and (ROOT / n).is_file()]


def copy_tree(tree, planted):
    """Brings the copy up to date; what is the same is left alone, so that it is not built again."""
    wanted = set(files_of_tree())
    for path in list(tree.rglob("*")) if tree.exists() else []:
        if path.is_file() and str(path.relative_to(tree)) not in wanted:
            path.unlink()
    for name in wanted:
        source, target = ROOT / name, tree / name
        content = planted[name].encode() if name in planted else source.read_bytes()
        if target.is_file() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        shutil.copymode(source, target)


def configure(tree, build):
    query = build / ".cmake/api/v1/query"
    query.mkdir(parents=True, exist_ok=True)
    (query / "codemodel-v2").touch()
    flags = "-w -Wno-narrowing"
    done = subprocess.run(
        ["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja", f"-DCMAKE_CXX_FLAGS={flags}",
         "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1",
         "-DUET_WHOLE=ON"],
        capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"cannot configure:\n{done.stdout}{done.stderr}")


def compile_targets(build, targets, jobs):
    log = build.parent / "log"
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(
            ["cmake", "--build", str(build), "-j", str(jobs), "--target", *sorted(targets), "--",
             "-k", "0"], stdout=out, stderr=out, check=False)
    if done.returncode:
        lines = log.read_text().split("\n")
        wrong = [line for line in lines if re.search(r"error:|Error|undefined reference", line)]
        fail("does not compile:\n" + "\n".join(wrong[:40] or lines[-40:]))


# --- a run ---

class Outcome:
    """How a command ended: passed, or what noticed the fault."""

    def __init__(self, passed, by="", seconds=0.0):
        self.passed, self.by, self.seconds = passed, by, seconds


def without_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def is_too_large(process):
    """Whether it has more memory than any test needs. Address space is no measure of that: a test
    with many endpoints reserves terabytes."""
    try:
        pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return False
    return pages * resource.getpagesize() > MEMORY_MAX_BYTES


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait_for(process, seconds_max):
    """(output, whether it hangs) of a process that is over or was ended."""
    begin, hangs = time.monotonic(), False
    while True:
        try:
            output, _ = process.communicate(timeout=SECONDS_BETWEEN_LOOKS)
            end_group(process)
            return output, hangs
        except subprocess.TimeoutExpired:
            hangs = hangs or time.monotonic() - begin > seconds_max
            if hangs or is_too_large(process):
                end_group(process)


def run_command(name, command, environment, seconds_max, tree):
    """Runs one command in a session of its own, all of which ends with it."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True, preexec_fn=without_core)
    output, hangs = wait_for(process, seconds_max)
    seconds = time.monotonic() - begin
    if process.returncode == 0 and not hangs:
        return Outcome(True, seconds=seconds)
    failed = re.findall(r"^\[  FAILED  \] ([^ ,]+)", output, re.M)
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
    how = " (hangs)" if hangs else " (crashes)" if process.returncode < 0 else ""
    at = failed[0] if failed else begun[-1] if begun else ""
    return Outcome(False, f"{name}{': ' + at if at else ''}{how}", seconds)


def environment_of(pairs, fault):
    environment = dict(os.environ, GTEST_FAIL_FAST="1", UET_PLANTED_FAULT=str(fault))
    environment.update(p.split("=", 1) for p in pairs)
    return environment


def is_timed(program):
    return any(label in TIMED for label in program.labels)


def run_program(program, tests, fault, tree):
    """Runs those tests of a program, all when `tests` is None.

    Tests with sockets and threads may fail because others run beside them: they fail when they do
    so twice.
    """
    outcome = run_program_once(program, tests, fault, tree)
    if outcome.passed or not is_timed(program):
        return outcome
    return run_program_once(program, tests, fault, tree)


def run_program_once(program, tests, fault, tree):
    seconds_max = SECONDS_MAX
    if program.seconds is not None:
        seconds_max = min(SECONDS_MAX, max(SECONDS_MIN, TIMES_AS_LONG * program.seconds))
    command = [*program.command, "--gtest_filter=" + program.filter_of(tests or ())]
    with contextlib.ExitStack() as held:
        for name in program.locks:
            held.enter_context(LOCKS[name])
        return run_command(program.name, command, environment_of(program.environment, fault),
                           seconds_max, tree)


def run_simulator(build, fault, tree):
    command = [str(build / "tools/uet_sim"), "--seed", "1", "--count", "300"]
    return run_command("uet_sim", command, environment_of((), fault), SECONDS_MAX, tree)


# --- a fault ---

class Bench:
    """What the faults are tried with."""

    def __init__(self, tree, build, programs, args):
        self.tree, self.build, self.programs = tree, build, programs
        self.simulate, self.own_only = args.simulate, args.own

    def citing(self, fault):
        """[(program, tests)] whose tests cite the rule of the fault, those of its folder first."""
        found = [(p, [t for t, rules in p.tests.items() if fault.rule in rules])
                 for p in self.programs if not self.own_only or fault.folder in p.folders]
        return sorted([f for f in found if f[1]],
                      key=lambda f: (fault.folder not in f[0].folders, f[0].seconds or 0))

    def of_folder(self, fault):
        return sorted([p for p in self.programs if fault.folder in p.folders],
                      key=lambda p: p.seconds or 0)

    def needed(self, faults):
        """The programs that these faults may need."""
        needed = {p.name: p for fault in faults
                  for p in [p for p, _ in self.citing(fault)] + self.of_folder(fault)}
        return list(needed.values())

    def try_fault(self, fault):
        """(verdict, what noticed it)."""
        for program, tests in self.citing(fault):
            outcome = run_program(program, tests, fault.number, self.tree)
            if not outcome.passed:
                return CITING, outcome.by
        for program in self.of_folder(fault):
            outcome = run_program(program, None, fault.number, self.tree)
            if not outcome.passed:
                return OTHER, outcome.by
        if self.simulate and fault.folder in SIMULATED:
            outcome = run_simulator(self.build, fault.number, self.tree)
            if not outcome.passed:
                return OTHER, outcome.by
        return SURVIVED, ""


def check_without_fault(bench, programs, jobs):
    """Runs everything once without a fault; that also says how long each program takes.

    What fails although nothing is wrong proves nothing: tests with sockets and threads that do are
    left out, any other ends the run.
    """
    def one(program):
        outcome = run_program(program, None, 0, bench.tree)
        program.seconds = outcome.seconds
        return outcome
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for program, outcome in zip(programs, pool.map(one, programs)):
            if outcome.passed:
                continue
            if not is_timed(program):
                fail(f"fails without any fault: {outcome.by}")
            print(f"left out, because it fails without any fault: {outcome.by}", flush=True)
            bench.programs.remove(program)


# --- the result ---

def score_lines(results):
    """A table: how many faults of each folder were noticed, and by which tests."""
    folders = sorted({fault.folder for fault, _, _ in results})
    lines = [f"{'folder':8} {'faults':>6} {'citing':>6} {'other':>6} {'none':>6} {'score':>6}"]
    for folder in [*folders, "all"]:
        verdicts = [v for fault, v, _ in results if folder in (fault.folder, "all")]
        by_verdict = [verdicts.count(v) for v in (CITING, OTHER, SURVIVED)]
        lines.append(f"{folder:8} {len(verdicts):6} {by_verdict[0]:6} {by_verdict[1]:6} "
                     f"{by_verdict[2]:6} {100 * by_verdict[0] / len(verdicts):5.1f}%")
    return lines


def write_json(path, results):
    rows = [{"fault": f.name, "file": f.file, "rule": f.rule, "text": f.text, "verdict": v,
             "noticed_by": by, "known_gap": f.is_gap} for f, v, by in results]
    pathlib.Path(path).write_text(json.dumps(rows, indent=1) + "\n")


def try_all(bench, faults, jobs):
    results, words = [], {CITING: "caught by {}", OTHER: "caught only by {}", SURVIVED: "SURVIVED"}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for fault, (verdict, by) in zip(faults, pool.map(bench.try_fault, faults)):
            results.append((fault, verdict, by))
            note = " (known gap)" if fault.is_gap else ""
            print(f"[{len(results)}/{len(faults)}] {fault.name:8} {fault.rule:8} {fault.text}: "
                  + words[verdict].format(by) + note, flush=True)
    return results


def run_faults(args, faults, planted):
    work = pathlib.Path(args.keep or tempfile.mkdtemp()).resolve()
    tree, build = work / "tree", work / "build"
    try:
        copy_tree(tree, planted)
        configure(tree, build)
        bench = Bench(tree, build, citing.programs_of(build, tree), args)
        programs = bench.needed(faults)
        targets = {p.target for p in programs} | ({"uet_sim"} if args.simulate else set())
        say(f"build of {len(targets)} programs with all faults")
        compile_targets(build, targets, args.jobs)
        bench.programs = citing.programs_of(build, tree)
        programs = bench.needed(faults)
        say("tests without a fault")
        check_without_fault(bench, programs, args.jobs)
        say(f"{len(faults)} faults")
        return try_all(bench, faults, args.jobs)
    finally:
        if not args.keep:
            shutil.rmtree(work)


def options():
    parser = argparse.ArgumentParser(prog="mutants.sh", allow_abbrev=False)
    parser.add_argument("--only")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    args = options()
    try:
        faults = plant.read_lists(LISTS)
        planted = plant.plant(faults, ROOT)
    except plant.Misfit as misfit:
        fail(f"{misfit}\nthe lists must follow the code")
    faults = chosen(faults, args)
    if args.list:
        for f in faults:
            print(f"{f.name:8} {f.file:28} {f.rule:8} {f.text}")
        return 0
    results = run_faults(args, faults, planted)
    say("score: the share that a test which cites the rule noticed")
    print("\n".join(score_lines(results)))
    if args.json:
        write_json(args.json, results)
    new = [f for f, verdict, _ in results if verdict != CITING and not f.is_gap]
    closed = [f for f, verdict, _ in results if verdict == CITING and f.is_gap]
    for f in new:
        print(f"no test that cites {f.rule} notices {f.name}: {f.text}")
    for f in closed:
        print(f"{f.name} is noticed now: take its question mark away")
    return 1 if new or closed else 0


if __name__ == "__main__":
    sys.exit(main())
