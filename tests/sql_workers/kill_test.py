"""Kills a Python worker at every statement; what its handlers write must still happen exactly once.

usage: kill_test.py EBB CLIENTS, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from programs import CLIENTS, EBB, URL, ebb, psql

HERE = pathlib.Path(__file__).resolve().parent
FLOW = "workflow: killed\nsteps: [{step: first, max_attempts: 50}, {step: last, max_attempts: 50}]\n"
PLACES_MAX = 200
UNHARMED_MAX = 4


def start_victim(place):
    environment = {**os.environ, "EBB_KILL_AT": str(place), "EBB_CLIENTS": CLIENTS}
    return subprocess.Popen([sys.executable, "-B", str(HERE / "victim.py")], env=environment)


def play(place, flow):
    """One instance; returns whether the worker was killed."""
    instance = ebb("start", flow, "-q")
    status = start_victim(place).wait(timeout=120)
    if status not in (0, -signal.SIGKILL):
        sys.exit(f"place {place}: the worker ended with {status}")
    # It may find nothing left to do: the first one may have been killed after its last commit.
    second = start_victim(0)
    try:
        ebb("wait", instance)
    finally:
        second.kill()
        second.wait(timeout=60)
    effects = psql(f"SELECT count(*) || ' ' || count(DISTINCT key) FROM effects "
                   f"WHERE key LIKE '{instance}:%'")
    if effects != "2 2":
        sys.exit(f"place {place}: the effects of {instance} and those that differ are {effects}, not 2 2")
    return status != 0


def killed_places(flow):
    """Until the worker has ended by itself several times: how often it claims depends on the moment."""
    places, unharmed = [], 0
    for place in range(2, PLACES_MAX):
        if play(place, flow):
            places.append(place)
            unharmed = 0
        else:
            unharmed += 1
        if unharmed == UNHARMED_MAX:
            break
    return places


def main():
    ebb("migrate", "--sql-workers")
    psql("SELECT ebb.grant_work(current_user::text, 'killed'); CREATE TABLE effects (key text)")
    with tempfile.TemporaryDirectory() as folder:
        flow = pathlib.Path(folder) / "killed.yaml"
        flow.write_text(FLOW)
        keeper = subprocess.Popen([EBB, "--db", URL, "worker", "--lease", "1s"], stderr=subprocess.DEVNULL)
        try:
            places = killed_places(str(flow))
        finally:
            keeper.terminate()
            keeper.wait(timeout=60)
    if len(places) < 10:
        sys.exit(f"The worker was killed at {places} only.")
    print(f"killed at {len(places)} places")


main()
