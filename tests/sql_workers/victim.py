"""A worker in SQL that ends as by a power failure before or after its n-th statement (EBB_KILL_AT: 2n and
2n + 1). Its handler writes a row in the transaction of its outcome."""

import os
import signal
import sys

sys.path.insert(0, os.environ["EBB_CLIENTS"] + "/python")
from ebb_client import sql  # noqa: E402

KILL_AT = int(os.environ["EBB_KILL_AT"])
statements = 0


def die_at(place):
    if place == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def counted(ask):
    def run(connection, text, *values):
        global statements
        statements += 1
        place = 2 * statements
        die_at(place)
        rows = ask(connection, text, *values)
        die_at(place + 1)
        return rows
    return run


sql._ask = counted(sql._ask)
worker = sql.Worker(os.environ["EBB_TEST_POSTGRES_URL"], name="victim", slots=1, lease=1.0)


def effect(value, context):
    sql._ask(context.connection, "INSERT INTO effects VALUES (%s) RETURNING 1", context.idempotency_key)
    if context.step == "last":
        worker.stop()
    return value


for step in ("first", "last"):
    worker.add(step, effect)
worker.run()
