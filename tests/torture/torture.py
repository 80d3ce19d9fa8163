#!/usr/bin/env python3
"""Real worker processes under faults, and a checker that does not trust them

Starts a store of its own, workers, and sagas; then kills, stops and drains workers, cuts and holds their
connections, sets their clocks, kills PostgreSQL, and fills the disk, for as many minutes as asked. Every
handler writes what it does to a ledger, a file outside of the store. At the end all faults stop, every saga
must end, and the ledger must agree with how it ended. The last line says what happened; the exit code is 1
if anything is wrong.

Run it with `./dev torture MINUTES [--store sqlite|postgres] [--seed N]`.
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import pwd
import random
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

STEPS = ("reserve", "pay", "pack", "once", "last")
UNDONE = ("reserve", "pay", "pack", "once")
# The first step ends before the second begins; their undos run the other way round.
ORDER = (("reserve", "pay"), ("reserve", "pack"), ("pay", "once"), ("pack", "once"), ("once", "last"))
LEASE_SECONDS = 2
# How wrong a worker's clock may be: longer than a lease, and shorter than the time for all sagas to end,
# because on SQLite such a worker may let a delay end so much later.
CLOCK_SHIFT_SECONDS = 120
ENDED = ("completed", "failed")

# A handler writes each line to the ledger in one write, so that lines of concurrent handlers never mix. It
# runs for a while between the two, so that faults meet it in the middle.
HANDLER = r"""
keys="$EBB_IDEMPOTENCY_KEY ${EBB_FORWARD_IDEMPOTENCY_KEY:--}"
note() { printf '%s\n' "$1 ${EBB_COMPENSATION:-0} $EBB_INSTANCE_ID $EBB_STEP $keys" >> LEDGER; }
note begin || exit 75
sleep "0.0$(( $(od -An -N1 -tu1 /dev/urandom) % 8 ))"
note end || exit 75
"""
UNDO = {"handler": "undo", "max_attempts": 1000}
WORKFLOW = {
    "workflow": "torture",
    "version": 1,
    "defaults": {
        "max_attempts": 1000,
        "backoff": {"initial": "50ms", "max": "500ms"},
        "timeout": "60s",
    },
    "handlers": {
        "act": {"exec": HANDLER, "output": "none"},
        "undo": {"exec": HANDLER, "output": "none"},
        "last": {
            "exec": HANDLER + "\nif grep -q '\"fail\": *true' \"$EBB_INPUT_FILE\"; then exit 65; fi",
            "output": "none",
            "permanent_exit_codes": [65],
        },
    },
    "steps": [
        {"step": "reserve", "handler": "act", "compensate": UNDO},
        {
            "parallel": "both",
            "branches": {
                "first": [{"step": "pay", "handler": "act", "compensate": UNDO}],
                "second": [{"step": "pack", "handler": "act", "compensate": UNDO}],
            },
        },
        {"delay": "rest", "for": "200ms"},
        {
            "step": "once",
            "handler": "act",
            "input": "${workflow.input}",
            "non_idempotent": True,
            "compensate": UNDO,
        },
        {"step": "last", "input": "${workflow.input}"},
    ],
}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Postgres:
    """A throwaway server on a loopback port. Its data survives a crash of its processes only."""

    def __init__(self, folder):
        installed = pathlib.Path("/usr/lib/postgresql").glob("*/bin")
        self.bin = max(installed, key=lambda path: float(path.parent.name))
        self.folder = folder / "postgres"
        self.folder.mkdir()
        self.port = free_port()
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
            os.chmod(folder, 0o755)
        self.run("initdb", "-D", "data", "-A", "trust", "-U", "ebb", "--locale=C.UTF-8", "--no-sync")
        self.start()
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "ebb", "torture")

    def run(self, program, *arguments, check=True):
        identity = {"user": self.user.pw_uid, "group": self.user.pw_gid} if self.user else {}
        return subprocess.run(
            [self.bin / program, *arguments],
            cwd=self.folder,
            check=check,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **identity,
        )

    def start(self):
        settings = ["listen_addresses=127.0.0.1", "fsync=off", "max_connections=200"]
        words = f"-p {self.port} -k {self.folder} " + " ".join(f"-c {setting}" for setting in settings)
        self.run("pg_ctl", "-D", "data", "-w", "-s", "-l", "log", "-o", words, "start")

    def stop(self, mode="immediate"):
        self.run("pg_ctl", "-D", "data", "-w", "-s", "-m", mode, "stop", check=False)

    def url(self, port=None):
        return f"postgresql://ebb@127.0.0.1:{port or self.port}/torture"


class Proxy(threading.Thread):
    """Forwards connections to a port; can hold all traffic, or cut all connections."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_held = False
        self.must_cut = False
        self.peers = {}

    def run(self):
        while True:
            if self.must_cut:
                for peer in list(self.peers):
                    self.close(peer)
                self.must_cut = False
            sources = [self.listener] + ([] if self.is_held else list(self.peers))
            for ready in select.select(sources, [], [], 0.05)[0]:
                if ready is self.listener:
                    self.accept()
                elif ready in self.peers:
                    self.forward(ready)

    def accept(self):
        client, _ = self.listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        self.peers[client] = server
        self.peers[server] = client

    def forward(self, source):
        try:
            data = source.recv(65536)
            if data:
                self.peers[source].sendall(data)
                return
        except OSError:
            pass
        self.close(source)

    def close(self, peer):
        other = self.peers.pop(peer, None)
        peer.close()
        if other is not None:
            self.peers.pop(other, None)
            other.close()


class Worker:
    """One `ebb worker` process. It is started again by the plan, never by itself."""

    def __init__(self, torture, name, url):
        self.torture, self.name, self.url = torture, name, url
        self.process = None
        self.start()

    def start(self):
        program = self.torture.program_for_worker()
        shifts = [0, 0, 0, -CLOCK_SHIFT_SECONDS, CLOCK_SHIFT_SECONDS]
        shift = self.torture.dice.choice(shifts) if self.torture.has_faults else 0
        environment = dict(os.environ)
        if shift and self.torture.clock:
            path = self.torture.folder / f"clock-{self.name}"
            path.write_bytes(shift.to_bytes(8, "little", signed=True))
            environment |= {"LD_PRELOAD": str(self.torture.clock), "EBB_JUMPING_CLOCK": str(path)}
            self.torture.faults["clock set"] += 1
        log = open(self.torture.folder / "workers.log", "ab")
        self.process = subprocess.Popen(
            [program, "--db", self.url, "worker", "--threads", "4", "--lease", f"{LEASE_SECONDS}s"]
            + self.torture.options_of(program),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=self.torture.folder,
        )
        log.close()

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self, number):
        self.signal(signal.SIGCONT)
        self.signal(number)
        self.process.wait()


class Torture:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.dice = random.Random(options.seed)
        self.ebb = self.newest = str(pathlib.Path(options.ebb).resolve())
        self.earlier = str(pathlib.Path(options.earlier).resolve()) if options.earlier else None
        self.starts = collections.Counter()
        if self.earlier:
            self.ebb = self.earlier
        self.clock = str(pathlib.Path(options.clock).resolve()) if options.clock else None
        self.ledger = folder / "ledger"
        self.ledger.touch()
        self.faults = collections.Counter()
        self.has_faults = True
        self.keys = {}
        self.server = self.proxy = None
        if options.store == "postgres":
            self.server = Postgres(folder)
            self.proxy = Proxy(self.server.port)
            self.proxy.start()
            self.url = self.server.url()
        else:
            self.url = f"sqlite:{folder / 'torture.db'}"
        text = json.dumps(WORKFLOW).replace("LEDGER", str(self.ledger))
        (folder / "torture.json").write_text(text)
        self.command("migrate")
        self.command("worker", "--once", str(folder / "torture.json"))
        self.workers = [Worker(self, f"w{i}", self.url_of(i)) for i in range(options.workers)]

    @functools.cache
    def options_of(self, program):
        """Programs before 0.1 run what a definition in the database names without being asked to."""
        shown = subprocess.run([program, "worker", "--help"], capture_output=True, text=True, check=True)
        return ["--allow-exec"] if "--allow-exec" in shown.stdout else []

    def program_for_worker(self):
        """After the migration, workers of both releases run beside each other."""
        program = self.ebb
        if self.earlier and self.ebb == self.newest:
            program = self.dice.choice([self.earlier, self.newest])
        self.starts["of the earlier release" if program == self.earlier else "of this release"] += 1
        return program

    def migrate(self):
        """The workers of the earlier release keep running. They must not notice."""
        self.ebb = self.newest
        while self.command("migrate", check=False).returncode != 0:
            self.faults["migration repeated"] += 1
            time.sleep(0.5)  # PostgreSQL may have been killed.

    def url_of(self, index):
        return self.server.url(self.proxy.port) if self.proxy and index % 2 else self.url

    def command(self, *words, check=True):
        run = subprocess.run(
            [self.ebb, "--db", self.url, *words],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if check and run.returncode != 0:
            raise SystemExit(
                f"torture: ebb {' '.join(words)} ended with {run.returncode}: {run.stderr or run.stdout}"
            )
        return run

    # --- faults ---

    def kill(self):
        worker = self.dice.choice(self.workers)
        worker.end(signal.SIGKILL)
        worker.start()

    def drain(self):
        worker = self.dice.choice(self.workers)
        worker.end(signal.SIGTERM)
        worker.start()

    def freeze(self):
        """Often for longer than the lease: another worker takes over, and this one believes in its calls."""
        worker = self.dice.choice(self.workers)
        worker.signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS * self.dice.uniform(0.5, 2.0))
        worker.signal(signal.SIGCONT)

    def cut_connections(self):
        self.proxy.must_cut = True

    def hold_connections(self):
        self.proxy.is_held = True
        time.sleep(LEASE_SECONDS * self.dice.uniform(0.5, 2.0))
        self.proxy.is_held = False

    def restart_postgres(self):
        self.server.stop()
        time.sleep(self.dice.uniform(0, 1))
        self.server.start()

    def fill_disk(self):
        """No file of this worker may grow for a moment. Unlike a full disk, this may end it by SIGXFSZ."""
        worker = self.dice.choice(self.workers)
        if worker.process.poll() is None:
            old = resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, (0, old[1]))
            time.sleep(self.dice.uniform(0.1, 1.0))
            if worker.process.poll() is None:
                resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, old)

    def plan(self):
        faults = {
            "worker killed": (self.kill, 6),
            "worker drained": (self.drain, 2),
            "worker frozen": (self.freeze, 3),
        }
        if self.server:
            faults["connections cut"] = (self.cut_connections, 4)
            faults["connections held"] = (self.hold_connections, 2)
            faults["PostgreSQL killed"] = (self.restart_postgres, 1)
        else:
            faults["disk full"] = (self.fill_disk, 2)
        return faults

    # --- the run ---

    def start_sagas(self):
        index = 0
        while self.has_faults:
            if self.running() < self.options.instances:
                key = f"k{index}"
                will_fail = index % 3 == 0
                words = ["start", "torture", "--key", key, "-i", json.dumps({"fail": will_fail})]
                self.keys[key] = will_fail
                while self.command(*words, check=False).returncode != 0:
                    time.sleep(0.2)  # The store is down: the same key makes the repeated start safe.
                index += 1
            else:
                time.sleep(0.1)

    def running(self):
        """By the ledger, which needs no store: sagas without an end of the last step or undo."""
        return len(self.keys) - self.seen_ends()

    def seen_ends(self):
        ends = set()
        for line in self.ledger.read_text().splitlines():
            what, is_undo, instance, step, *_ = line.split()
            if what == "end" and (step == "last" or (is_undo == "1" and step == "reserve")):
                ends.add(instance)
        return len(ends)

    def run(self):
        starter = threading.Thread(target=self.start_sagas, daemon=True)
        starter.start()
        faults = self.plan()
        names = list(faults)
        weights = [faults[name][1] for name in names]
        end = time.monotonic() + self.options.minutes * 60
        shown = time.monotonic()
        migration = time.monotonic() + self.options.minutes * 20 if self.earlier else end
        while time.monotonic() < end:
            if self.ebb != self.newest and time.monotonic() > migration:
                self.migrate()
            name = self.dice.choices(names, weights)[0]
            faults[name][0]()
            self.faults[name] += 1
            for worker in self.workers:
                if worker.process.poll() is not None:
                    self.faults["worker ended by itself"] += 1
                    worker.start()
            time.sleep(self.dice.uniform(0, 1.5))
            if time.monotonic() - shown > 15:
                shown = time.monotonic()
                faults_so_far = sum(self.faults.values())
                print(
                    f"  {int(end - shown):4} s left, {len(self.keys)} sagas, {faults_so_far} faults",
                    flush=True,
                )
        self.has_faults = False
        starter.join()

    def settle(self):
        """Healthy workers, until every saga has ended. An operator requeues what is in dead letter."""
        for worker in self.workers:
            worker.end(signal.SIGKILL)
            worker.url = self.url
            worker.start()
        end = time.monotonic() + self.options.settle
        rows = []
        while time.monotonic() < end:
            rows = self.instances()
            if all(row["status"] in ENDED for row in rows):
                return rows
            for row in rows:
                if row["status"] == "dead_letter":
                    self.command("requeue", row["id"], check=False)
            time.sleep(0.5)
        return rows

    def instances(self):
        run = self.command("list", "-w", "torture", "-o", "jsonl", "-n", "100000")
        return [json.loads(line) for line in run.stdout.splitlines()]

    def stop(self):
        for worker in self.workers:
            worker.end(signal.SIGKILL)
        if self.server:
            self.server.stop()


def faults_of(instance, lines, will_fail):
    """What the ledger says against how this instance ended."""
    wrong = []
    first, last = {}, {}
    keys = collections.defaultdict(set)
    begins = collections.Counter()
    forward_keys = collections.defaultdict(set)
    for at, (what, is_undo, step, key, forward) in lines:
        place = (what, is_undo, step)
        first.setdefault(place, at)
        last[place] = at
        begins[place] += 1
        keys[is_undo, step].add(key)
        if is_undo:
            forward_keys[step].add(forward)

    def check(is_right, sentence):
        if not is_right:
            wrong.append(f"{instance['id']} ({instance['status']}): {sentence}")

    for (is_undo, step), used in keys.items():
        name = f"{'the undo of ' if is_undo else ''}{step}"
        check(len(used) == 1, f"{name} used {len(used)} idempotency keys")
    check(begins["begin", False, "once"] <= 1, "the non-idempotent step began more than once")
    for before, after in ORDER:
        if ("begin", False, after) in first:
            check(
                first.get(("end", False, before), len(lines) + 10**9) < first["begin", False, after],
                f"{after} began before {before} had ended",
            )
    if instance["status"] == "completed":
        check(not will_fail, "a saga completed although its last step fails")
        for step in STEPS:
            check(("end", False, step) in first, f"{step} never ended")
            check(("begin", True, step) not in first, f"{step} was undone")
    elif instance["status"] == "failed":
        for step in UNDONE:
            if ("begin", False, step) not in first:
                continue
            check(("end", True, step) in first, f"{step} began and was never undone")
            check(
                forward_keys[step] == keys[False, step] or ("end", True, step) not in first,
                f"the undo of {step} got another key than the step",
            )
        for after, before in ORDER:
            if ("begin", True, after) in first and ("begin", False, before) in first and before in UNDONE:
                check(
                    first.get(("end", True, before), 10**12) < first["begin", True, after],
                    f"the undo of {after} began before that of {before} had ended",
                )
    else:
        check(False, "it did not end")
    return wrong


def check(torture, rows):
    lines = collections.defaultdict(list)
    for at, line in enumerate(torture.ledger.read_text().splitlines()):
        what, is_undo, instance, step, key, forward = line.split()
        lines[instance].append((at, (what, is_undo == "1", step, key, forward)))
    wrong = []
    found = collections.Counter(row["key"] for row in rows)
    for key in torture.keys:
        if found[key] != 1:
            wrong.append(f"{found[key]} instances have the key {key}")
    for row in rows:
        wrong += faults_of(row, lines[row["id"]], torture.keys.get(row["key"], False))
    return wrong


def main():
    parser = argparse.ArgumentParser(prog="./dev torture", description=__doc__.split("\n\n")[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="postgres")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--instances", type=int, default=40, help="sagas at once (40)")
    parser.add_argument("--settle", type=float, default=300, help="seconds for all sagas to end (300)")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the ledger and the logs")
    parser.add_argument("--ebb", required=True, help="the command")
    parser.add_argument(
        "--earlier",
        metavar="EBB",
        help="the command of an earlier release: it makes the store, which is migrated after a third of the"
        " time; then workers of both releases run beside each other",
    )
    parser.add_argument("--clock", help="the library that sets a worker's clock")
    options = parser.parse_args()

    folder = pathlib.Path(tempfile.mkdtemp(prefix="ebb-torture-"))
    what = f"{options.store}, seed {options.seed}" + (", with an earlier release" if options.earlier else "")
    print(f"-- torture: {what}, {options.minutes:g} minutes, in {folder}", flush=True)
    torture = None
    try:
        torture = Torture(options, folder)
        torture.run()
        rows = torture.settle()
        wrong = check(torture, rows)
    finally:
        if torture:
            torture.stop()
    ends = collections.Counter(row["status"] for row in rows)
    for sentence in wrong[:50]:
        print(f"  wrong: {sentence}")
    if options.earlier:
        starts = (f"{count} {release}" for release, count in sorted(torture.starts.items()))
        print(f"  workers started: {', '.join(starts)}")
        if len(torture.starts) < 2:
            wrong.append("the workers of one of the releases never started")
    if wrong or options.keep:
        print(f"  kept: {folder}")
    else:
        shutil.rmtree(folder)
    print(
        f"torture: {what}: {len(rows)} sagas ("
        + ", ".join(f"{count} {status}" for status, count in sorted(ends.items()))
        + f"), {sum(torture.faults.values())} faults ("
        + ", ".join(f"{count} {name}" for name, count in sorted(torture.faults.items()))
        + f"): {len(wrong)} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
