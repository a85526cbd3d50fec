# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages whose packets come mixed with those of others, in any order, twice and from both ends.

Usage: reassembly_test.py PLUGINS UET_PCAP

Three messages from A and two from B share one PDC; B's have the message IDs of A's. The packets are
captured in an order drawn by lot, some of them again (sent again, or doubled by the network). Each
message must be put together once, octet for octet, and each packet must name the frame where.
"""
import pathlib
import random
import subprocess
import sys

import wireshark

LENGTHS = [("A", 1, 5000), ("A", 2, 4096), ("A", 3, 1025), ("B", 1, 3000), ("B", 2, 2049)]
PAYLOAD = 1024
ROUNDS = 8
ADDRESSES = {"A": "10.0.0.1", "B": "10.0.0.2"}
PDCIDS = {"A": (9, 77), "B": (77, 9)}  # own, the peer's


class Message:
    def __init__(self, rng, end, identifier, length):
        self.end = end
        self.identifier = identifier
        self.data = rng.randbytes(length)

    def packets(self, psn):
        """Lines of the language, without their times."""
        back = "B" if self.end == "A" else "A"
        for offset in range(0, len(self.data), PAYLOAD):
            part = self.data[offset:offset + PAYLOAD]
            own, peer = PDCIDS[self.end]
            flags = "som" if offset == 0 else f"payload_length={len(part)} message_offset={offset}"
            last = " eom" if offset + len(part) == len(self.data) else ""
            yield (f"{ADDRESSES[self.end]} > {ADDRESSES[back]} | RUD_REQ {{}} "
                   f"psn={psn + offset // PAYLOAD} spdcid={own} dpdcid={peer} | STANDARD "
                   f"opcode=SEND message_id={self.identifier} request_length={len(self.data)} "
                   f"{flags}{last} | payload {part.hex()}")


def drawn(rng):
    """Messages, and lines with the number of their message."""
    messages = [Message(rng, *of) for of in LENGTHS]
    lines, psn = [], {"A": 1, "B": 1}
    for number, message in enumerate(messages):
        made = list(message.packets(psn[message.end]))
        psn[message.end] += len(made)
        lines += [(number, line) for line in made]
    rng.shuffle(lines)
    for again in rng.sample(range(len(lines)), 4):
        at = rng.randrange(again + 1, len(lines) + 1)
        lines.insert(at, (lines[again][0], lines[again][1].replace("{}", rng.choice(("retx", "")))))
    return messages, [(number, line.replace("{}", "")) for number, line in lines]


def differences(tshark, program, folder, seed):
    rng = random.Random(seed)
    messages, lines = drawn(rng)
    capture = pathlib.Path(folder) / "mixed.pcapng"
    text = "\n".join(f"0.{n:03} {line}" for n, (_, line) in enumerate(lines))
    subprocess.run([program, "make", "-", capture], input=text, text=True, check=True)
    capture.chmod(0o644)
    rows = tshark.rows(capture, ["uet.ses.reassembled_data", "uet.ses.reassembled_in",
                                 "uet.ses.message"], "-2", "-E", "occurrence=a")
    complete, numbers = {}, {}
    for frame, ((number, _), (data, _, shown)) in enumerate(zip(lines, rows, strict=True), 1):
        numbers.setdefault(number, set()).add(shown)
        if data:
            complete.setdefault(number, []).append((frame, data.replace(":", "")))
    for number, message in enumerate(messages):
        found = [data for _, data in complete.get(number, [])]
        if found != [message.data.hex()]:
            yield f"message {number} is put together {len(found)} times, or wrong"
        if len(numbers[number]) != 1:
            yield f"message {number} has the numbers {numbers[number]}"
    if len(set.union(*numbers.values())) != len(messages):
        yield f"messages are taken for one: {numbers}"
    seen = set()
    for frame, ((number, line), (data, within, _)) in enumerate(zip(lines, rows), 1):
        psn = line[line.index(" psn="):]
        if psn in seen:  # a copy, which adds nothing
            continue
        seen.add(psn)
        ends = [at for at, _ in complete.get(number, [])]
        if not data and [int(within or 0)] != ends:
            yield f"frame {frame} is complete in {within}, not {ends}"


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    tshark = wireshark.Tshark(sys.argv[1])
    wrong = 0
    with wireshark.folder() as folder:
        for seed in range(ROUNDS):
            for difference in differences(tshark, sys.argv[2], folder, seed):
                print(f"seed {seed}: {difference}")
                wrong += 1
    print(f"{ROUNDS} captures of {len(LENGTHS)} messages, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
