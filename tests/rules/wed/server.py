"""What the tests of WED-SQL's dialect share: a flow on one of two servers. `reference`: reference.sql, the
draft's Algorithm 1 by itself; `surface`: Ebb. Both understand the same statements."""

import os
import pathlib
import subprocess
import sys

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
URL = os.environ["EBB_TEST_POSTGRES_URL"]
CLIENTS = HERE.parents[2] / "clients/python"


def psql(text, flow, *options):
    """Runs a script as a user would, who has the flow's schema first in the search_path."""
    settings = f"-c search_path={flow},pg_catalog -c client_min_messages=warning"
    environment = {**os.environ, "PGOPTIONS": settings}
    return subprocess.run(["psql", "-qAtX", *options, URL], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, env=environment)


class Reference:
    name = "reference"

    def create(self, flow):
        made = psql((HERE / "reference.sql").read_text(), "public", "-v", f"flow={flow}")
        if made.returncode != 0:
            sys.exit(made.stdout)


class Surface:
    name = "surface"

    def __init__(self, ebb):
        for part in ("--sql-workers", "--rules-sql"):
            subprocess.run([ebb, "--db", URL, "migrate", part], check=True, capture_output=True, timeout=120)

    def create(self, flow):
        made = psql(f"SELECT ebb.create_flow('{flow}')", "public", "-v", "ON_ERROR_STOP=1")
        if made.returncode != 0:
            sys.exit(made.stdout)


def server_of(name, ebb):
    return Reference() if name == "reference" else Surface(ebb)


def connect(flow):
    return psycopg.connect(URL, autocommit=True, options=f"-c search_path={flow},pg_catalog")
