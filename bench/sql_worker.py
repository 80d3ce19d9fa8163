"""A Python worker of the figures: sql_worker.py CLIENTS URL SCHEMA NAME SLOTS. It ends with its parent."""

import ctypes
import signal
import sys
import time

CLIENTS, URL, SCHEMA, NAME, SLOTS = sys.argv[1:6]
sys.path.insert(0, CLIENTS)

from ebb_client.sql import Worker  # pylint: disable=wrong-import-position

PR_SET_PDEATHSIG = 1


def pass_on(value, _):
    return value


def look(state, _):
    return {"seen": state["n"], "called": time.monotonic_ns()}


def main():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    worker = Worker(URL, name=NAME, slots=int(SLOTS), schema=SCHEMA)
    for name in ("a", "b", "c"):
        worker.handler(name)(pass_on)
    worker.handler("look")(look)
    worker.run()


if __name__ == "__main__":
    main()
