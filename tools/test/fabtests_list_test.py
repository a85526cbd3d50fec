#!/usr/bin/env python3
"""What tools/fabtests.sh leaves out of fabtests, compared with what may be left out. [ABI-046]"""
import pathlib
import sys
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS))
from fabtests import MODES, read_list  # noqa: E402

# Features that the rule allows to be missing, by what shows in a command line.
NOT_OFFERED = {"fi_shared_ctx", "fi_scalable_ep", "fi_rdm_shared_av", "fi_rdm_rma_trigger",
               "fi_rdm_deferred_wq", "fi_multinode_coll", " -k "}
# Programs with a fault of their own, which their lines name.
FAULTY = {"fi_multi_mr", "fi_rdm_stress"}
FAULTY_IN_MODE = {"fi_rdm_tagged_bw": "oobsync"}


def is_allowed(line, mode):
    program = line.split()[0]
    if program == "fi_shared_ctx" and "--no-tx-shared-ctx" in line:
        return mode in ("oob", "oobsync")  # its fault there: the list says which
    if program in FAULTY or FAULTY_IN_MODE.get(program) == mode:
        return True
    return program in NOT_OFFERED or " -k " in f"{line} "


class List(unittest.TestCase):
    def excluded(self, major):
        tests, exclusions = read_list(TOOLS / "fabtests.txt", major)
        for section, line in tests:
            for mode in MODES:
                reasons = [r for pattern, r in exclusions if pattern.search(f"{line} [{mode}]")]
                if reasons:
                    yield section, line, mode

    def test_only_what_may_be_missing_is_left_out(self):
        for major in (1, 2):
            for section, line, mode in self.excluded(major):
                self.assertTrue(is_allowed(line, mode), f"{section}: {line} [{mode}]")

    def test_each_exclusion_has_a_line(self):
        for major in (1, 2):
            tests, exclusions = read_list(TOOLS / "fabtests.txt", major)
            names = [f"{line} [{mode}]" for _, line in tests for mode in MODES]
            for pattern, reason in exclusions:
                self.assertTrue(any(pattern.search(n) for n in names), reason)

    def test_what_other_providers_leave_out_is_run(self):
        left_out = {(line, mode) for major in (1, 2) for _, line, mode in self.excluded(major)}
        run = {line.split()[0] for major in (1, 2)
               for _, line in read_list(TOOLS / "fabtests.txt", major)[0]
               if any((line, mode) not in left_out for mode in MODES)}
        for program in ("fi_rdm_atomic", "fi_rdm_rma_event", "fi_cq_data", "fi_rdm_cntr_pingpong",
                        "fi_av_test", "fi_msg_inject", "fi_inject_test", "fi_multinode"):
            self.assertIn(program, run)


if __name__ == "__main__":
    unittest.main()
