"""A worker that speaks to PostgreSQL only: it runs handlers without a server between it and the database.

It needs psycopg 3 or psycopg2, and a database where `ebb migrate --sql-workers` was run. What a handler
writes with `context.connection` is committed together with the end of its step, or not at all. The outcomes
of handlers that did not use it are handed in together, in the transaction of the next claim.
"""

import json
import logging
import os
import queue
import select
import signal
import socket
import threading
import time

from ._postgres import Notices, ask as _ask, connect as _connect, driver as _driver
from ._postgres import quoted as _quoted, state_of as _state_of
from .handlers import Failure, Handlers, Pause, Result, Stopped, json_text, plain_text, report_of

_log = logging.getLogger("ebb_client.sql")

__all__ = ["Context", "Failure", "Pause", "Result", "Stopped", "Worker"]

_COLUMNS = ("job", "instance_id", "workflow", "version", "key", "step", "handler", "queue", "attempt",
            "max_attempts", "idempotency_key", "input", "payload", "compensates", "deadline")
_AS_TEXT = ("instance_id", "input", "payload", "compensates")
_CLAIM = "SELECT {} FROM {}.work_claim(%s, %s)"
_NEXT = "SELECT {} FROM {}.work_next(%s, %s::jsonb, %s)"
_TOGETHER_MAX = 1000
_SESSION_GONE = "EB010"
# An output that is too large, or has a character that jsonb does not have: as in Ebb's own workers, the same
# attempt again would end in the same way.
_INVALID_OUTPUT = {"EB011", "22P05"}
_WAIT_MAX = 20.0
_PAUSE_MAX = 5.0


class Context:
    """One call. The attributes are the columns of work_job: job, instance_id, workflow, version, key,
    step, handler, queue, attempt, max_attempts, idempotency_key, input, payload, compensates, deadline."""

    def __init__(self, row):
        for name, value in zip(_COLUMNS, row):
            is_json = name in ("input", "payload", "compensates")
            setattr(self, name, json.loads(value) if is_json and value is not None else value)
        self._stop = threading.Event()
        self._open = None
        self._has_opened = False
        self._failure = None  # the message of the one that is reported

    @property
    def connection(self):
        """The thread's connection. Its transaction ends with the step: do not commit it."""
        self._has_opened = True
        return self._open()

    @property
    def is_stopped(self):
        """Whether the result is not wanted any more: cancel, or a lost lease."""
        return self._stop.is_set()

    def wait_for_stop(self, seconds):
        """Sleeps, but not longer than until the call is to stop. Returns is_stopped."""
        return self._stop.wait(seconds)

    def heartbeat(self):
        """Raises Stopped if the call is to stop."""
        if self.is_stopped:
            raise Stopped(f"{self.step} is to stop")

    def pause(self):
        raise Pause()


class Worker(Handlers):
    def __init__(self, url, name=None, slots=4, queues=(), lease=30.0, schema="ebb"):
        """`slots`: how many handlers run at the same time, each in a thread with a connection.
        `lease`: seconds after which the tasks of a worker that is gone are taken from it."""
        super().__init__()
        self.url = url
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.slots = slots
        self.queues = list(queues)
        self.lease = lease
        self._schema = _quoted(schema)
        columns = ", ".join(f"{name}::text" if name in _AS_TEXT else name for name in _COLUMNS)
        self._claim = _CLAIM.format(columns, self._schema)
        self._next = _NEXT.format(columns, self._schema)
        self._lock = threading.Lock()
        self._running = {}  # by job
        self._jobs = queue.SimpleQueue()
        self._ended = []  # contexts with the text of their outcome, to be handed in with the next claim
        self._session = None
        self._joined = 0  # how often
        self._notices = None
        self._is_stopping = False
        self._is_over = threading.Event()
        self._bell, self._ringer = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._ringer, False)

    def stop(self):
        """Takes no more tasks; `run` returns when the running handlers have ended."""
        self._is_stopping = True
        self._ring()

    def run(self, handle_signals=True):
        """Works until `stop`, SIGTERM or SIGINT. Raises the database's error if it refuses the worker."""
        if handle_signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.stop())
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self.slots)]
        beat = threading.Thread(target=self._beat, daemon=True)
        control = self._join()
        for thread in (*threads, beat):
            thread.start()
        try:
            self._claim_loop(control)
        finally:
            self._is_over.set()
            for _ in threads:
                self._jobs.put(None)
            for thread in (*threads, beat):
                thread.join()

    def _call(self, function, *values):
        marks = ", ".join(["%s"] * len(values))
        return f"SELECT * FROM {self._schema}.{function}({marks})", *values

    def _join(self):
        control = _connect(self.url, autocommit=True)
        session, channel, _ = _ask(control, *self._call(
            "work_join", self.name, sorted(self._handlers), self.queues, self.slots,
            f"{self.lease} s", socket.gethostname(), os.getpid()))[0]
        self._notices = Notices(control, channel)
        self._session = str(session)
        self._joined += 1
        return control

    def _again(self):
        """A new session; what ran in the old one is lost."""
        with self._lock:
            for context in self._running.values():
                context._stop.set()
        pause = 0.1
        while not self._is_stopping:
            try:
                return self._join()
            except _driver.OperationalError:
                time.sleep(pause)
                pause = min(pause * 2, _PAUSE_MAX)
        return None

    def _claim_loop(self, control):
        while control and not (self._is_stopping and not self._running):
            try:
                if not self._step(control):
                    self._wait(control)
            except _driver.Error as error:
                if not self._has_lost_session(error):
                    raise
                control.close()
                control = self._again()
        if control:
            _ask(control, *self._call("work_leave", self._session))
            control.close()

    def _step(self, control):
        """Hands in what has ended, and claims what there is room for. Returns whether it should be done again
        at once."""
        with self._lock:
            ended, self._ended = self._ended[:_TOGETHER_MAX], self._ended[_TOGETHER_MAX:]
            free = 0 if self._is_stopping else self.slots - len(self._running) + len(ended)
        if free <= 0 and not ended:
            return False
        rows = self._exchange(control, ended, max(0, min(free, _TOGETHER_MAX)))
        for row in rows:
            context = Context(row)
            with self._lock:
                self._running[context.job] = context
            self._jobs.put(context)
        # A claim that found nothing is not repeated: what comes later rings.
        has_found_nothing = free > 0 and not rows and len(ended) < _TOGETHER_MAX
        return not has_found_nothing

    def _exchange(self, control, ended, free):
        try:
            if ended:
                texts = ",".join(text for _, text in ended)
                return _ask(control, self._next, self._session, f"[{texts}]", free)
        except _driver.Error as error:
            if self._has_lost_session(error):
                raise
            # One of them, or the claim, is refused.
            for context, text in ended:
                self._hand_in(control, context, text)
        finally:
            with self._lock:
                for context, _ in ended:
                    self._running.pop(context.job, None)
        return _ask(control, self._claim, self._session, free) if free > 0 else []

    def _hand_in(self, control, context, text):
        try:
            _ask(control, self._next, self._session, f"[{text}]", 0)
        except _driver.Error as error:
            if self._has_lost_session(error):
                raise
            self._refuse(context, control, error)

    @staticmethod
    def _has_lost_session(error):
        return isinstance(error, _driver.OperationalError) or _state_of(error) == _SESSION_GONE

    def _wait(self, control):
        # One that came with the answer of the last claim does not make the socket readable any more.
        if self._notices.take():
            return
        ready, _, _ = select.select([control.fileno(), self._bell], [], [], _WAIT_MAX)
        if self._bell in ready:
            os.read(self._bell, 4096)
        if control.fileno() in ready:
            self._notices.take()

    def _ring(self):
        try:
            os.write(self._ringer, b"x")
        except BlockingIOError:
            pass  # it rings already

    def _beat(self):
        connection = None
        while not self._is_over.wait(self.lease / 3):
            with self._lock:
                running = dict(self._running)
            try:
                connection = connection or _connect(self.url, autocommit=True)
                for job, _ in _ask(connection, *self._call("work_beat", self._session, list(running))):
                    if job in running:
                        running[job]._stop.set()
            except _driver.Error as error:
                # The claiming thread joins again.
                if _state_of(error) == _SESSION_GONE:
                    for context in running.values():
                        context._stop.set()
                    self._ring()
                else:
                    connection = None

    def _work(self):
        """One thread: it runs handlers, and keeps its connection for the next one."""
        kept = [None]
        made_at = 0  # of how many sessions it is

        def opened():
            nonlocal made_at
            if kept[0] is None:
                made_at = self._joined
                kept[0] = _connect(self.url, autocommit=False)
            return kept[0]

        while (context := self._jobs.get()) is not None:
            context._open = opened
            # What has ended the session, such as a restart of the server, may have ended this one, too.
            if kept[0] is not None and made_at != self._joined:
                kept[0].close()
                kept[0] = None
            text = None
            try:
                text = self._run(context, opened)
            except Exception as error:  # pylint: disable=broad-except
                if not self._is_refused(context, kept[0], error):
                    # Nothing is committed, or it is in doubt: the lease ends, or the outcome is there.
                    kept[0] = None
                    self._give_up(context)
            with self._lock:
                if text is None:
                    del self._running[context.job]
                else:
                    self._ended.append((context, text))
            self._ring()
        if kept[0] is not None:
            kept[0].close()

    def _run(self, context, opened):
        """Returns the text of the outcome for the next claim, or None if it has already been reported."""
        try:
            value = self._handlers[context.handler](context.input, context)
            result = value if isinstance(value, Result) else Result(value)
            output = json_text(result.output)
            if not context._has_opened:
                handle = f',"handle":{json.dumps(result.handle)}' if result.handle else ""
                return f'{{"job":{json.dumps(context.job)},"output":{output}{handle}}}'
            report = ("work_complete", output, result.handle or None)
        except Pause:
            opened().rollback()
            report = ("work_pause",)
        except (Exception, SystemExit) as error:  # pylint: disable=broad-except
            opened().rollback()
            said = report_of(error)
            context._failure = said["message"]
            report = self._failure(**said)
        answer = _ask(opened(), *self._call(report[0], self._session, context.job, *report[1:]))[0][0]
        if answer == "stale":
            opened().rollback()
        else:
            opened().commit()
        return None

    def _failure(self, message, code="error", permanent=False, retry_after=None, details=None):
        return ("work_fail", message, code, permanent, retry_after,
                None if details is None else json.dumps(details))

    def _is_refused(self, context, connection, error):
        """Whether the database has refused the outcome, and not the connection been lost."""
        if connection is None or connection.closed or _state_of(error) == _SESSION_GONE:
            return False
        try:
            connection.rollback()
            self._refuse(context, connection, error)
            connection.commit()
            return True
        except _driver.Error:
            return False

    def _refuse(self, context, connection, error):
        """Reports an outcome that cannot be stored as a failure."""
        is_invalid = _state_of(error) in _INVALID_OUTPUT
        message = plain_text(f"The outcome was refused: {str(error).strip()}")
        if context._failure is not None:
            message = plain_text(f"{context._failure}\n{message}")
            is_invalid = False
        _log.warning("%s: %s", context.job, message)
        _ask(connection, *self._call("work_fail", self._session, context.job, message,
                                     "invalid_output" if is_invalid else "error", is_invalid))

    def _give_up(self, context):
        """The outcome of the call is not known. If it was not kept, the call is made again."""
        try:
            connection = _connect(self.url, autocommit=True)
            _ask(connection, *self._call("work_fail", self._session, context.job,
                                         "The connection to the database was lost.", "connection_lost"))
            connection.close()
        except _driver.Error:
            pass  # The lease ends by itself.
