"""A worker of WED-SQL in a process of its own, as its users write it.

usage: worker.py DRIVER FLOW TRNAME [KILL_AT]

It notes each call in the table public.effects, within the transaction of its job. With KILL_AT it dies as
by a power failure before (2n) or after (2n + 1) its n-th statement. It stops after one job."""

import os
import signal
import sys

DRIVER, FLOW, TRNAME = sys.argv[1:4]
KILL_AT = int(sys.argv[4]) if len(sys.argv) > 4 else 0
if DRIVER == "psycopg2":
    sys.modules["psycopg"] = None
sys.path.insert(0, os.environ["EBB_CLIENTS"])
from BaseWorker import BaseClass  # noqa: E402
from ebb_client import wed  # noqa: E402

statements = 0


def die_at(place):
    if place == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def counted(function):
    def run(*arguments):
        global statements
        statements += 1
        place = 2 * statements
        die_at(place)
        answer = function(*arguments)
        die_at(place + 1)
        return answer
    return run


wed._ask, wed._tell = counted(wed._ask), counted(wed._tell)


class Victim(BaseClass):
    def wed_trans(self, payload):
        self.stop()
        wed._tell(self.connection, "INSERT INTO public.effects VALUES (%s)", TRNAME)
        return f"{TRNAME}_done = 'yes'"


Victim(TRNAME, f"{os.environ['EBB_TEST_POSTGRES_URL']}?options=-csearch_path%3D{FLOW}%2Cpg_catalog").run()
