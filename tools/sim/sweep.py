#!/usr/bin/env python3
"""Runs uet_sim run for each combination of values, on all processors or on many machines by MPI.

Usage: uet_sim_sweep FOLDER [--seeds 1-10] [--vary OPTION=VALUE,VALUE...]... [--jobs N]
                     [--program UET_SIM] [-- OPTIONS OF uet_sim run]
       mpirun -n 16 python3 -m mpi4py.futures $(command -v uet_sim_sweep) FOLDER ...

  FOLDER         results: one JSON file for each point, table.csv with the totals of all. Points
                 whose file is there are not run again, so a sweep that was cut off goes on; a
                 folder of a sweep with other OPTIONS is refused, and one in which another sweep
                 runs. Progress, and the time that is left, go to standard error
  --seeds        first and last seed, or one (default 1)
  --vary         values of an option of uet_sim run, such as cc=nscc,fixed; may be repeated. Values
                 that have commas are parted by ;. cc.target-us=6,9 varies one part of a value: each
                 is put behind that of --cc, which is among OPTIONS or varied, too. So are parts of
                 topo and workload: topo.oversub=1,4
  --jobs N       processes (default: one for each processor; with MPI: one for each rank but the
                 first, which hands out the points)
  --program      default: uet_sim beside this program, else on the PATH

Exit status: 0 all flows of all points have ended well, 1 not all, 2 wrong usage.
Needs python3-mpi4py only where MPI is used.
"""
import argparse
import csv
import fcntl
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed


SEEDS_MAX = 100_000
RUNNING = set()  # runs of points in this process
STOPPED = threading.Event()  # no further run begins


def seeds_of(text):
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise argparse.ArgumentTypeError(f"{text} is neither a seed nor FIRST-LAST")
    if int(found[2] or found[1]) - int(found[1]) >= SEEDS_MAX:
        raise argparse.ArgumentTypeError(f"{text} are more than {SEEDS_MAX} seeds")
    return [str(seed) for seed in range(int(found[1]), int(found[2] or found[1]) + 1)]


WITH_PARTS = {"cc": ",", "topo": ",", "workload": ":"}  # what is before the first part

# Options of uet_sim run that the sweep gives to each point, and what to use instead.
OF_THE_SWEEP = {
    "seed": "give --seeds FIRST-LAST to the sweep",
    "json": "the sweep writes a JSON file for each point into its folder",
    "report": "a sweep draws no pages; use uet_sim run --report for the point of interest",
}


def varied(text):
    name, equals, values = text.partition("=")
    name = name.removeprefix("--")
    if not equals or not re.fullmatch(r"[a-z][a-z-]*(\.[a-z][a-z_-]*)?", name) or not values:
        raise argparse.ArgumentTypeError(
            f"{text} is not OPTION=VALUE,VALUE..., such as lb=mixed,reps")
    option, dot, _ = name.partition(".")
    if option in OF_THE_SWEEP:
        raise argparse.ArgumentTypeError(f"--{option} cannot be varied; {OF_THE_SWEEP[option]}")
    if dot and option not in WITH_PARTS:
        raise argparse.ArgumentTypeError(f"{text}: only {', '.join(WITH_PARTS)} have parts")
    split = values.split(";" if ";" in values else ",")
    if len(set(split)) < len(split):
        raise argparse.ArgumentTypeError(f"{text} has a value twice")
    if "" in split:
        raise argparse.ArgumentTypeError(f"{text} has an empty value")
    for value in split:
        if option in WITH_PARTS and not dot and "=" in re.split("[:,]", value)[0]:
            raise argparse.ArgumentTypeError(
                f"{text}: {value} is no value of --{option}; separate values with commas by ;, or "
                f"vary a part, as in --vary {option}.{value}")
    return name, split


def words_of(rest, name):
    """The value of an option among the words of uet_sim run; None: it is not there."""
    for i, word in enumerate(rest):
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
        if word == f"--{name}":
            return rest[i + 1] if i + 1 < len(rest) else ""
    return None


def without(rest, name):
    """These words without an option and its value."""
    out, skips = [], False
    for word in rest:
        if not skips and word != f"--{name}" and not word.startswith(f"--{name}="):
            out.append(word)
        skips = not skips and word == f"--{name}"
    return out


def command_of(program, rest, point):
    """The run of a point: parts of values stand behind the values."""
    whole = {name: value for name, value in point if "." not in name}
    for name, value in point:
        option, dot, part = name.partition(".")
        if not dot:
            continue
        if option not in whole:
            whole[option], rest = words_of(rest, option), without(rest, option)
        before = "," if WITH_PARTS[option] in whole[option] else WITH_PARTS[option]
        whole[option] += f"{before}{part}={value}"
    return [program, "run", *rest, *(f"--{name}={value}" for name, value in whole.items())]


def name_of(point):
    """A file's name: other points have other names."""
    text = ",".join(f"{name}={value}" for name, value in point)
    return re.sub(r"[^A-Za-z0-9=,.+_-]", lambda c: f"%{ord(c[0]):02x}", text) + ".json"


def run_point(command, path, note, options):
    """Runs one point unless its result is there; the error of a run that gave none. The first
    result claims the folder: `note` says for which options it is."""
    path, note = pathlib.Path(path), pathlib.Path(note)
    if path.exists() or STOPPED.is_set():
        return ""
    try:
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        os.close(handle)
        run = subprocess.Popen([*command, "--quiet", "--json", unfinished], text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        RUNNING.add(run)
        if STOPPED.is_set():  # after the list of those to end was taken
            run.terminate()
        errors = run.communicate()[1]
        RUNNING.discard(run)
        if run.returncode in (0, 1) and os.path.getsize(unfinished) > 0:
            if not note.exists():
                note.write_text(options)
            os.replace(unfinished, path)  # whole, or not there
            return ""
        os.unlink(unfinished)
    except OSError as error:
        return str(error)
    return errors.strip() or f"exit status {run.returncode}"


def executor(jobs):
    """That of MPI when there are ranks, else one for this machine; and what works in it."""
    if "mpi4py.futures" in sys.modules:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
        ranks = MPI.COMM_WORLD.Get_size() - 1
        if ranks > 0:
            return MPIPoolExecutor(), f"{ranks} ranks"
    return ThreadPoolExecutor(jobs), f"{jobs} jobs"


def write_table(folder, names, points):
    """One line for each result. True: all flows of all points have ended well."""
    rows, is_well = [], True
    for point in points:
        path = folder / name_of(point)
        if not path.exists():
            is_well = False
            continue
        result = json.loads(path.read_text())
        rows.append({**dict(point), "finished": result["finished"], **result["totals"]})
        is_well &= result["finished"] and result["totals"]["flows_failed"] == 0
    with open(folder / "table.csv", "w", newline="") as out:
        columns = [*names, *(key for key in (rows[0] if rows else {}) if key not in names)]
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows(rows)
    return is_well


def fail(text):
    print(f"uet_sim_sweep: {text} (see uet_sim_sweep --help)", file=sys.stderr)
    sys.exit(2)


def lock(folder):
    """Until this process ends, no other sweep runs in the folder."""
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fail(f"{folder}: another sweep runs in this folder")


def check_folder(folder, note, text):
    """It is new, or for points with these options, and of this sweep alone."""
    if folder.exists() and not folder.is_dir():
        fail(f"{folder} is no folder")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        fail(f"{folder}: no file can be made there")
    lock(folder)
    if note.exists() and note.read_text() != text:
        fail(f"{note} has other options; take another folder")
    for left in folder.glob(".*.part"):  # of a sweep that was cut off
        left.unlink()


class Progress:
    """A line on standard error when a point is done, once a second at most, and at the end."""

    def __init__(self, points, there):
        self.points, self.done, self.there = points, there, there
        self.begun = self.told = time.monotonic()

    def tell(self):
        self.done += 1
        now, left = time.monotonic(), self.points - self.done
        if now - self.told < 1 and left > 0:
            return
        self.told = now
        seconds = (now - self.begun) / (self.done - self.there) * left
        print(f"{self.done} of {self.points} points, about {seconds:.0f} s left", file=sys.stderr,
              flush=True)


def check_rest(parser, rest):
    """Options behind -- that every point would refuse, or that overwrite each other's files."""
    for name, instead in OF_THE_SWEEP.items():
        if words_of(rest, name) is not None:
            parser.error(f"--{name} cannot be behind --; {instead}")


def check_part(parser, vary, rest, name):
    """The value that it is a part of is there, without that part."""
    option, _, part = name.partition(".")
    wholes = dict(vary).get(option) or [words_of(rest, option)]
    for whole in wholes:
        if not whole:
            parser.error(f"--vary {name} needs --{option} behind --, whose value it is a part of")
        if re.search(rf"[:,]{part}=", whole):
            parser.error(f"--vary {name}: {whole} has {part} already; leave it out")


def check_varied(parser, vary, rest, program):
    """Each is an option of uet_sim run, given once; parts of values need the values."""
    known, names = None, [name for name, _ in vary]
    for name in names:
        option, dot, _ = name.partition(".")
        if names.count(name) > 1:
            parser.error(f"--vary {name} is there twice; give all its values at once")
        if dot:
            check_part(parser, vary, rest, name)
        elif words_of(rest, option) is not None and option != "fail":  # links fail together
            parser.error(f"--{name} is varied and also behind --; leave one out")
        known = known or subprocess.run([program, "run", "--help"], capture_output=True, text=True,
                                        check=False).stdout
        if known and not re.search(rf"--{option}\b(?!-)", known):
            parser.error(f"--vary {name}: uet_sim run has no option --{option}; uet_sim run --help "
                         "lists them")


def arguments():
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="uet_sim_sweep", add_help=False)
    parser.error = fail
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--seeds", type=seeds_of, default=["1"])
    parser.add_argument("--vary", type=varied, action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--program")
    options = parser.parse_args(words[:cut])
    if options.help:
        print(__doc__.strip())
        sys.exit(0)
    if options.folder is None:
        parser.error("a folder is needed")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: a number above 0 is needed")
    beside = pathlib.Path(__file__).resolve().parent / "uet_sim"
    options.program = options.program or (str(beside) if beside.exists()
                                          else shutil.which("uet_sim"))
    if options.program is None:
        parser.error("there is no uet_sim; see --program")
    if shutil.which(options.program) is None:
        parser.error(f"--program {options.program}: no program that can be run")
    rest = words[cut + 1:]
    check_rest(parser, rest)
    check_varied(parser, options.vary, rest, options.program)
    return options, rest


def main():
    options, rest = arguments()
    note, text = options.folder / "options.txt", "\n".join(rest) + "\n"
    check_folder(options.folder, note, text)
    axes = [*options.vary, ("seed", options.seeds)]
    points = [list(zip([name for name, _ in axes], values))
              for values in itertools.product(*(values for _, values in axes))]
    commands = [command_of(options.program, rest, point) for point in points]
    paths = [str(options.folder / name_of(point)) for point in points]
    to_run = [i for i, path in enumerate(paths) if not os.path.exists(path)]
    there = len(points) - len(to_run)
    workers, what = executor(options.jobs)
    print(f"{len(points)} points, {there} of them are there; {what}", file=sys.stderr, flush=True)
    failed, progress = 0, Progress(len(points), there)
    with workers as pool:
        try:
            runs = {pool.submit(run_point, commands[i], paths[i], str(note), text): i
                    for i in to_run}
            for run in as_completed(runs):
                if problem := run.result():
                    failed += 1
                    print(f"{name_of(points[runs[run]])[:-5]}: {problem}", file=sys.stderr)
                progress.tell()
        except KeyboardInterrupt:
            STOPPED.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for run in list(RUNNING):
                run.terminate()
            raise
    is_well = write_table(options.folder, [name for name, _ in axes], points)
    return 1 if failed or not is_well else 0


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; the same command goes on with the points that are left",
              file=sys.stderr)
        sys.exit(130)
    except OSError as wrong:
        fail(wrong)
