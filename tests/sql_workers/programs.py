"""The programs that the tests of this folder run: their last two arguments are EBB and CLIENTS, and
$EBB_TEST_POSTGRES_URL names the database."""

import os
import subprocess
import sys

EBB, CLIENTS = sys.argv[-2:]
URL = os.environ["EBB_TEST_POSTGRES_URL"]


def ebb(*arguments):
    return subprocess.run([EBB, "--db", URL, *arguments], check=True, capture_output=True, text=True,
                          timeout=120).stdout.strip()


def psql(text):
    return subprocess.run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", URL, "-c", text], check=True,
                          capture_output=True, text=True, timeout=60).stdout.strip()
