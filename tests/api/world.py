"""A real `ebb serve` on a free loopback port with its own store, and a client for it."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import urllib.parse

WORKFLOW = """
workflow: order
steps:
  - step: charge
    max_attempts: 1
  - decision: approve
    roles: [boss]
  - signal: paid
handlers:
  charge:
    exec: [cat]
"""

RULES = """
workflow: loan
rules:
  attributes:
    amount: {type: integer, default: 0, external: true}
    paid: {type: boolean, default: false, external: true}
  triggers:
    check:
      when: amount > 0
      do: charge
      writes: []
      mode: once
  final:
    settled: paid = true
handlers:
  charge: {exec: [cat]}
"""


def database(store, folder):
    """The URL of a store of its own, as the folder is."""
    if store == "postgres":
        # That of `./dev pg`, and a schema for each server.
        schema = pathlib.Path(folder).name.replace("-", "_").lower()
        return f"{os.environ['EBB_TEST_POSTGRES_URL']}?schema={schema}"
    return {"memory": "memory:", "sqlite": f"sqlite:{folder}/ebb.db"}.get(store, store)


class Server:
    """Stopped when its `with` block ends."""

    def __init__(self, ebb, store, folder, arguments=(), files=(), environment=(), user=None):
        self.folder = pathlib.Path(folder)
        url = database(store, self.folder)
        command = [os.path.abspath(ebb), "serve", *files, "--json", "--login-link", "--db", url]
        command += ["--listen", "127.0.0.1:0", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env={**os.environ, "EBB_DB": "", **dict(environment)}, user=user,
        )
        self.log = []
        self.news = threading.Condition()
        self.greeting = None
        for line in self.process.stdout:
            entry = json.loads(line)
            self.log.append(entry)
            if entry.get("event") == "serving":
                self.greeting = entry
                break
        if self.greeting is None:
            raise RuntimeError(self.process.stderr.read())
        self.port = int(self.greeting["addresses"][0].rsplit(":", 1)[1])
        self.login = self.greeting.get("login", "#login=").split("#login=")[1]
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    def _drain(self):
        with contextlib.suppress(ValueError):
            for line in self.process.stdout:
                with self.news:
                    self.log.append(json.loads(line))
                    self.news.notify_all()

    def wait_for(self, event, count=1, **fields):
        """The last of `count` log entries with this name and these fields, once they have been written."""
        def found():
            wanted = {"event": event, **fields}.items()
            return [entry for entry in self.log if wanted <= entry.items()]
        with self.news:
            assert self.news.wait_for(lambda: len(found()) >= count, timeout=120), f"no {event}: {self.log}"
            return found()[count - 1]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self._reader.join(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)

    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Client:
    """One keep-alive connection. Checks every exchange with the API against the API's document."""

    def __init__(self, server, contract, token=None, cookie=None, base=""):
        self.server = server
        self.contract = contract
        self.token = token
        self.cookie = cookie
        self.base = base
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def raw(self, method, path, body=None, headers=None):
        sent = dict(headers or {})
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if self.cookie:
            sent.setdefault("Cookie", self.cookie)
            # As a browser sends it.
            if "Origin" not in sent:
                sent.setdefault("Sec-Fetch-Site", "same-origin")
        self.connection.request(method, path, body, sent)
        response = self.connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, names, response.read().decode())

    def __call__(self, method, path, body=None, headers=None, query=None):
        """`path` is relative to /api/v1. A body that is not a string is sent as JSON."""
        sent = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        target = f"{self.base}/api/v1{path}"
        if query:
            target += "?" + urllib.parse.urlencode(query, doseq=True)
        answer = self.raw(method, target, body, sent)
        self.contract.check(method, path, answer.status, answer.headers, answer.body)
        return answer

    def get(self, path, **query):
        return self("GET", path, query=query)

    def post(self, path, body=None, headers=None, **query):
        return self("POST", path, body, headers, query)

    def close(self):
        self.connection.close()


def get_with_headers(server, path, headers):
    """The status and the detail of a problem; a name may be there twice."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.putrequest("GET", path)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()).get("detail")
    finally:
        connection.close()


def log_in(server, contract):
    """A client with a session, obtained through the link that the server prints."""
    client = Client(server, contract)
    answer = client.post("/session", {"login": server.login})
    assert answer.status == 200, answer.body
    client.cookie = answer.headers["set-cookie"].split(";")[0]
    return client


class Folder:
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="ebb-api-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
