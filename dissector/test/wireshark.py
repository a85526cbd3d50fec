# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tshark with the plugin of the build tree and nothing else of the user's, for the tests.

Wireshark takes plugins from WIRESHARK_PLUGIN_DIR, but not for root; then it runs in a user
namespace, where it is nobody, or as the user nobody.
"""
import collections
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SKIP = 77  # ctest's status for "not here"


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIP)


class Tshark:
    """One private configuration; `plugins` is the folder with RELEASE/epan/uet.so in it."""

    def __init__(self, plugins):
        self.config = tempfile.TemporaryDirectory(prefix="uet-wireshark-")
        os.chmod(self.config.name, 0o777)
        self.environment = dict(os.environ, WIRESHARK_PLUGIN_DIR=str(plugins), LC_ALL="C",
                                WIRESHARK_CONFIG_DIR=self.config.name, HOME=self.config.name)
        if shutil.which("tshark") is None:
            skip("tshark is not installed")
        self.before = self._way_in()

    def _way_in(self):
        ways = [[]] if os.geteuid() != 0 else [
            ["unshare", "-U"], ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]]
        runtime = os.environ.get("UET_TSHARK_PRELOAD")  # a sanitizer's, for a plugin built with it
        preload = ["env", f"LD_PRELOAD={runtime}",
                   "ASAN_OPTIONS=detect_leaks=0:abort_on_error=1"] if runtime else []
        for way in ways:
            try:
                if subprocess.run(way + ["true"], capture_output=True, check=False).returncode == 0:
                    return way + preload
            except FileNotFoundError:
                pass
        sys.exit("neither unshare nor setpriv works here, and tshark loads no plugin for root")

    def must_load(self):
        """Ends a test that would pass without the plugin: here tshark must have loaded it."""
        if "\tuet.pds.analysis.psn_rel\t" not in self.run("-G", "fields"):
            sys.exit("tshark does not load the plugin")

    def run(self, *arguments, timeout=300):
        """Standard output as text; anything but success ends the test."""
        done = subprocess.run(self.before + ["tshark", *map(str, arguments)], timeout=timeout,
                              env=self.environment, capture_output=True, text=True,
                              errors="replace", check=False)
        if done.returncode != 0:
            sys.exit(f"tshark {' '.join(map(str, arguments))}: status {done.returncode}\n"
                     f"{done.stderr}")
        return done.stdout

    def layers(self, capture, *arguments):
        """The layers of each packet, as tshark prints them."""
        text = self.run("-r", capture, "-T", "json", "--no-duplicate-keys", *arguments)
        return [p["_source"]["layers"] for p in json.loads(text)]

    def packets(self, capture, *arguments):
        """The packets of a capture, each as Fields."""
        return [Fields(layers) for layers in self.layers(capture, *arguments)]

    def rows(self, capture, fields, *arguments):
        """For each packet the values of the fields as text, commas between those of one field."""
        wanted = [word for field in fields for word in ("-e", field)]
        text = self.run("-r", capture, "-T", "fields", *wanted, *arguments)
        return [line.split("\t") for line in text.split("\n")[:-1]]


class Fields:
    """All fields of one packet by name, whatever header or subtree they are in."""

    def __init__(self, layers):
        self.layers = set(layers)
        self.values = collections.defaultdict(list)
        self.remarks = collections.defaultdict(list)  # of UET alone: UDP judges trimmed packets
        for name, layer in layers.items():
            self._collect({name: layer}, name.startswith("uet"))

    def _collect(self, node, ours):
        for key, value in node.items():
            for one in value if isinstance(value, list) else [value]:
                if key == "_ws.expert" and isinstance(one, dict):
                    if ours:
                        for remark, text in one.items():
                            self.remarks[remark].append(text)
                elif isinstance(one, dict):
                    self._collect(one, ours or key.startswith("uet"))
                else:
                    self.values[key].append(one)

    def __contains__(self, name):
        return name in self.values or name in self.remarks or name in self.layers

    def names(self, prefix):
        return {name for name in self.values if name.startswith(prefix)}

    def first(self, name):
        return self.values[name][0]

    def number(self, name):
        return int(self.first(name), 0)

    def octets(self, name):
        return self.first(name).replace(":", "")

    def cut_short(self):
        """Whether the dissection came to the end of the packet before that of a header."""
        return "_ws.malformed" in self.layers

    def malformed(self):
        group_malformed = str(0x07000000)
        return self.cut_short() or group_malformed in self.remarks["_ws.expert.group"]


def ipv4(payload, protocol, source="10.0.0.1", target="10.0.0.2", dscp=0):
    def octets(address):
        return bytes(int(part) for part in address.split("."))
    head = struct.pack(">BBHHHBBH4s4s", 0x45, dscp << 2, 20 + len(payload), 0, 0x4000, 64,
                       protocol, 0, octets(source), octets(target))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack(">H", total ^ 0xFFFF) + head[12:] + payload


def udp(payload, source=50000, target=4793):
    return struct.pack(">HHHH", source, target, 8 + len(payload), 0) + payload


def ethernet(packet):
    kind = 0x0800 if packet[:1] == b"" or packet[0] >> 4 == 4 else 0x86DD
    return bytes.fromhex("020000000002020000000001") + struct.pack(">H", kind) + packet


def folder():
    """A new folder that the process of tshark may read."""
    made = tempfile.TemporaryDirectory(prefix="uet-captures-")
    os.chmod(made.name, 0o755)
    return made


def golden_folder():
    here = pathlib.Path(__file__).resolve().parents[2]
    return pathlib.Path(os.environ.get("UET_GOLDEN_DIR", here / "../shared/golden"))
