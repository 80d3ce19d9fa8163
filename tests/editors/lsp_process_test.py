"""`ebb lsp` as a process: it ends with its editor, also if stdin stays open.

EBB_COMMAND names the command.
"""

import json
import os
import subprocess
import sys
import unittest

COMMAND = os.environ["EBB_COMMAND"]


def framed(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def initialize(process):
    return framed({"id": 1, "method": "initialize", "params": {"processId": process, "capabilities": {}}})


def ended_process():
    """The number of a process that has ended and was waited for."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def start():
    return subprocess.Popen([COMMAND, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class Ending(unittest.TestCase):
    def test_the_server_ends_when_the_process_of_the_editor_has_ended(self):
        with start() as server:
            server.stdin.write(initialize(ended_process()))
            server.stdin.flush()
            # stdin stays open: only the end of the process is left as a reason.
            self.assertEqual(server.wait(timeout=60), 1)

    def test_the_server_of_a_living_editor_answers_until_exit(self):
        for process in (os.getpid(), None):
            with start() as server:
                server.stdin.write(initialize(process))
                server.stdin.flush()
                self.assertTrue(server.stdout.readline().startswith(b"Content-Length"))
                server.stdin.write(framed({"id": 2, "method": "shutdown"}) + framed({"method": "exit"}))
                server.stdin.flush()
                self.assertEqual(server.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
