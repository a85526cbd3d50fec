#!/usr/bin/env python3
"""uet_keys from a new domain to the end of a rollover. [TSS-045, TSS-046, TSS-048, TSS-031]

Usage: uet_keys_test.py UET_KEYS
"""
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


class UetKeysTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "keys.toml")

    def tearDown(self):
        self.folder.cleanup()

    def run_keys(self, *words, status=0):
        out = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                             timeout=30)
        self.assertEqual(out.returncode, status, out.stderr)
        return out

    def domain(self, *flags):
        out = self.run_keys("inspect", self.file, "--json", *flags)
        return json.loads(out.stdout)["domains"][0]

    def test_a_rollover(self):
        self.run_keys("generate", self.file, "--sdi", "7", "--job", "5,6")
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        first = self.domain()
        self.assertEqual((first["sdi"], first["mode"], first["policy"], first["jobs"]),
                         (7, "cluster", "require", [5, 6]))
        self.run_keys("roll", self.file, "--sdi", "7")
        rolled = self.domain()
        self.assertEqual([k["an"] for k in rolled["keys"]], [0, 1])
        self.assertEqual(rolled["keys"][0], first["keys"][0])
        self.assertNotEqual(rolled["keys"][1]["check"], first["keys"][0]["check"])
        self.assertEqual(rolled["transmit"], 0)
        self.run_keys("roll", self.file, "--sdi", "7", status=1)
        self.run_keys("activate", self.file, "--sdi", "7")
        self.assertEqual(self.domain()["transmit"], 1)
        self.run_keys("retire", self.file, "--sdi", "7")
        self.assertEqual(self.domain()["keys"], [rolled["keys"][1]])
        self.run_keys("retire", self.file, "--sdi", "7", status=1)
        self.run_keys("activate", self.file, "--sdi", "7", status=1)

    # [TSS-146]
    def test_a_domain_is_removed(self):
        self.run_keys("generate", self.file, "--sdi", "7", "--job", "5")
        self.run_keys("generate", self.file, "--sdi", "8", "--job", "6")
        self.run_keys("remove", self.file, "--sdi", "7")
        self.assertEqual(self.domain()["sdi"], 8)
        self.run_keys("remove", self.file, "--sdi", "7", status=1)
        self.run_keys("remove", self.file, "--sdi", "8")
        self.assertEqual(self.run_keys("inspect", self.file).stdout, "")

    def test_secrets_are_shown_only_when_asked_for(self):
        self.run_keys("generate", self.file, "--sdi", "7")
        line = self.run_keys("lines", self.file).stdout
        secret = line.split("key=")[1].split()[0]
        self.assertEqual(len(secret), 64)
        for words in (["inspect"], ["inspect", "--json"]):
            self.assertNotIn(secret[:16], self.run_keys(*words, self.file).stdout)
            self.assertIn(secret, self.run_keys(*words, "--secrets", self.file).stdout)

    # The pair of K3 of the reference: tss.md, D1.
    def test_a_client_gets_its_pair(self):
        with open(self.file, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write('[[domain]]\nsdi = 7\nmode = "server"\n[[domain.key]]\nan = 0\nsecret = '
                    '"34448a064292601b11a0978f56a2d34cf3fc35ede1a6bc04f8db3e5243a2b0ca"\n')
        client = os.path.join(self.folder.name, "client.toml")
        words = ("client", self.file, "--sdi", "7", "--epoch", "7616", "--out", client)
        self.run_keys(*words, "--client", "192.168.42.1")
        self.assertIn("epoch=7616", self.run_keys("lines", client).stdout)
        self.assertIn("key=245e67ab286218530edd53c26ea9ec33c96b35192d0a0eb54d08be281c5d304b"
                      "02d5ee33684201990e1629e0", self.run_keys("lines", client).stdout)
        self.run_keys(*words, "--client", "nobody", status=1)
        for wrong in ("12", "", "fd00::1"):
            self.run_keys(*words, "--client", wrong, status=1)

    # [TSS-147] The same pair as without a list, by kdf_ssi_v6 = "address" for the listed address.
    def test_a_listed_client_gets_its_pair(self):
        def server(more):
            with open(self.file, "w", encoding="utf-8",
                      opener=lambda p, f: os.open(p, f, 0o600)) as f:
                f.write('[[domain]]\nsdi = 7\nmode = "server"\n' + more + '[[domain.key]]\n'
                        'an = 0\n'
                        'secret = '
                        '"34448a064292601b11a0978f56a2d34cf3fc35ede1a6bc04f8db3e5243a2b0ca"\n')
        client = os.path.join(self.folder.name, "client.toml")
        words = ("client", self.file, "--sdi", "7", "--epoch", "7616", "--out", client)
        server('clients = [{ address = "192.168.42.1", ssi = 0x0a0b0c0d }]\n')
        self.run_keys(*words, "--client", str(0x0a0b0c0d))
        self.assertIn("key=873e0535a7da9acd2895af9e825d91b4d8f5ca77bbcfc601d1d1e52ee692c1c9"
                      "c4989cc47f30f9c595103a61", self.run_keys("lines", client).stdout)  # K7
        self.run_keys(*words, "--client", "7", status=1)
        server('clients = [{ address = "2001:cb0::fc0:0:0:abc", ssi = 5 }]\n')
        self.run_keys(*words, "--client", "5")
        self.assertIn("key=b59002ad3e6a9ae5864878730070f8916e43e5011acaa4be3504256185f24d97"
                      "209a3d29581028fb0da2749e", self.run_keys("lines", client).stdout)  # K4

    def test_what_is_wrong_is_said_in_one_line(self):
        self.run_keys("generate", self.file, "--sdi", "7")
        os.chmod(self.file, 0o644)
        out = self.run_keys("inspect", self.file, status=1)
        self.assertEqual(out.stdout, "")
        self.assertEqual(out.stderr, f"uet_keys inspect: {self.file}: others may read or write it "
                                     f"(chmod 600 {self.file})\n")
        os.chmod(self.file, 0o600)
        self.run_keys("generate", self.file, "--sdi", "7", status=1)
        self.run_keys("roll", self.file, "--sdi", "8", status=1)
        self.run_keys("roll", self.file, "--sdi", "0", status=2)
        self.run_keys("generate", self.file, "--sdi", "9", "--clear", "5", status=1)
        self.assertEqual(len(self.run_keys("lines", self.file).stdout.splitlines()), 1)

    def test_a_line_says_what_was_written_and_what_is_next(self):
        counters = os.path.join(self.folder.name, "counters")
        line = self.run_keys("counters", counters).stdout
        self.assertEqual(line, f"{counters}: counters of this host, never to be copied or restored."
                               " Next: uet_keys generate KEY-FILE --sdi N, or copy the key file of"
                               " another host\n")
        domain = ("--sdi", "7")
        said = [self.run_keys("generate", self.file, *domain).stdout]
        first = self.domain()["keys"][0]["check"]
        said += [self.run_keys(step, self.file, *domain).stdout for step in ("roll", "activate")]
        second = self.domain()["keys"][1]["check"]
        said += [self.run_keys(step, self.file, *domain).stdout for step in ("retire", "remove")]
        then = f"{self.file} --sdi 7"
        self.assertEqual(said, [f"{self.file}: domain 7 {text}\n" for text in (
            f"with a new key (AN 0, check {first}). Next: copy the file to all hosts of the domain",
            f"has a second key (AN 1, check {second}). Next: copy the file to all hosts, then on "
            f"each: uet_keys activate {then}",
            f"sends with AN 1, check {second}. Next: the same on all hosts, and 60 s later on "
            f"each: uet_keys retire {then}",
            f"has one key (AN 1, check {second}). Next: the same on all hosts",
            "is removed; processes close it within 5 s. Next: the same on all hosts")])
        for text in said:
            self.assertNotIn("secret", text)
        self.assertEqual(self.run_keys("generate", self.file, *domain, "--quiet").stdout, "")
        told = json.loads(self.run_keys("roll", self.file, *domain, "--json").stdout)
        self.assertEqual(sorted(told), ["done", "file", "next"])
        self.assertEqual(told["file"], self.file)

    def test_counters_are_made_once(self):
        counters = os.path.join(self.folder.name, "counters")
        self.run_keys("counters", counters)
        self.run_keys("counters", counters, status=1)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
