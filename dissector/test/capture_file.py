# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and reads pcap files of Ethernet frames, in the byte order of little-endian machines."""
import os
import pathlib
import struct

FILE_HEAD = struct.Struct("<IHHiIII")
FRAME_HEAD = struct.Struct("<IIII")
FIRST_SECOND = 1700000000


class CaptureFile:
    """A new file that the process of tshark may read; its frames are `step_us` apart."""

    def __init__(self, path, step_us):
        self.file = open(path, "wb", buffering=1 << 20)
        os.fchmod(self.file.fileno(), 0o644)
        self.file.write(FILE_HEAD.pack(0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        self.step_us = step_us
        self.count = self.octets = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def add(self, frame):
        second, micro = divmod(self.count * self.step_us, 1000000)
        self.file.write(FRAME_HEAD.pack(FIRST_SECOND + second, micro, len(frame), len(frame)))
        self.file.write(frame)
        self.count += 1
        self.octets += len(frame)


def write_pcap(path, frames):
    """Frames a millisecond apart."""
    with CaptureFile(path, step_us=1000) as file:
        for frame in frames:
            file.add(frame)


def frames_of(path):
    octets = pathlib.Path(path).read_bytes()
    at = FILE_HEAD.size
    while at + FRAME_HEAD.size <= len(octets):
        length = FRAME_HEAD.unpack_from(octets, at)[2]
        at += FRAME_HEAD.size
        yield octets[at:at + length]
        at += length
