"""The worker of the conformance kit in Python: worker.py FOLDER (EBB_URL, EBB_TOKEN, EBB_WORKER_ID)."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients" / "python"))

from ebb_client import Client, Failure, Worker  # noqa: E402

folder = pathlib.Path(sys.argv[1])
patience = float(os.environ.get("EBB_PATIENCE", "120"))
worker = Worker(
    Client(os.environ["EBB_URL"], os.environ["EBB_TOKEN"], patience=patience), os.environ["EBB_WORKER_ID"],
    slots=int(os.environ.get("EBB_SLOTS", "2")), lease=float(os.environ.get("EBB_LEASE", "4")),
)


def note(name, line):
    with open(folder / name, "a", encoding="utf-8") as file:
        file.write(f"{line}\n")


@worker.handler("add")
def add(value):
    return {"sum": value["a"] + value["b"]}


@worker.handler("flaky")
def flaky(value, ctx):
    note("flaky", f"{ctx.attempt} {ctx.idempotency_key}")
    if ctx.attempt == 1:
        raise Failure("not yet", code="busy", retry_after=0.01, details={"attempt": 1})
    return {"attempt": ctx.attempt}


@worker.handler("refuse")
def refuse(value):
    raise Failure("never", code="no_amount", permanent=True)


@worker.handler("ask")
def ask(value, ctx):
    if ctx.payload is None:
        ctx.pause()
    return {"answer": ctx.payload, "pauses": ctx.pauses}


@worker.handler("hold")
def hold(value, ctx):
    note("hold", f"{ctx.attempt} {ctx.idempotency_key}")
    while not (folder / "go").exists():
        if ctx.wait_for_stop(0.02):
            note("stopped", ctx.attempt)
            ctx.heartbeat()
    return {"attempt": ctx.attempt}


@worker.handler("tell")
def tell(value, ctx):
    ctx.log("half of it", "warning")
    ctx.progress({"percent": 50})
    while not (folder / "go").exists():
        ctx.wait_for_stop(0.02)
    return None


@worker.handler("odd")
def odd(value, ctx):
    if value == "message":
        raise ValueError("a\0b\ud800c" + "é" * 60_000)
    if value == "code":
        raise Failure("the shop is closed", code="c" * 65)
    if value == "details":
        raise Failure("the shop is closed", code="c", details="\ud800")
    if value == "exit":
        sys.exit("leaves")
    ctx.log("\0" + "é" * 9_000)
    return {"surrogate": "\ud800", "number": float("nan"), "large": "x" * (1 << 20)}[value]


@worker.handler("undo")
def undo(value, ctx):
    note("undo", f"{ctx.is_compensation} {value['output']['sum']}")
    return None


worker.run()
