"""Workers of WED-SQL: the class `BaseWorker.BaseClass` of its second version, for flows in SQL of Ebb.

A worker serves one transition. It holds a transaction open while it works: claim by an advisory lock,
UPDATE of wed_flow, COMMIT. So what it writes in the database happens exactly once, and a killed worker
leaves nothing behind. For long work, and for workflows of every kind, `ebb_client.sql.Worker` is the better
class: it holds no transaction.
"""

import abc
import json
import logging
import os
import select
import signal
import threading

from ._postgres import Notices, ask as _ask, connect as _connect, driver as _driver
from ._postgres import quoted as _quoted, state_of as _state_of, tell as _tell
from .handlers import plain_text

__all__ = ["BaseClass", "WEDWorkerTemplate"]

_log = logging.getLogger("ebb_client.wed")

_PAGE = 100  # jobs that one look at the pool takes
_PAUSE_MIN, _PAUSE_MAX = 0.1, 5.0  # seconds before it connects again
_POLL = 0.5  # seconds between looks when a retry is due: a process of Ebb makes it ready
_TRIES_MAX = 5  # of a transaction that another one was faster than
_TRY_AGAIN = {"40001", "40P01", "55P03"}
# Another one was faster, or the instance has ended or ebbs back: there is nothing to do any more.
_GONE = {"EB002", "EB003", "EB009"}
# A final state while others are pending: the job stays, and is done again when the pool is looked at.
_REFUSED_FOR_NOW = {"EB005"}
_OVERSTAYED = "25P03"
# A write that is refused: an attribute that is not allowed, an invariant, a condition that fails. As in
# Ebb's own workers, the same attempt again would end in the same way.
_REFUSED_FOR_GOOD = {"EB006", "EB008", "23514"}
_NO_SUCH_FUNCTION = "42883"

_NEXT = ("SELECT wid, tgid FROM job_pool WHERE trname = %s AND (wid, tgid) > (%s, %s){} "
         "ORDER BY wid, tgid LIMIT %s")
_IS_DUE = " AND status = 'ready'"
_DUE = ("SELECT extract(epoch FROM min(due_at) - clock_timestamp()) FROM job_pool "
        "WHERE trname = %s AND status = 'retrying'")


def _update(wid, change):
    """The statement for what `wed_trans` returned, and its values."""
    if isinstance(change, str):
        # The line ends before WHERE, lest a comment at the end of the text makes this an UPDATE of all rows.
        return f"UPDATE wed_flow SET {change}\nWHERE wid = {wid}", ()
    names = ", ".join(f"{_quoted(name)} = %s" for name in change)
    values = (json.dumps(value) if isinstance(value, (dict, list)) else value for value in change.values())
    return f"UPDATE wed_flow SET {names} WHERE wid = {wid}", tuple(values)


def _keys_of(notice):
    """(wid, tgid) of a notification, or None if it has another form: then the pool is looked at."""
    try:
        content = json.loads(notice)
        return int(content["wid"]), int(content["tgid"])
    except (ValueError, TypeError, KeyError):
        return None


class BaseClass(abc.ABC):
    """`trname`: the transition. `dbs`: a connection string of libpq; the flow's schema is first in the
    role's search_path, or named by `schema`. `wakeup_interval`: seconds between looks at the pool when
    nothing rings."""

    def __init__(self, trname, dbs, wakeup_interval=60, schema=None):
        self.trname = trname
        self.dbs = dbs
        self.wakeup_interval = wakeup_interval
        self.schema = schema
        self.connection = None
        self._notices = None
        self._has_outcomes = False  # whether the server keeps failures and retries (v2 does not)
        self._overstayed = None
        self._is_stopping = False
        self._bell, self._ringer = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._ringer, False)
        self._open()
        try:
            rows = _ask(self.connection, "SELECT cpred FROM wed_trig WHERE trname = %s", trname)
        finally:
            self._close()
        if not rows:
            raise _driver.DataError(f'There is no transition "{trname}" in wed_trig.')
        self.wed_cond = rows[0][0]

    @abc.abstractmethod
    def wed_trans(self, payload):
        """Does the work. `payload`: the attributes as they were when the transition was fired, a dict.
        Returns the changes, as the text of a SET list or as a dict; None or another false value gives the
        job back.

        It may use `self.connection`, whose transaction ends with the job: do not commit it. An exception
        fails the attempt."""

    def stop(self):
        """Takes no more jobs; `run` returns when the present one has ended."""
        self._is_stopping = True
        try:
            os.write(self._ringer, b"x")
        except BlockingIOError:
            pass  # it rings already

    def run(self):
        """Works until `stop` or SIGTERM. Ctrl-C raises KeyboardInterrupt, as ever: the job is given back."""
        in_main_thread = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGTERM, lambda *_: self.stop()) if in_main_thread else None
        pause = _PAUSE_MIN
        try:
            while not self._is_stopping:
                try:
                    self._open()
                    pause = _PAUSE_MIN
                    self._serve()
                except _driver.Error as error:
                    if self.connection is not None and not self.connection.closed:
                        raise  # such as a missing right: no new connection helps
                    _log.warning("%s: the connection is lost, trying again in %.1f s: %s",
                                 self.trname, pause, error)
                    self._close()
                    self._sleep(pause)
                    pause = min(pause * 2, _PAUSE_MAX)
        finally:
            self._close()
            if in_main_thread:
                signal.signal(signal.SIGTERM, before)

    def _open(self):
        self.connection = _connect(self.dbs, autocommit=True)
        if self.schema is not None:
            _tell(self.connection, f"SET search_path = {_quoted(self.schema)}, pg_catalog")
        # Before the pool is looked at: what is fired in between rings.
        self._notices = Notices(self.connection, self.trname.lower())
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT * FROM job_pool LIMIT 0")
            self._has_outcomes = {"job", "status", "due_at"} <= {column[0] for column in cursor.description}

    def _close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def _serve(self):
        if self._overstayed is not None:
            self._report(*self._overstayed)
            self._overstayed = None
        self._look()
        while not self._is_stopping:
            heard = self._notices.take() or self._wait()
            keys = {_keys_of(notice) for notice in heard}
            if not heard or None in keys:
                self._look()
                continue
            for wid, tgid in sorted(keys):
                self._perform(wid, tgid)

    def _wait(self):
        """Until something rings, or it is time to look. Returns what has come."""
        wait = self.wakeup_interval
        if self._has_outcomes:
            due = _ask(self.connection, _DUE, self.trname)[0][0]
            wait = wait if due is None else min(wait, max(_POLL, float(due)))
            # One that came with the answer does not make the socket readable any more.
            if heard := self._notices.take():
                return heard
        ready, _, _ = select.select([self.connection.fileno(), self._bell], [], [], wait)
        return self._notices.take() if self.connection.fileno() in ready else []

    def _sleep(self, seconds):
        select.select([self._bell], [], [], seconds)

    def _look(self):
        """Performs every job of the pool once, a page after the other."""
        wid, tgid = -1, -1
        query = _NEXT.format(_IS_DUE if self._has_outcomes else "")
        while rows := _ask(self.connection, query, self.trname, wid, tgid, _PAGE):
            for wid, tgid in rows:
                if self._is_stopping:
                    return
                self._perform(wid, tgid)

    def _perform(self, wid, tgid):
        for tries in range(1, _TRIES_MAX + 1):
            if self._is_stopping:
                return
            job = None
            try:
                _tell(self.connection, "BEGIN")
                job = self._claim(wid, tgid)
                if job is not None and self._work(wid, job[1]):
                    _tell(self.connection, "COMMIT")
                else:
                    _tell(self.connection, "ROLLBACK")
                return
            except Exception as error:  # pylint: disable=broad-except
                if not self._is_to_repeat(wid, tgid, job, error):
                    return
                self._sleep(0.01 * 2 ** tries)

    def _claim(self, wid, tgid):
        """(job, payload) if this transaction has it now, else None: another one has it, or it is gone."""
        if not _ask(self.connection, f"SELECT pg_try_advisory_xact_lock({int(wid)}, {int(tgid)})")[0][0]:
            return None
        # A second statement, so that it sees what the one that had the lock before has committed.
        job, is_due = ("job", _IS_DUE) if self._has_outcomes else ("NULL", "")
        rows = _ask(self.connection, f"SELECT {job}, payload::text FROM job_pool "
                                     f"WHERE wid = %s AND tgid = %s AND trname = %s{is_due}",
                    wid, tgid, self.trname)
        return rows[0] if rows else None

    def _work(self, wid, payload):
        """Whether there is something to commit."""
        change = self._call(wid, json.loads(payload))
        if not change:
            return False
        text, values = _update(wid, change)
        if _tell(self.connection, text, *values) != 1:
            raise _driver.DataError(f"There is no row {wid} in wed_flow.")
        return True

    def _call(self, wid, payload):
        return self.wed_trans(payload)

    def _is_to_repeat(self, wid, tgid, job, error):
        """Ends the transaction, and reports the failure if it is one. Raises if the connection is lost."""
        state = _state_of(error)
        if self.connection.closed:
            if state == _OVERSTAYED and job is not None:
                self._overstayed = (wid, tgid, job[0], "The job was not done within its timeout.")
            raise error
        _tell(self.connection, "ROLLBACK")
        if state in _TRY_AGAIN:
            return True
        if state in _GONE or state in _REFUSED_FOR_NOW:
            _log.info("%s: %s of instance %s: %s", self.trname, state, wid, error)
            return False
        message = plain_text(f"{type(error).__name__}: {error}".strip())
        _log.warning("%s: instance %s: %s", self.trname, wid, message)
        self._report(wid, tgid, job and job[0], message, state in _REFUSED_FOR_GOOD)
        return False

    def _report(self, wid, tgid, job, message, is_permanent=False):
        """The attempt has failed: the server counts it, and says when it is due again."""
        if job is None:
            return
        _tell(self.connection, "BEGIN")
        try:
            if self._claim(wid, tgid) is not None:
                _ask(self.connection, "SELECT wed_fail(%s, %s, %s)", job, message, is_permanent)
            _tell(self.connection, "COMMIT")
        except _driver.Error as error:
            if self.connection.closed:
                raise
            _tell(self.connection, "ROLLBACK")
            if _state_of(error) != _NO_SUCH_FUNCTION:
                _log.warning("%s: the failure could not be reported: %s", self.trname, error)


class WEDWorkerTemplate(BaseClass):
    """The later class of WED-SQL: `wed_trans` is also given the number of the instance."""

    @abc.abstractmethod
    def wed_trans(self, wed_state, wid):  # pylint: disable=arguments-differ
        """As `BaseClass.wed_trans`; `wid`: the instance."""

    def _call(self, wid, payload):
        return self.wed_trans(payload, wid)
