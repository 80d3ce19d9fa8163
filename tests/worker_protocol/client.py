"""What a program does with the client in Python: client.py COMMAND... (EBB_URL, EBB_TOKEN).
Each prints one JSON value; client.mjs prints the same."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients" / "python"))

from ebb_client import Client, Problem  # noqa: E402

client = Client(os.environ["EBB_URL"], os.environ["EBB_TOKEN"], patience=120)


def code_of(call):
    try:
        return call()
    except Problem as problem:
        return problem.code


def lists():
    labels = {"customer": "acme", "vip": True}
    started = [client.start("adding", {"a": n, "b": 0}, labels=labels if n < 2 else None) for n in range(105)]
    client.start("deciding", key="other")
    return {
        "all": [each["id"] for each in client.list(workflow="adding")] == started[::-1],
        "two": [each["id"] for each in client.list(workflow="adding", limit=2)] == started[:-3:-1],
        "label": [each["labels"] for each in client.list(labels={"customer": "acme"})],
        "where": len(list(client.list(where="labels.vip == true"))),
        "key": [each["workflow"] for each in client.list(key="other", status=["running", "failed"])],
        "none": list(client.list(status="failed")),
    }


def decides():
    instance = client.start("deciding")
    refused = code_of(lambda: client.decide(instance, "confirm", role="stranger"))
    client.decide(instance, "confirm", role="boss", comment="looks good", by="ann", request_id="1")
    client.decide(instance, "confirm", role="boss", comment="looks good", by="ann", request_id="1")
    return {"refused": refused, "status": client.result(instance)["status"], "id": instance}


def steers():
    first, second = client.start("deciding"), client.start("deciding")
    seen = client.pause(first, "bank is down")
    return {
        "paused": [seen["changed"], seen["status"], client.pause(first)["changed"]],
        "resumed": client.resume(first, revision=seen["revision"])["status"],
        "stale": code_of(lambda: client.cancel(first, "late", revision=seen["revision"])),
        "cancelled": [client.cancel(first, "ordered twice")["changed"], client.result(first)["status"]],
        "aborted": client.abort(second, "test data")["status"],
        "unknown": code_of(lambda: client.resume("key:deciding/none")),
    }


def requeues():
    instance = client.start("freezing")
    events = client.events(instance)
    assert any(event["type"] == "step_failed" for event in events)
    events.close()
    client.requeue(instance, {"a": 1, "b": 2})
    return client.result(instance)["output"]


def reruns():
    old = client.start("freezing", {"a": 1, "b": 2}, labels={"tenant": "acme"})
    client.result(old)
    new = client.rerun(old)
    keyed = [client.rerun(old, {"a": 5, "b": 5}, key="once", version=1) for _ in range(2)]
    labels = client.show(new)["labels"]
    is_linked = labels.pop("ebb.rerun_of") == old
    return {"same": client.result(new)["output"], "labels": labels, "is_linked": is_linked,
            "is_new": new != old, "other": client.result(keyed[0])["output"], "is_once": keyed[0] == keyed[1]}


def watches():
    instance = client.start("deciding")
    numbers = []
    for event in client.events(instance):
        numbers.append(event["seq"])
        if event["type"] == "decision_awaited":
            client.decide(instance, "confirm", role="boss")
    last = [event["seq"] for event in client.events(instance, after=numbers[-2])]
    return {"id": instance, "numbers": numbers, "rest": last == numbers[-1:]}


print(json.dumps(globals()[sys.argv[1]]()))
client.close()
