"""The HTTP API of `ebb serve`."""

import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
import weakref

NOT_NOW = (OSError, http.client.HTTPException)  # what a request raises while the server is away
_SLICE = 0.1  # seconds, after which a sleep looks if it is still wanted
_KEEP = object()


class Problem(Exception):
    """The server has refused a request. `code` is stable, `detail` is a sentence for people."""

    def __init__(self, status, document):
        self.status = status
        self.document = document
        self.code = document.get("code", "unknown")
        self.detail = document.get("detail", "")
        super().__init__(f"{self.code} ({status}): {self.detail}")

    @property
    def is_transient(self):
        """The same request may succeed later."""
        return self.status in (408, 429, 500, 502, 503, 504, 507)


class TlsError(Exception):
    """The server's certificate is not trusted, or the server refuses that of the client, or it does not
    use TLS. It is raised at once, because no repetition helps."""


def _tls_error(url, error):
    """The sentence for what no repetition helps against; None for a connection that was cut."""
    reason = getattr(error, "reason", None) or ""
    if isinstance(error, ssl.SSLCertVerificationError):
        return TlsError(f"The certificate of {url} is not trusted: {error.verify_message}. "
                        "The argument tls= takes an ssl.SSLContext with the authorities to trust.")
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)) or "EOF" in reason:
        return None
    if "ALERT" in reason:
        return TlsError(f"{url} refuses this client: {reason.lower().replace('_', ' ')}. "
                        "The argument tls= takes an ssl.SSLContext with the certificate to log in by.")
    return TlsError(f"There is no TLS with {url}: {reason.lower().replace('_', ' ') or error}.")


class Client:
    """Thread-safe. Each thread has a connection of its own.

    Every request may be sent again after its answer was lost: a start without a key gets an
    `Idempotency-Key`, a signal and a decision a request id. So a broken connection is tried again for
    `patience` seconds. A `Problem` is what the server has refused, a `TlsError` what no repetition helps
    against; any other exception means that the server cannot be reached.

    `tls` is an `ssl.SSLContext` with the authorities to trust and, to log in by a certificate instead of a
    token, that certificate (`load_cert_chain`). Without it, the authorities of the system count."""

    def __init__(self, url, token=None, timeout=90.0, patience=30.0, tls=None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the URL of a server, such as http://127.0.0.1:8322")
        self._is_tls = parts.scheme == "https"
        if tls is not None and not self._is_tls:
            raise ValueError(f"{url!r} does not use TLS, so a TLS context has no effect; use https://")
        self._url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._options = {"context": tls} if tls is not None else {}
        self._timeout = timeout
        self._address = (parts.hostname, parts.port)
        self._base = parts.path.rstrip("/") + "/api/v1"
        self._token = token
        self._patience = patience
        self._local = threading.local()
        self._connections = weakref.WeakValueDictionary()  # by thread, for as long as it lives

    @property
    def patience(self):
        return self._patience

    def _connect(self):
        make = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
        return make(*self._address, timeout=self._timeout, **self._options)

    def _connection(self):
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            self._connections[threading.get_ident()] = connection
        return connection

    def close(self):
        """Closes the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def interrupt(self, thread):
        """Ends the request of another thread, which gets an OSError."""
        connection = self._connections.get(thread.ident)
        sock = connection and connection.sock
        if sock:
            try:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # That of TLS would disturb a read.
            except OSError:
                pass  # It has ended by itself.

    def _send(self, connection, method, path, body, headers):
        sent = {"Accept": "application/json", **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
            sent["Content-Type"] = "application/json"
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, self._base + path, data, sent)
            response = connection.getresponse()
            if response.status >= 400:
                raise Problem(response.status, _document(response.read()))
            return response
        except ssl.SSLError as error:
            raise _tls_error(self._url, error) or error from None

    def request(self, method, path, body=None, headers=None, timeout=None):
        """One request without repetition. Returns the decoded answer, or None. Raises Problem, TlsError,
        OSError or http.client.HTTPException. `timeout`: seconds, instead of the client's."""
        connection = self._connection()
        connection.timeout = timeout or self._timeout
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        try:
            text = self._send(connection, method, path, body, headers).read()
        except (TlsError, *NOT_NOW):
            self.close()
            raise
        return json.loads(text) if text else None

    def repeat(self, method, path, body=None, headers=None, patience=None, timeout=None, is_over=None):
        """As `request`, but tries again while the server cannot be reached or is busy. `patience`: for how
        many seconds, instead of the client's; `is_over()` says that it is to end at once."""
        end = time.monotonic() + (self._patience if patience is None else patience)
        pause = 0.05
        while True:
            try:
                return self.request(method, path, body, headers, timeout)
            except (Problem, *NOT_NOW) as error:
                is_final = isinstance(error, Problem) and not error.is_transient
                if is_final or time.monotonic() + pause > end or not _sleep(pause, is_over):
                    raise
            pause = min(pause * 2, 2.0)

    def start(self, workflow, input=None, key=None, version=None, priority=None, labels=None):
        """Starts an instance and returns its id. Starting twice with one key yields one instance.
        `labels`: a dict of texts, numbers, booleans or `{"time": "2026-01-31T12:00:00Z"}`."""
        body = {"workflow": workflow, "input": input, **_given(
            key=key, version=version, priority=priority, labels=labels)}
        headers = None if key else {"Idempotency-Key": uuid.uuid4().hex}
        return self.repeat("POST", "/instances", body, headers)["id"]

    def rerun(self, instance, input=_KEEP, key=None, version=None):
        """Starts the work of an instance that has failed or was cancelled or aborted again, with its input,
        labels and priority, on the newest version. Returns the id of the new instance; the old one does not
        change. `input`: another input."""
        body = {**({} if input is _KEEP else {"input": input}), **_given(key=key, version=version)}
        headers = None if key else {"Idempotency-Key": uuid.uuid4().hex}
        return self.repeat("POST", f"{self._path(instance)}/rerun", body, headers)["id"]

    def signal(self, instance, name, payload=None, request_id=None, revision=None):
        """Sends a signal: `payload` becomes the output of the step that waits for it."""
        return self._act(instance, "signal", revision, name=name, payload=payload,
                         request_id=request_id or uuid.uuid4().hex)

    def decide(self, instance, verdict, role=None, comment=None, node=None, by=None, request_id=None,
               revision=None):
        """Decides what waits for a person. `verdict`: `confirm` or `reject`. `node` names the decision if
        several are awaited; `by` is the user in whose name it is done (permission `act_as`)."""
        return self._act(instance, "decide", revision, verdict=verdict, **_given(
            role=role, comment=comment, node=node, by=by), request_id=request_id or uuid.uuid4().hex)

    def cancel(self, instance, reason="", revision=None):
        """Stops the instance and compensates what it did."""
        return self._act(instance, "cancel", revision, reason=reason)

    def abort(self, instance, reason="", revision=None):
        """Stops the instance and compensates nothing."""
        return self._act(instance, "abort", revision, reason=reason)

    def pause(self, instance, reason="", revision=None):
        """Nothing more starts until `resume`."""
        return self._act(instance, "pause", revision, reason=reason)

    def resume(self, instance, revision=None):
        return self._act(instance, "resume", revision)

    def requeue(self, instance, input=_KEEP, skip_compensation=False, revision=None):
        """Lets a dead-lettered instance try again where it froze. `input`: a new input of the failed step.
        `skip_compensation`: skips the compensation that failed for good."""
        body = {} if input is _KEEP else {"input": input}
        if skip_compensation:
            body["skip_compensation"] = True
        return self._act(instance, "requeue", revision, **body)

    def _act(self, instance, act, revision, **body):
        """The instance after the act. If it no longer has the revision, Problem `precondition_failed`."""
        headers = None if revision is None else {"If-Match": f'"{revision}"'}
        return self.repeat("POST", f"{self._path(instance)}/{act}", body, headers)

    def show(self, instance):
        return self.repeat("GET", self._path(instance))

    def list(self, workflow=None, status=None, where=None, labels=None, key=None, key_prefix=None,
             created_after=None, created_before=None, limit=None):
        """Yields instances, the newest first, and gets page after page. `status`: one or several; `where`: a
        filter; `labels`: a dict of texts; times are RFC 3339. `limit`: how many at most."""
        if isinstance(status, (tuple, list, set)):
            status = ",".join(sorted(status))
        query = _given(workflow=workflow, status=status, where=where, key=key, key_prefix=key_prefix,
                       created_after=created_after, created_before=created_before)
        query["label"] = [f"{name}:{value}" for name, value in (labels or {}).items()]
        left = float("inf") if limit is None else limit
        while left > 0:
            query["limit"] = min(left, 100)
            page = self.repeat("GET", "/instances?" + urllib.parse.urlencode(query, doseq=True))
            yield from page["items"]
            left -= len(page["items"])
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]

    def events(self, instance, after=0):
        """Yields the history, event by event, as it grows, and returns when the instance has ended. `after`:
        the `seq` of the last event that is known. A stream that breaks is continued exactly there; each
        break may last for the client's patience."""
        end, pause = None, 0.05
        while True:
            try:
                for name, data in self._stream(f"{self._path(instance)}/events", after):
                    end = None
                    if name == "end":
                        return
                    if name == "history":
                        event = json.loads(data)
                        after, pause = event["seq"], 0.05
                        yield event
            except (Problem, *NOT_NOW) as error:
                end = end or time.monotonic() + self._patience
                is_final = isinstance(error, Problem) and not error.is_transient
                if is_final or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 2.0)

    def _stream(self, path, after):
        """The server-sent events of one connection, as (name, data)."""
        connection = self._connect()
        try:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
            response = self._send(connection, "GET", path, None, headers)
            yield "open", ""
            name, data = "message", []
            for line in response:
                field, _, value = line.decode().rstrip("\r\n").partition(":")
                value = value[1:] if value.startswith(" ") else value
                if field == "event":
                    name = value
                elif field == "data":
                    data.append(value)
                elif not field and not value and data:
                    yield name, "\n".join(data)
                    name, data = "message", []
        finally:
            connection.close()

    def result(self, instance, wait=60.0):
        """Waits up to `wait` seconds for the end. A dict with `is_finished`, `status`, `output` and
        `error`."""
        end = time.monotonic() + wait
        while True:
            rest = max(0.0, min(30.0, end - time.monotonic()))
            answer = self.repeat("GET", f"{self._path(instance)}/result?wait={int(rest * 1000)}ms")
            if answer["is_finished"] or time.monotonic() >= end:
                return answer

    @staticmethod
    def _path(instance):
        return "/instances/" + urllib.parse.quote(instance, safe="")


def _given(**members):
    return {name: value for name, value in members.items() if value is not None}


def _document(text):
    try:
        document = json.loads(text)
    except ValueError:
        document = {}  # A proxy has answered.
    return document if isinstance(document, dict) else {}


def _sleep(seconds, is_over):
    """False if it is over. In slices, because a signal does not end a sleep."""
    end = time.monotonic() + seconds
    while is_over is None or not is_over():
        rest = end - time.monotonic()
        if rest <= 0:
            return True
        time.sleep(min(rest, _SLICE) if is_over else rest)
    return False
