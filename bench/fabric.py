#!/usr/bin/env python3
"""Compares uet_sim run with htsim, case by case, and writes the tables into docs/simulator.md.

Usage: bench/fabric.py --program UET_SIM [--htsim FOLDER] [--golden FOLDER] [--cases NAMES]
                       [--cc NAMES] [--peers] [--seeds N] [--results FILE] [--write] [--judge]

  --program UET_SIM  the program to run
  --htsim FOLDER     the folder of a built htsim_uec (of uet-htsim): it runs too, and what it finds
                     goes to bench/fabric_htsim.json; without it the numbers of that file count
  --golden FOLDER    matrices and topologies of htsim (default $UET_GOLDEN_DIR/htsim, then
                     ../shared/golden/htsim)
  --cases NAMES      only these, with ; between (default: all)
  --cc NAMES         nscc; rccc; both (default: all three; those that UET_SIM does not know stay
                     empty)
  --peers            the comparison transports in place of these: the tables "peers", with DCQCN
                     and SRD beside published results. FOLDER needs htsim_roce, htsim_hpcc,
                     htsim_eqds and htsim_swift (docs/simulator.md says what to mend in the last)
  --seeds N          seeds 1 to N of each (default 10)
  --results FILE     what UET_SIM finds goes there, and what is there already is not run again
  --write            writes the tables into docs/simulator.md between the marks "fidelity", or
                     "peers"; without it they are printed
  --judge            exit status 3 if a time is above htsim's by more than the limit, or if more
                     packets are trimmed or sent again than in htsim; not with --peers

Exit status: 0 done, 1 a run failed, 2 wrong usage, 3 see --judge. The tables name what is beyond a
limit in any case.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import published

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "bench/fabric_htsim.json"
PAGE = ROOT / "docs/simulator.md"
CONTROLS = {"nscc": ["-sender_cc_only"], "rccc": ["-receiver_cc_only"],
            "both": ["-sender_cc", "-receiver_cc"]}
LIMIT = 5  # percent
# NSCC by the rule of htsim for ACKs without a sample of the round trip, beside NSCC of htsim.
BY_HTSIM = "nscc,mean=htsim"

# The comparison transports: program of htsim and its words; what uet_sim gets behind --cc.
# Thresholds of PFC, marks and windows are those of htsim's programs.
PFC = ["--pfc-thresholds", "61440:49152"]
PACKETS = ["-strat", "ecmp_host", "-paths", "64", "-linkspeed", "100000"]
PEERS = {
    "roce": ("htsim_roce", [*PACKETS, "-mtu", "4096"], ["roce", *PFC]),
    "hpcc": ("htsim_hpcc", [*PACKETS, "-mtu", "4096"], ["hpcc", *PFC]),
    "swift": ("htsim_swift", ["-mtu", "4160", "-flowsize", "488", "-linkspeed", "100000", "-q",
                              "1000"], ["swift,hop-us=0", "--queue-bdp", "24"]),
    "eqds": ("htsim_eqds", [*PACKETS, "-mtu", "4160"], ["eqds"]),
    "srd": (None, [], ["srd"]),
}
PEER_CASES = ["one", "incast 8:1", "incast 32:1", "permutation 128"]
PEER_LIMIT = 10  # percent

# Name, matrix, topology of uet_sim, .topo for htsim, end for htsim in us, flows that count.
CASES = {
    "one": ("one.cm", "fattree:4", None, 2000, None),
    "incast 8:1": ("incast_128n_8to1_2MB.cm", "fattree:8", None, 10000, None),
    "incast 32:1": ("incast_128n_32to1_2MB.cm", "fattree:8", None, 30000, None),
    "incast 127:1": ("incast_128n_127to1_2MB.cm", "fattree:8", None, 60000, None),
    "permutation 128": ("perm_128n_128c_2MB.cm", "fattree:8", None, 5000, None),
    "permutation 32, 4:1": ("perm_32n_32c_2MB.cm", None, "leaf_spine_tiny.topo", 10000, None),
    "incast 126:1": ("incast_collateral_128.cm", "fattree:8", None, 60000, "most"),
    "its victim": ("incast_collateral_128.cm", "fattree:8", None, 60000, "rest"),
    "outcast 1:10": ("outcast_incast.cm", "fattree:8", None, 10000, None),
    "incast 8:1, 200 kB": ("incast_128n_8to1_200KB.cm", "fattree:8", None, 3000, None),
    "incast 3:1, overlapped": ("incast_3-1_overlapped.tm", "fattree:8", None, 3000, None),
    "all-to-all 32, 4:1": ("alltoall_32n_4par_500KB.cm", None, "leaf_spine_tiny.topo", 60000,
                           None),
    "all-to-all 8 x 16": ("alltoall_128n_8x16_4par_500KB.cm", "fattree:8", None, 60000, None),
    "butterfly 8 x 16": ("allreduce_butterfly_128n_8x16_2MB.cm", "fattree:8", None, 20000, None),
    "permutation 128, 8 MB": ("perm_128n_128c_8MB.cm", "fattree:8", None, 20000, None),
    "permutation 128, 4:1": ("perm_128n_128c_2MB.cm", None, "fat_tree_128_4os.topo", 20000, None),
    "permutation 128, 8:1": ("perm_128n_128c_2MB.cm", None, "fat_tree_128_8os.topo", 20000, None),
}
MEASURES = ("mean", "p99", "max", "trimmed", "resent")
COUNTS = ("trimmed", "resent")


def flows_of(path, which):
    """Hosts by index of the flow in the file: of all, of those to the most common receiver, or of
    the rest."""
    pairs = re.findall(r"^(\d+)->(\d+)", path.read_text(), re.M)
    receivers = [to for _, to in pairs]
    common = max(set(receivers), key=receivers.count)
    return {i: pair for i, pair in enumerate(pairs)
            if which is None or (pair[1] == common) == (which == "most")}


def measured(times, trimmed, resent):
    ordered = sorted(times)
    p99 = ordered[int(0.99 * (len(ordered) - 1) + 0.5)]
    return {"mean": round(statistics.fmean(times), 2), "p99": round(p99, 2),
            "max": round(ordered[-1], 2), "trimmed": trimmed, "resent": resent}


class Bench:
    def __init__(self, options):
        self.options = options
        golden = os.environ.get("UET_GOLDEN_DIR", ROOT.parent / "shared/golden")
        self.golden = pathlib.Path(options.golden or pathlib.Path(golden) / "htsim").resolve()
        if not (self.golden / "matrices").is_dir():
            sys.exit(f"fabric.py: no folder {self.golden}/matrices (see --golden)")
        self.runs = {}  # of a program by its arguments, since two cases may share a run

    def ours(self, case, control, seed):
        matrix, topology, topo_file, _, which = CASES[case]
        path = self.golden / "matrices" / matrix
        where = topology or self.golden / "topologies" / topo_file
        transport = PEERS[control][2] if control in PEERS else [control]
        words = [self.options.program, "run", "--quiet", "--topo", where, "--matrix", path,
                 "--seed", seed, "--json", "-", "--cc", *transport]
        if (key := tuple(map(str, words))) not in self.runs:
            done = subprocess.run(key, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1) or not done.stdout:
                if "not in {" in done.stderr:
                    return None
                sys.exit(f"fabric.py: {' '.join(key)}: {done.stderr[-500:]}")
            self.runs[key] = json.loads(done.stdout)
        result = self.runs[key]
        flows = [result["flows"][i] for i in flows_of(path, which)]
        if any(f["finish_us"] is None for f in flows):
            print(f"{case}, {control}, seed {seed}: flows have not finished", file=sys.stderr)
            return None
        return measured([f["finish_us"] for f in flows],  # as htsim prints it: since the start
                        sum(f["trimmed"] for f in flows), sum(f["resent"] for f in flows))

    def htsim(self, case, control, seed):
        matrix, _, topo_file, end, which = CASES[case]
        path = self.golden / "matrices" / matrix
        name, more = "htsim_uec", ["-load_balancing_algo", "mixed"]
        if control in PEERS:
            name, more, _ = PEERS[control]
            if name is None:
                return None
            more = [*more, "-nodes", re.search(r"Nodes (\d+)", path.read_text())[1]]
            if topo_file and name == "htsim_swift":
                return None  # it supports no other topology
        else:
            more = [*more, *CONTROLS[control]]
        program = pathlib.Path(self.options.htsim).resolve() / name
        words = [program, "-tm", path, "-end", end, *more]
        if name != "htsim_swift":
            words += ["-seed", seed]
        if topo_file:
            words += ["-topo", self.golden / "topologies" / topo_file]
        if (key := (*map(str, words), str(seed))) not in self.runs:
            key, environment = tuple(map(str, words)), {**os.environ, "SEED": str(seed)}
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([*key, "-o", "log"], cwd=folder, capture_output=True,
                                      text=True, check=False, env=environment)
            key = (*key, str(seed))
            if done.returncode != 0:
                sys.exit(f"fabric.py: {' '.join(key)}: {done.stdout[-500:]}{done.stderr[-500:]}")
            self.runs[key] = done.stdout
        text = self.runs[key]
        times = {(source, target): float(at) for source, target, at in re.findall(
            r"^Flow [A-Za-z]+_(\d+)_(\d+) .*?finished at ([\d.e+]+) ", text, re.M)}
        flows = flows_of(path, which).values()
        if any(flow not in times for flow in flows):
            print(f"htsim, {case}, {control}, seed {seed}: not finished", file=sys.stderr)
            return None
        if control in PEERS:
            return measured([times[flow] for flow in flows], None, None)
        total = re.search(r"^New: .* Rtx: (\d+) .* NACKs: (\d+)", text, re.M)
        of_all = which is None
        return measured([times[flow] for flow in flows], int(total[2]) if of_all else None,
                        int(total[1]) if of_all else None)


def collect(run, cases, controls, seeds, known, save):
    for case in cases:
        for control in controls:
            runs = known.setdefault(case, {}).setdefault(control, {})
            for seed in range(1, seeds + 1):
                if str(seed) in runs:
                    continue
                result = run(case, control, seed)
                if result is None:
                    break
                runs[str(seed)] = result
                save(known)
    return known


def median(runs, measure, seeds):
    values = [runs[seed][measure] for seed in list(runs)[:seeds]]
    return statistics.median(values) if values and None not in values else None


def number(value, measure):
    if value is None:
        return ""
    return f"{value:,.0f}" if measure in COUNTS else f"{value:,.1f}"


def excess(ours, theirs, measure):
    """In percent; of packets where htsim has none, their number. None: one side is not known."""
    if None in (ours, theirs):
        return None
    return (ours / theirs - 1) * 100 if theirs else ours


def is_beyond(ours, theirs, measure, limit=LIMIT):
    more = excess(ours, theirs, measure)
    return more is not None and more > (0 if measure in COUNTS else limit)


def beside(ours, theirs, measure, limit=LIMIT):
    """Both, and how much more ours is."""
    text = f"{number(ours, measure) or '-'} / {number(theirs, measure) or '-'}"
    more = excess(ours, theirs, measure)
    if more is None or (measure in COUNTS and ours == theirs):
        return text
    more = f"{more:+.1f} %" if theirs else f"{more:+.0f}"
    return f"{text} (**{more}**)" if is_beyond(ours, theirs, measure, limit) else f"{text} ({more})"


def verdict(pairs):
    """pairs: (what, ours, theirs, measure) of the medians. A line for times, one for packets."""
    lines = []
    for counts, what in ((False, f"times are at most {LIMIT} % above htsim's"),
                         (True, "numbers of packets trimmed or resent are not above htsim's")):
        known = [p for p in pairs if (p[3] in COUNTS) == counts and None not in p[1:3]]
        beyond = [p for p in known if is_beyond(*p[1:])]
        names = "; ".join(f"{p[0]} {p[3]}" for p in beyond)
        lines.append(f"{len(known) - len(beyond)} of {len(known)} {what}"
                     + (f"; not: {names}." if beyond else "."))
    return lines


def medians(ours, theirs, options, controls, pairs):
    """A row for each case. controls: those of uet_sim and of htsim. Adds to pairs: see verdict."""
    lines = ["| case | mean | p99 | max | trimmed | resent |", "|---|---|---|---|---|---|"]
    for case in options.cases:
        sides = [side.get(case, {}).get(control, {})
                 for side, control in zip((ours, theirs), controls)]
        cells = []
        for measure in MEASURES:
            both = [median(side, measure, options.seeds) for side in sides]
            pairs.append((f"{case} ({controls[0]})", *both, measure))
            cells.append(beside(*both, measure))
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    return lines


def tables(ours, theirs, options):
    cases, controls = options.cases, options.cc
    pairs = []
    lines = ["Maximum completion time in us of seed 1, uet_sim / htsim; "
             f"more than {LIMIT} % slower in bold:",
             "", "| case | " + " | ".join(controls) + " |", "|---" * (len(controls) + 1) + "|"]
    for case in cases:
        cells = []
        for control in controls:
            values = [(side.get(case, {}).get(control, {}).get("1") or {}).get("max")
                      for side in (ours, theirs)]
            cells.append(beside(*values, "max"))
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    for control in controls:
        lines += ["", f"{control}: medians over {options.seeds} seeds, us, uet_sim / htsim; more "
                  "packets trimmed or resent than in htsim in bold, too:", ""]
        lines += medians(ours, theirs, options, (control, control), pairs)
    lines += ["", "Of these medians " + " ".join(verdict(pairs))]
    if "nscc" in controls:
        by_htsim = []
        lines += ["", f"The same for `--cc {BY_HTSIM}`:", ""]
        lines += medians(ours, theirs, options, (BY_HTSIM, "nscc"), by_htsim)
        lines += ["", "Of these medians " + " ".join(verdict(by_htsim))]
    few = {case: min(len(theirs.get(case, {}).get(control, {})) for control in controls)
           for case in cases}
    if any(count < options.seeds for count in few.values()):
        lines += ["", "htsim with fewer seeds: " + ", ".join(
            f"{case} {count}" for case, count in few.items() if count < options.seeds)]
    return "\n".join(lines), any(is_beyond(*p[1:]) for p in pairs)


def least_time(path):
    """Of the port of a host with most to carry, at 100 Gbit/s, in us."""
    flows = re.findall(r"^(\d+)->(\d+).* size (\d+)", path.read_text(), re.M)
    octets = {}
    for source, target, size in flows:
        wire = int(size) + -(-int(size) // 4096) * 64
        for port in (source, "to " + target):
            octets[port] = octets.get(port, 0) + wire
    return max(octets.values()) * 8 / 1e5


def peer_tables(ours, theirs, options, golden):
    lines = [f"Medians over {options.seeds} seeds, us, uet_sim / htsim; above {PEER_LIMIT} % in "
             "bold. Least: the octets of the busiest port at its rate.",
             "", "| transport | case | least | mean | max |", "|---|---|---|---|---|"]
    for control in options.cc:
        for case in options.cases:
            sides = [side.get(case, {}).get(control, {}) for side in (ours, theirs)]
            cells = [beside(*(median(side, measure, options.seeds) for side in sides), measure,
                            PEER_LIMIT) for measure in ("mean", "max")]
            least = least_time(golden / "matrices" / CASES[case][0])
            lines.append(f"| {control} | {case} | {least:,.1f} | " + " | ".join(cells) + " |")
    lines += published.dcqcn_lines(options.program, options.seeds)
    return "\n".join(lines + published.srd_lines(options.program, options.seeds))


def write_page(text, name):
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def saver(path):
    def save(values):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values, indent=1) + "\n")
    return save if path else lambda values: None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0],
                                     usage=__doc__.partition("Usage: ")[2].partition("\n\n")[0],
                                     epilog="The head of this file says more.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--htsim")
    parser.add_argument("--golden")
    parser.add_argument("--cases", type=lambda text: text.split(";"))
    parser.add_argument("--cc", type=lambda text: text.split(";"))
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    known = PEERS if options.peers else CONTROLS
    options.cases = options.cases or (PEER_CASES if options.peers else list(CASES))
    options.cc = options.cc or list(known)
    if unknown := [n for n in options.cases if n not in CASES] + \
            [n for n in options.cc if n not in known]:
        parser.error(f"what is {unknown[0]}?")
    bench = Bench(options)
    theirs = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if options.htsim:
        theirs = collect(bench.htsim, options.cases, options.cc, options.seeds, theirs,
                         saver(RECORD))
    kept = options.results
    ours = json.loads(kept.read_text()) if kept and kept.exists() else {}
    controls = options.cc + [BY_HTSIM] * ("nscc" in options.cc)
    ours = collect(bench.ours, options.cases, controls, options.seeds, ours, saver(kept))
    text, beyond = ((peer_tables(ours, theirs, options, bench.golden), False) if options.peers
                    else tables(ours, theirs, options))
    if options.write:
        write_page(text, "peers" if options.peers else "fidelity")
    else:
        print(text)
    if options.judge and beyond:
        sys.exit(3)


if __name__ == "__main__":
    main()
