#!/usr/bin/env python3
"""Runs the programs of tools/fabtests.txt for tools/fabtests.sh; not meant to be called alone.

A test passes when every process of it ends with status 0 within the time limit; a program that says
"not offered" (FI_ENODATA, FI_ENOSYS) has failed, unless the list leaves its line out with a reason.
"""
import argparse
import atexit
import errno
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

SECTIONS = ("unit", "negative", "pair", "multinode", "ubertest", "exclude")
MODES = {"default": [], "oob": ["-E"], "oobsync": ["-b"]}
NOT_OFFERED = (errno.ENODATA, errno.ENOSYS)
READY_LIMIT_S = 20
LAST_GRACE_S = 10


class Test:
    def __init__(self, section, line, mode):
        self.section, self.line, self.mode = section, line, mode

    @property
    def name(self):
        return f"{self.line} [{self.mode}]"


class Result:
    def __init__(self, test, outcome, seconds, detail=""):
        self.test, self.outcome, self.seconds, self.detail = test, outcome, seconds, detail


def read_list(path, major):
    """[(section, line)] for that major version of libfabric, and the exclusions [(re, reason)]."""
    tests, exclusions, section = [], [], None
    with open(path, encoding="utf-8") as f:
        for number, raw in enumerate(f, 1):
            line = raw.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("@"):
                mark, line = line.split(" ", 1)
                if int(mark[1:]) != major:
                    continue
            if line.startswith("["):
                section = line.strip("[]")
                if section not in SECTIONS:
                    sys.exit(f"{path}:{number}: unknown section {section}")
            elif section == "exclude":
                pattern, _, reason = line.partition(" -- ")
                if not reason:
                    sys.exit(f"{path}:{number}: an exclusion needs ' -- ' and a reason")
                exclusions.append((re.compile(pattern.strip()), reason.strip()))
            else:
                tests.append((section, line))
    return tests, exclusions


def sockets_of(pid):
    """Inodes of the sockets that a process has open."""
    found = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1])
    except OSError:
        pass
    return found


def is_ready(pid, by_tcp):
    """Whether the server can be addressed: it listens on TCP, or (not by_tcp) has a UDP socket."""
    mine = sockets_of(pid)
    for name in ("tcp", "tcp6") if by_tcp else ("tcp", "tcp6", "udp", "udp6"):
        try:
            with open(f"/proc/{pid}/net/{name}", encoding="ascii") as f:
                rows = [line.split() for line in f][1:]
        except OSError:
            continue
        for row in rows:
            if row[9] in mine and (name.startswith("udp") or row[3] == "0A"):
                return True
    return False


def default_signals():
    """What a shell ignores for its background jobs would reach the program otherwise."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stop(*_):
    """Ends this script as if by SIGTERM; timeout(1) sends that twice, and once is enough."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)


class Runner:
    def __init__(self, options):
        self.options = options
        self.logs = options.logs or tempfile.mkdtemp(prefix="uet-fabtests.")
        os.makedirs(self.logs, exist_ok=True)
        self.env = dict(os.environ, FI_PROVIDER_PATH=options.provider)
        self.env.setdefault("FI_LOG_LEVEL", "warn")
        self.env.setdefault("FI_LOG_PROV", "uet")
        # The libraries below the psm providers catch SIGINT once loaded; sighandler_test sees it.
        self.env.update(HFI_NO_BACKTRACE="1", IPATH_NO_BACKTRACE="1")
        self.number = 0
        self.started = []
        self.data = self.data_in_root()

    def data_in_root(self):
        """The folder of what programs read, as they see it: in a root, copies."""
        if not self.options.root:
            return self.options.data
        folder = tempfile.mkdtemp(prefix="uet-fabtests.", dir=self.options.root + "/tmp")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        shutil.copy(os.path.join(self.options.data, "fabtests_uber.txt"), folder)
        return "/" + os.path.relpath(folder, self.options.root)

    def start(self, arguments, role, host=""):
        line = shlex.split(host)
        if self.options.root:
            line += ["chroot", self.options.root]
        line += [os.path.join(self.options.bin, arguments[0])] + arguments[1:]
        path = os.path.join(self.logs, f"{self.number:03d}-{arguments[0]}-{role}.txt")
        with open(path, "w", encoding="utf-8") as log:
            log.write("# " + shlex.join(line) + "\n")
            log.flush()
            process = subprocess.Popen(line, env=self.env, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True,
                                       preexec_fn=default_signals)
        process.log, process.role = path, role
        self.started.append(process)
        return process

    def wait_ready(self, server, by_tcp):
        until = time.monotonic() + READY_LIMIT_S
        while time.monotonic() < until and server.poll() is None:
            if is_ready(server.pid, by_tcp):
                return
            time.sleep(0.005)

    def processes(self, test):
        """Starts what the test consists of."""
        options = self.options
        words = shlex.split(test.line.replace("SERVER", options.server))
        provider = ["-p", "uet"]
        if test.section in ("unit", "negative"):
            return [self.start(words + provider, "only", options.host_a)]
        if test.section == "multinode":
            count = int(words[words.index("-n") + 1])
            words += provider + ["-s", options.server]
            found = [self.start(words, "0", options.host_a)]
            self.wait_ready(found[0], True)
            return found + [self.start(words, str(i), options.host_b if i % 2 else options.host_a)
                            for i in range(1, count)]
        mode = MODES[test.mode]
        if test.section == "ubertest":
            config = os.path.join(self.data, words[1])
            server = self.start(words[:1] + ["-x"] + mode, "server", options.host_a)
            self.wait_ready(server, True)
            return [server, self.start(words[:1] + mode + ["-u", config, options.server],
                                       "client", options.host_b)]
        near, far = ["-s", options.server], ["-s", options.client]
        server = self.start(words + provider + mode + near, "server", options.host_a)
        self.wait_ready(server, bool(mode))
        client = self.start(words + provider + mode + far + [options.server], "client",
                            options.host_b)
        return [server, client]

    def wait(self, processes):
        """Waits for all, at most the time limit; after a failure only a moment for the others."""
        # Three busy processes on two processors wait for each other's time slices.
        limit = self.options.timeout * (1 if len(processes) < 3 else 2)
        until = time.monotonic() + limit
        shortened = False
        while any(p.poll() is None for p in processes) and time.monotonic() < until:
            if not shortened and any(p.poll() not in (None, 0) for p in processes):
                shortened = True
                until = min(until, time.monotonic() + LAST_GRACE_S)
            time.sleep(0.01)
        stuck = [p for p in processes if p.poll() is None]
        for process in stuck:
            process.kill()
            process.wait()
        return stuck, shortened

    def end_all(self):
        """Ends all programs, also when this script is interrupted: a program that spins would
        never end, and would keep the namespace that it runs in."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.started.clear()

    def run(self, test):
        self.number += 1
        program = test.line.split()[0]
        if not os.path.exists(self.options.root + os.path.join(self.options.bin, program)):
            return Result(test, "absent", 0.0, "this fabtests has no such program")
        begin = time.monotonic()
        try:
            processes = self.processes(test)
            stuck, shortened = self.wait(processes)
        finally:
            self.end_all()
        seconds = time.monotonic() - begin
        codes = {p.role: p.returncode for p in processes}
        expected = errno.ENODATA if test.section == "negative" else 0
        failures = self.counted_failures(test, processes)
        if stuck and not shortened:
            outcome, detail = "fail", "no end within the time limit"
        elif all(code == expected for code in codes.values()) and not failures:
            outcome, detail = "pass", ""
        elif all(code in NOT_OFFERED for code in codes.values()):
            outcome, detail = "fail", "not offered: " + str(codes)
        else:
            outcome, detail = "fail", failures or "exit status " + str(codes)
        if outcome == "pass" and not self.options.keep:
            for process in processes:
                os.unlink(process.log)
        else:
            detail += " " + " ".join(p.log for p in processes)
        return Result(test, outcome, seconds, detail)

    @staticmethod
    def counted_failures(test, processes):
        """What ubertest counted as failed, and "" for every other test and when nothing did."""
        if test.section != "ubertest":
            return ""
        with open(processes[1].log, encoding="utf-8", errors="replace") as f:
            counts = dict(re.findall(r"^(\w+) *: (\d+)$", f.read(), re.MULTILINE))
        bad = any(int(counts.get(what, 1)) for what in ("ENODATA", "ENOSYS", "EIO", "ERROR"))
        if int(counts.get("Success", 0)) == 0 or bad:
            return f"of its tests {counts}"
        return ""


def junit(path, results):
    suite = xml.Element("testsuite", name="fabtests", tests=str(len(results)),
                        failures=str(sum(r.outcome == "fail" for r in results)),
                        skipped=str(sum(r.outcome in ("excluded", "absent") for r in results)))
    for r in results:
        case = xml.SubElement(suite, "testcase", classname=r.test.section, name=r.test.name,
                              time=f"{r.seconds:.3f}")
        if r.outcome == "fail":
            xml.SubElement(case, "failure", message=r.detail)
        elif r.outcome != "pass":
            xml.SubElement(case, "skipped", message=r.detail)
    xml.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def chosen_tests(options):
    listed, exclusions = read_list(options.list, options.major)
    modes = list(MODES) if options.mode == "all" else [options.mode]
    tests = []
    for section, line in listed:
        # One process has no peer to exchange addresses with; multinode always does it out of band.
        alone = section in ("unit", "negative", "multinode")
        for mode in ["default"] if alone and "default" in modes else [] if alone else modes:
            if re.search(options.filter, line):
                tests.append(Test(section, line, mode))
    return tests, exclusions


def show(result):
    print(f"{result.outcome:<9}{result.seconds:>7.1f}  {result.test.name}"
          + (f"\n{'':18}{result.detail}" if result.detail else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--bin", "--provider", "--server", "--client", "--list", "--data"):
        parser.add_argument(name, required=True)
    for name in ("--root", "--host-a", "--host-b", "--filter", "--json", "--junit", "--logs"):
        parser.add_argument(name, default="")
    parser.add_argument("--mode", choices=[*MODES, "all"], default="default")
    parser.add_argument("--major", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()

    signal.signal(signal.SIGTERM, stop)
    tests, exclusions = chosen_tests(options)
    if not tests:
        sys.exit("no test of the list matches")
    runner = Runner(options)
    print(f"{'result':<9}{'seconds':>7}  test")
    results = []
    for _ in range(options.repeat):
        for test in tests:
            reason = next((why for what, why in exclusions if what.search(test.name)), None)
            results.append(Result(test, "excluded", 0.0, reason) if reason else runner.run(test))
            show(results[-1])
    count = {o: sum(r.outcome == o for r in results)
             for o in ("pass", "fail", "excluded", "absent")}
    print(f"\n{count['pass']} passed, {count['fail']} failed, "
          f"{count['excluded'] + count['absent']} skipped")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump([{"test": r.test.line, "section": r.test.section, "mode": r.test.mode,
                        "outcome": r.outcome, "seconds": round(r.seconds, 3), "detail": r.detail}
                       for r in results], f, indent=2)
    if options.junit:
        junit(options.junit, results)
    return 1 if count["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
