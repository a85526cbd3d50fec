#!/usr/bin/env python3
"""uet_keys serve: processes that get keys, and processes that do harm. docs/key-agent.md

Usage: serve_test.py UET_KEYS
"""
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
PATIENCE = 10.0
KEYS, ERROR = 2, 3
REQUEST = b"\0\0\0\x06\x01\x01test"


def key_text(digit, more=""):
    return (f'{more}[[domain]]\nsdi = 7\nmode = "cluster"\n[[domain.key]]\nan = 0\n'
            f'secret = "{64 * digit}"\n')


class Client:
    """A process as octets."""

    def __init__(self, path, request=REQUEST):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket.connect(path)
                break
            except BlockingIOError:  # many connect at the same time
                if time.monotonic() > end:
                    raise
                time.sleep(0.001)
        if request:
            self.socket.sendall(request)

    def octets(self, count):
        out = b""
        while len(out) < count:
            piece = self.socket.recv(count - len(out))
            if not piece:
                raise EOFError
            out += piece
        return out

    def frame(self):
        length, kind = struct.unpack(">IB", self.octets(5))
        return kind, self.octets(length - 1).decode()

    def is_ended(self):
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chmod(self.folder.name, 0o755)
        self.file = os.path.join(self.folder.name, "keys.toml")
        self.path = os.path.join(self.folder.name, "keys.sock")
        self.log_path = os.path.join(self.folder.name, "log")
        self.agents = []
        self.clients = []
        self.write(key_text("1"))

    def tearDown(self):
        for client in self.clients:
            client.close()
        for agent in self.agents:
            if agent.poll() is None:
                agent.kill()
            agent.wait()
        self.folder.cleanup()

    def write(self, text):
        with open(self.file + ".new", "w", encoding="utf-8",
                  opener=lambda p, f: os.open(p, f, 0o600)) as out:
            out.write(text)
        os.rename(self.file + ".new", self.file)

    def start(self, *words):
        with open(self.log_path, "a", encoding="utf-8") as log:
            agent = subprocess.Popen([PROGRAM, "serve", "--socket", self.path, *words, self.file],
                                     stderr=log)
        self.agents.append(agent)
        self.wait_for(lambda: "listens on" in self.log() or agent.poll() is not None)
        self.assertIsNone(agent.poll(), self.log())
        return agent

    def refused(self, *words, status=1):
        out = subprocess.run([PROGRAM, "serve", "--socket", self.path, *words, self.file],
                             capture_output=True, text=True, check=False, timeout=PATIENCE)
        self.assertEqual(out.returncode, status, out.stderr)
        return out.stderr

    def client(self, request=REQUEST):
        self.clients.append(Client(self.path, request))
        return self.clients[-1]

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def wait_for(self, is_true):
        end = time.monotonic() + PATIENCE
        while not is_true():
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.01)

    def end(self, agent, with_signal=signal.SIGTERM):
        agent.send_signal(with_signal)
        self.assertEqual(agent.wait(PATIENCE), 0)

    def test_keys_come_at_first_and_when_they_change(self):
        self.start()
        clients = [self.client() for _ in range(3)]
        for one in clients:
            self.assertEqual(one.frame(), (KEYS, key_text("1")))
        self.write(key_text("2"))
        for one in clients:
            self.assertEqual(one.frame(), (KEYS, key_text("2")))
        self.assertEqual(self.client().frame(), (KEYS, key_text("2")))
        self.assertIn(f"process {os.getpid()} (test): gets its keys", self.log())

    def test_a_file_that_is_wrong_is_not_given(self):
        self.start()
        one = self.client()
        self.assertEqual(one.frame(), (KEYS, key_text("1")))
        self.write("[[domain]]\n")
        self.wait_for(lambda: "is missing; the keys of before are given" in self.log())
        self.assertEqual(self.client().frame(), (KEYS, key_text("1")))
        self.write(key_text("2"))
        self.assertEqual(one.frame(), (KEYS, key_text("2")))
        self.assertEqual(self.log().count("keys of before"), 1)

    def test_the_socket_is_for_its_user_and_goes_with_the_agent(self):
        for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            agent = self.start()
            self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
            with open(f"/proc/{agent.pid}/limits", encoding="utf-8") as limits:
                core = [line.split() for line in limits if line.startswith("Max core")]
            self.assertEqual(core[0][4:6], ["0", "0"])
            self.end(agent, one)
            self.assertFalse(os.path.exists(self.path))
            os.truncate(self.log_path, 0)

    def test_what_is_not_its_own_stays(self):
        agent = self.start()
        self.assertIn("a process listens there", self.refused())
        self.assertEqual(self.client().frame(), (KEYS, key_text("1")))
        agent.kill()
        agent.wait()
        self.assertTrue(os.path.exists(self.path))
        os.truncate(self.log_path, 0)
        again = self.start()  # after a crash
        os.unlink(self.path)
        with open(self.path, "w", encoding="utf-8"):
            pass
        self.end(again)
        self.assertTrue(os.path.exists(self.path), "another file")
        self.assertIn("is there, and no socket", self.refused())

    def test_places_that_others_may_write_to_are_refused(self):
        os.chmod(self.folder.name, 0o777)
        self.assertIn("others may write to the folder", self.refused())
        os.chmod(self.folder.name, 0o755)
        if os.geteuid() == 0:
            os.chown(self.folder.name, 65534, 65534)
            self.assertIn("the folder belongs to another user", self.refused())
            os.chown(self.folder.name, 0, 0)
            left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            left.bind(self.path)
            left.close()
            os.chown(self.path, 65534, 65534)
            self.assertIn("is a socket of another user", self.refused())
        self.path = os.path.join(self.folder.name, "x" * 120)
        self.assertIn("at most 107 octets", self.refused())

    def test_usage(self):
        self.assertIn("there is no user", self.refused("--allow", "no such user", status=2))
        os.chmod(self.file, 0o644)
        self.assertIn("others may read or write it", self.refused())
        self.assertFalse(os.path.exists(self.path))
        help_text = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True,
                                   check=True).stdout
        self.assertIn("--allow", help_text)

    def test_garbage_is_dropped_and_others_are_served(self):
        self.start()
        good = self.client()
        self.assertEqual(good.frame(), (KEYS, key_text("1")))
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff\x01", b"\0\0\0\0\x01",
                        b"\0\0\0\x01\x01", b"\0\0\0\x06\x02\x01test", 100000 * b"\xa5"):
            bad = self.client(None)
            try:
                bad.socket.sendall(garbage)
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.assertTrue(bad.is_ended(), garbage[:20])
        twice = self.client(REQUEST + REQUEST)
        self.assertEqual(twice.frame()[0], KEYS)
        self.assertTrue(twice.is_ended())
        other_version = self.client(b"\0\0\0\x06\x01\x02test")
        self.assertEqual(other_version.frame(), (ERROR, "this key agent has version 1"))
        self.assertTrue(other_version.is_ended())
        slow = self.client(None)
        for octet in REQUEST:
            slow.socket.sendall(bytes([octet]))
        self.assertEqual(slow.frame(), (KEYS, key_text("1")))
        self.write(key_text("2"))
        self.assertEqual(good.frame(), (KEYS, key_text("2")))

    def test_who_asks_for_nothing_loses_its_place(self):
        self.start()
        silent = self.client(REQUEST[:7])
        begin = time.monotonic()
        self.assertTrue(silent.is_ended())
        self.assertLess(1.5, time.monotonic() - begin)

    def test_who_does_not_read_loses_its_place(self):
        self.write(key_text("1", 20000 * ("#" + 98 * "x" + "\n")))  # 2 MB
        self.start()
        deaf = self.client()
        begin = time.monotonic()
        reader = self.client()
        self.assertEqual(reader.frame()[0], KEYS)
        self.write(key_text("2"))
        self.assertEqual(reader.frame(), (KEYS, key_text("2")))
        self.assertLess(time.monotonic() - begin, 5)
        deaf.socket.settimeout(30)
        self.wait_for_log("does not read its keys", 20)
        self.assertGreater(time.monotonic() - begin, 9)
        with self.assertRaises((EOFError, ConnectionResetError)):
            deaf.frame()
        self.write(key_text("3"))
        self.assertEqual(reader.frame(), (KEYS, key_text("3")))

    def wait_for_log(self, text, seconds):
        end = time.monotonic() + seconds
        while text not in self.log():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_a_thousand_connections_keep_nobody_out(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        agent = self.start()
        old = self.client()
        self.assertEqual(old.frame(), (KEYS, key_text("1")))
        for _ in range(1000):
            self.client(None)
        begin = time.monotonic()
        self.assertEqual(self.client().frame(), (KEYS, key_text("1")))
        self.assertLess(time.monotonic() - begin, 2)
        self.write(key_text("2"))
        self.assertEqual(old.frame(), (KEYS, key_text("2")))
        self.assertLess(len(os.listdir(f"/proc/{agent.pid}/fd")), 100)
        # Clients that ask get no more than the places of their user.
        asked = [self.client() for _ in range(1010)]
        frames = [one.frame() for one in asked]
        self.assertEqual(frames[0], (KEYS, key_text("2")))
        self.assertEqual(frames[-1], (ERROR, f"too many processes of user {os.geteuid()}"))
        self.write(key_text("3"))
        self.assertEqual(old.frame(), (KEYS, key_text("3")))
        self.assertLess(self.log().count("\n"), 400)

    def as_user(self, user, asks=True):
        """The first frame that a process of that user gets."""
        code = ("import os, socket, sys; os.setgid(%d); os.setuid(%d); "
                "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
                "s.send(%r, socket.MSG_NOSIGNAL) if sys.argv[2:] else None; "
                "print(s.recv(1000)[4:].decode())" % (user, user, REQUEST))
        return subprocess.run([sys.executable, "-c", code, self.path, *(["ask"] if asks else [])],
                              capture_output=True, text=True, check=False, timeout=PATIENCE)

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_other_users_get_keys_where_they_are_allowed(self):
        agent = self.start()
        self.assertIn("PermissionError", self.as_user(65534).stderr)
        self.end(agent)
        os.truncate(self.log_path, 0)
        self.start("--allow", "65534", "--allow", "root")
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o666)
        self.assertIn(64 * "1", self.as_user(65534).stdout)
        self.assertIn("user 1 may not have these keys", self.as_user(1, asks=False).stdout)
        self.assertIn("user 1, process", self.log())
        self.assertEqual(self.client().frame()[0], KEYS)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
