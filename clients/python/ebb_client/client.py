"""The HTTP API of `ebb serve`."""

import http.client
import json
import threading
import time
import urllib.parse
import uuid


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


class Client:
    """Thread-safe. Each thread has a connection of its own.

    Every request may be sent again after its answer was lost: a start without a key gets an
    `Idempotency-Key`, a signal a request id. So a broken connection is tried again for
    `patience` seconds.

    `tls` is an `ssl.SSLContext` with the authorities to trust and, to log in by a certificate instead of a
    token, that certificate (`load_cert_chain`). Without it, the authorities of the system count."""

    def __init__(self, url, token=None, timeout=90.0, patience=30.0, tls=None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the URL of a server, such as http://127.0.0.1:8322")
        self._is_tls = parts.scheme == "https"
        if tls is not None and not self._is_tls:
            raise ValueError(f"{url!r} does not use TLS, so a TLS context has no effect; use https://")
        self._options = {"timeout": timeout, **({"context": tls} if tls is not None else {})}
        self._address = (parts.hostname, parts.port)
        self._base = parts.path.rstrip("/") + "/api/v1"
        self._token = token
        self._patience = patience
        self._local = threading.local()

    def _connection(self):
        connection = getattr(self._local, "connection", None)
        if connection is None:
            make = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
            connection = self._local.connection = make(*self._address, **self._options)
        return connection

    def close(self):
        """Closes the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def request(self, method, path, body=None, headers=None):
        """One request without repetition. Returns the decoded answer, or None. Raises Problem, OSError
        or http.client.HTTPException."""
        sent = {"Accept": "application/json", **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
            sent["Content-Type"] = "application/json"
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        connection = self._connection()
        try:
            connection.request(method, self._base + path, data, sent)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if response.status < 400:
            return json.loads(text) if text else None
        try:
            document = json.loads(text)
        except ValueError:
            document = {}
        raise Problem(response.status, document)

    def repeat(self, method, path, body=None, headers=None):
        """As `request`, but tries again while the server cannot be reached or is busy."""
        end = time.monotonic() + self._patience
        pause = 0.05
        while True:
            try:
                return self.request(method, path, body, headers)
            except Problem as problem:
                if not problem.is_transient or time.monotonic() + pause > end:
                    raise
            except (OSError, http.client.HTTPException):
                if time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 2.0)

    def start(self, workflow, input=None, key=None, version=None, priority=None):
        """Starts an instance and returns its id. Starting twice with one key yields one instance."""
        body = {"workflow": workflow, "input": input}
        body.update({name: value for name, value in
                     (("key", key), ("version", version), ("priority", priority)) if value is not None})
        headers = None if key else {"Idempotency-Key": uuid.uuid4().hex}
        return self.repeat("POST", "/instances", body, headers)["id"]

    def signal(self, instance, name, payload=None, request_id=None):
        body = {"name": name, "payload": payload, "request_id": request_id or uuid.uuid4().hex}
        return self.repeat("POST", f"{self._path(instance)}/signal", body)

    def cancel(self, instance, reason=""):
        return self.repeat("POST", f"{self._path(instance)}/cancel", {"reason": reason})

    def show(self, instance):
        return self.repeat("GET", self._path(instance))

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
