"""A worker: it gets tasks from the server, calls handlers in threads, and reports what came out."""

import collections
import json
import logging
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .client import NOT_NOW, Problem
from .handlers import Failure, Handlers, Pause, Result, Stopped, json_text, plain_text, report_of

_log = logging.getLogger(__name__)

_REMEMBERED = 4096
_TOGETHER_MAX = 64
_LINE_BYTES_MAX = 8 << 10
_PROGRESS_BYTES_MAX = 16 << 10
_NOT_ALLOWED = (400, 413)  # what the request says is not allowed, or too large
_LEVELS = ("debug", "info", "warning", "error")
_OUTPUT_BYTES_MAX = 1 << 20
_LAST_WORDS = 2.0  # seconds for a request after `stop`


class Displaced(Exception):
    """Another worker has opened a session with this worker's name."""


class Context:
    """One call. The attributes are those of the task: instance, workflow, version, step, handler,
    attempt, max_attempts, pauses, idempotency_key, deadline, is_compensation, input, payload,
    metadata."""

    def __init__(self, worker, task):
        self._worker = worker
        self._stop = threading.Event()
        self.token = task["task"]
        for name, value in task.items():
            if name != "task":
                setattr(self, name, value)

    @property
    def is_stopped(self):
        """Whether the result is no longer wanted: timeout, cancel, or a lost lease."""
        return self._stop.is_set()

    def wait_for_stop(self, seconds):
        """Sleeps, but not longer than until the call is to stop. Returns is_stopped."""
        return self._stop.wait(seconds)

    def heartbeat(self):
        """For long handlers to call now and then. The worker keeps the lease by itself; this raises
        Stopped if the call is to stop."""
        if self.is_stopped:
            raise Stopped(f"{self.step} is to stop")

    def log(self, message, level="info"):
        """Writes to the log of the server. `level`: debug, info, warning or error."""
        if level not in _LEVELS:
            raise ValueError(f'The level of a log line is debug, info, warning or error, not "{level}".')
        self._worker._note(self.token, line={"level": level, "message": plain_text(message, _LINE_BYTES_MAX)})

    def progress(self, value):
        """Shows how far the call has come. Only the newest value is kept. It has at most 16 KiB of JSON."""
        if len(json_text(value)) > _PROGRESS_BYTES_MAX:
            raise ValueError("A progress has at most 16 KiB of JSON.")
        self._worker._note(self.token, progress=value)

    def pause(self):
        raise Pause()


class Worker(Handlers):
    def __init__(self, client, worker_id=None, slots=4, queues=(), lease=30.0):
        """`slots`: how many handlers run at the same time. `lease`: seconds after which other workers
        take the tasks of a worker that is gone."""
        super().__init__()
        self.client = client
        self.worker_id = worker_id
        self.slots = slots
        self.queues = list(queues)
        self.lease = lease
        self._news = threading.Condition()
        self._running = {}  # by token
        self._done = collections.OrderedDict()  # by token: reports that are not recorded
        self._notes = {}
        self._together = _TOGETHER_MAX  # how many reports a request has
        self._refused = None  # the task whose outcome the server has refused
        self._finished = collections.OrderedDict()  # tokens, so that no answer runs one twice
        self._session = None
        self._is_asking = False  # a poll is open that may bring tasks
        self._is_stopping = False
        self._is_over = False
        self._error = None

    def stop(self):
        """Takes no more tasks; `run` returns when the running handlers have ended."""
        # Not under the lock: it is called from signal handlers, too.
        self._is_stopping = True

    def run(self, handle_signals=True):
        """Works until `stop`, SIGTERM or SIGINT. Then the running handlers end, and their results are
        reported; while the server is away, that is tried for the client's `patience`. Raises Displaced,
        Problem if the server refuses the worker, TlsError, and if the server cannot be reached at the start
        for the client's `patience`, the error of the last request."""
        if handle_signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.stop())
        polling, reporting = (threading.Thread(target=self._guard, args=[work], daemon=True)
                              for work in (self._poll_loop, self._report_loop))
        with ThreadPoolExecutor(self.slots) as self._pool:
            polling.start()
            reporting.start()
            self._wait_for_end(polling)
            with self._news:
                self._is_over = True
                for context in self._running.values():
                    context._stop.set()
                self._news.notify_all()
        if self._session is None:
            self.client.interrupt(polling)
        for thread in (polling, reporting):
            thread.join(timeout=_LAST_WORDS / 2)
        if self._error:
            raise self._error
        if self._session is not None:
            self._close()

    def _wait_for_end(self, polling):
        end = None  # of the patience with a server that takes no reports
        while not self._is_stopping and not self._error:
            with self._news:
                self._news.wait(0.1)
        # If the server is just about to open the session, the worker has to sign off.
        words = time.monotonic() + _LAST_WORDS
        while self._session is None and polling.is_alive() and time.monotonic() < words:
            polling.join(timeout=0.05)
        while True:
            with self._news:
                if self._error or self._session is None:
                    return
                is_asking, is_working = self._is_asking, bool(self._running)
                if not is_asking and not is_working and not self._done:
                    return
                if not is_asking and not is_working:
                    end = end or time.monotonic() + self.client.patience
                    if time.monotonic() > end:
                        _log.warning(
                            "%s cannot report %d results: the server is away. The steps are called again.",
                            self.worker_id, len(self._done))
                        return
            if is_asking:
                self._end_poll(polling)
            with self._news:
                self._news.wait(0.1)

    def _end_poll(self, polling):
        """A newer poll ends the one that waits for tasks, so that none is on its way when the worker ends."""
        with self._news:
            held = self._held()
        try:
            self._take(self.client.request("POST", "/worker/poll", {
                "session": self._session, "free": 0, "wait": "0s", "held": held}, timeout=_LAST_WORDS))
        except (Problem, *NOT_NOW):
            self.client.interrupt(polling)

    def _held(self):
        return list(dict.fromkeys([*self._running, *self._done]))

    def _open(self, patience):
        body = {"handlers": sorted(self._handlers), "queues": self.queues, "slots": self.slots,
                "lease": f"{int(self.lease * 1000)}ms", "sdk": "python"}
        if self.worker_id:
            body["worker_id"] = self.worker_id
        answer = self.client.repeat("POST", "/worker/sessions", body, patience=patience,
                                    is_over=lambda: self._is_stopping)
        with self._news:
            self.worker_id = answer["worker_id"]
            self._wait = answer["max_wait"]
            self._session = answer["session"]

    def _close(self):
        try:
            # The connection may be older than the server keeps one, so the first request may fail.
            self.client.repeat("POST", "/worker/close", {"session": self._session}, patience=_LAST_WORDS / 2,
                               timeout=_LAST_WORDS)
        except (Problem, *NOT_NOW):
            pass  # The lease ends by itself.

    def _guard(self, work):
        try:
            work()
        except Exception as error:  # pylint: disable=broad-except
            with self._news:
                # A worker that is to stop and has never reached the server has nothing to say.
                if not self._is_over and not (self._is_stopping and self._session is None):
                    self._error = self._error or error
                self._news.notify_all()
        finally:
            self.client.close()

    def _send(self, path, body):
        """The answer, or None if the server cannot take it now."""
        try:
            return self.client.request("POST", path, {"session": self._session, **body})
        except Problem as problem:
            if problem.code == "worker_displaced":
                raise Displaced(problem.detail) from None
            if problem.code == "invalid_session":
                self._reopen()
            elif not problem.is_transient:
                raise
        except NOT_NOW:
            pass
        return None

    def _reopen(self):
        """Not after the end: the worker has signed off."""
        if self._is_over:
            return
        try:
            self._open(patience=0)
        except NOT_NOW:
            pass
        except Problem as problem:
            if not problem.is_transient:
                raise

    def _sleep(self, seconds):
        with self._news:
            self._news.wait_for(lambda: self._is_over, seconds)

    def _poll_loop(self):
        self._open(self.client.patience)
        pause = 0.05
        while not self._is_over:
            with self._news:
                self._is_asking = not self._is_stopping
                free = self.slots - len(self._running) if self._is_asking else 0
                body = {"free": max(free, 0), "wait": self._wait if self._is_asking else "200ms",
                        "held": self._held()}
            answer = self._send("/worker/poll", body)
            if answer is not None:
                self._take(answer)
            with self._news:
                self._is_asking = False
                self._news.notify_all()
            if answer is not None and not answer["drain"]:
                pause = 0.05
                continue
            self._sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, 2.0)

    def _take(self, answer):
        with self._news:
            for token in answer["stop"] + answer["lost"]:
                if token in self._running:
                    self._running[token]._stop.set()
            for task in answer["tasks"]:
                token = task["task"]
                if token in self._running or token in self._done or token in self._finished:
                    continue
                self._running[token] = Context(self, task)
                self._pool.submit(self._call, self._running[token])

    def _call(self, context):
        try:
            value = self._handlers[context.handler](context.input, context)
            result = value if isinstance(value, Result) else Result(value)
            report = {"completed": {"output": result.output, "handle": result.handle}}
            if len(json_text(result.output)) > _OUTPUT_BYTES_MAX:
                raise Failure("The output is too large.", code="invalid_output", permanent=True)
        except Pause:
            report = {"paused": True}
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except
            report = {"failed": report_of(error)}
        with self._news:
            del self._running[context.token]
            self._done[context.token] = {"task": context.token, **report}
            self._news.notify_all()

    def _note(self, token, progress=None, line=None):
        with self._news:
            note = self._notes.setdefault(token, {"task": token})
            if progress is not None:
                note["progress"] = progress
            if line is not None:
                lines = note.setdefault("log", [])
                if len(lines) < 100:
                    lines.append(line)
            self._news.notify_all()

    def _refuse(self, done, problem):
        """The server refuses a request as a whole. The next one has a single report; if that is refused, its
        attempt fails."""
        token = done[0]["task"] if done else None
        if problem.status not in _NOT_ALLOWED or token in (None, self._refused):
            raise problem
        if len(done) > 1:
            self._together = 1
            return
        self._refused = token
        failed = done[0].get("failed")
        message = f"The outcome was refused: {problem.detail}"
        _log.warning("%s: %s", self.worker_id, message)
        report = {"message": plain_text(f"{failed['message']}\n{message}"), "code": "error"} if failed else {
            "message": plain_text(message), "code": "invalid_output", "permanent": True}
        with self._news:
            self._done[token] = {"task": token, "failed": report}

    def _report_loop(self):
        pause = 0.02
        while not self._is_over:
            with self._news:
                if not self._done and not self._notes:
                    self._news.wait(0.5)
                    continue
                done = list(self._done.values())[:self._together]
                notes, self._notes = list(self._notes.values())[:64], dict(list(self._notes.items())[64:])
            try:
                answer = self._send("/worker/complete", {"done": done, "notes": notes})
            except Problem as problem:
                self._refuse(done, problem)
                continue
            if answer:
                self._together = _TOGETHER_MAX
                self._take(answer)
            with self._news:
                if answer is None:
                    for note in notes:
                        self._notes.setdefault(note["task"], note)
                is_pending = answer is None
                for result in answer["results"] if answer else ():
                    if result["outcome"] == "pending":
                        is_pending = True
                        continue
                    self._done.pop(result["task"], None)
                    self._finished[result["task"]] = True
                    while len(self._finished) > _REMEMBERED:
                        self._finished.popitem(last=False)
                self._news.notify_all()
            pause = min(pause * 2, 2.0) if is_pending else 0.02
            if is_pending:
                self._sleep(pause)
