#!/usr/bin/env python3
"""A payment service for docs/how-to/call.md. Writes its URL to the file given, then serves until killed.

It is down for the first call (503 with Retry-After), refuses amounts that are not positive, and knows a
repeated Idempotency-Key again.
"""

import http.server
import json
import os
import sys


class Service(http.server.BaseHTTPRequestHandler):
    calls = 0
    charges = {}

    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        Service.calls += 1
        if order["amount"] <= 0:
            self._answer(422, {"error": "the amount must be positive"})
        elif Service.calls == 1:
            # The charge is made, but the answer gets lost on the way.
            self._charge(key)
            self._answer(503, {"error": "try again"}, retry_after=1)
        else:
            self._answer(201, {"charge": self._charge(key)})

    def _charge(self, key):
        return self.charges.setdefault(key, len(self.charges) + 1)

    def _answer(self, status, body, retry_after=None):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def main(path):
    server = http.server.HTTPServer(("127.0.0.1", 0), Service)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"http://127.0.0.1:{server.server_port}")
    os.rename(path + ".new", path)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
