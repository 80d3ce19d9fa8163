#!/usr/bin/env python3
"""What answers say beside their bodies, and how they are compressed: answers_test.py ROOT EBB STORE"""

import gzip
import http.client
import json
import pathlib
import sys
import unittest

from contract import Contract
from world import WORKFLOW, Client, Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
# Each has a key that an outsider could choose, and a payload.
INSTANCES = 40


class Answers(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)
        (self.path / "order.yaml").write_text(WORKFLOW)

    def serve(self, *arguments):
        server = Server(EBB, STORE, self.path, ["--no-worker", *arguments], ["order.yaml"])
        self.addCleanup(server.stop)
        return server

    def fetch(self, server, client, path, **headers):
        """The answer as it is on the wire."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.addCleanup(connection.close)
        method = headers.pop("method", "GET")
        connection.request(method, path, headers={"Cookie": client.cookie, **headers})
        answer = connection.getresponse()
        return answer, answer.read()

    def test_large_answers_are_compressed_unless_they_have_payloads_or_secrets(self):
        server = self.serve()
        client = log_in(server, Contract(ROOT))
        self.addCleanup(client.close)
        batch = "".join(json.dumps({"secret": f"s{n}" * 40}) + "\n" for n in range(INSTANCES))
        lines = {"Content-Type": "application/x-ndjson"}
        self.assertEqual(client.post("/instances/batch", batch, lines, workflow="order").status, 201)
        accepts = {"Accept-Encoding": "gzip"}
        layout = "/api/v1/workflows/order/versions/1/layout"
        for path in ("/api/v1/instances", "/api/v1/openapi.json", layout):
            plain, whole = self.fetch(server, client, path)
            packed, bytes_ = self.fetch(server, client, path, **accepts)
            self.assertIsNone(plain.getheader("Content-Encoding"), path)
            self.assertEqual(packed.getheader("Content-Encoding"), "gzip", path)
            self.assertIn("Accept-Encoding", plain.getheader("Vary"), path)
            self.assertIn("Accept-Encoding", packed.getheader("Vary"), path)
            self.assertEqual(int(packed.getheader("Content-Length")), len(bytes_))
            self.assertLess(len(bytes_), len(whole) / 2, path)
            self.assertEqual(gzip.decompress(bytes_), whole, path)
            head, nothing = self.fetch(server, client, path, method="HEAD", **accepts)
            self.assertEqual(head.getheader("Content-Length"), packed.getheader("Content-Length"))
            self.assertEqual(nothing, b"")

        instance = client.get("/instances").json()["items"][0]["id"]
        for path in (f"/instances/{instance}?payloads=full", f"/instances/{instance}/history?limit=1000"):
            answer, whole = self.fetch(server, client, "/api/v1" + path, **accepts)
            self.assertEqual(answer.status, 200)
            self.assertIsNone(answer.getheader("Content-Encoding"), path)
        # An answer that is compressed would not have the word.
        stream = self.stream(server, client, accepts)
        self.assertIsNone(stream.getheader("Content-Encoding"))
        received = b""
        while b"hello" not in received:
            part = stream.read1(100)
            self.assertTrue(part, received)
            received += part

    def stream(self, server, client, headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/v1/events?topic=stats", headers={"Cookie": client.cookie, **headers})
        return connection.getresponse()

    def test_what_was_compressed_is_known_by_its_tag(self):
        server = self.serve()
        client = log_in(server, Contract(ROOT))
        self.addCleanup(client.close)
        path = "/api/v1/openapi.json"
        plain, _ = self.fetch(server, client, path)
        packed, _ = self.fetch(server, client, path, **{"Accept-Encoding": "gzip"})
        self.assertEqual(packed.getheader("ETag"), "W/" + plain.getheader("ETag"))
        for tag in (plain.getheader("ETag"), packed.getheader("ETag")):
            sent = {"If-None-Match": tag, "Accept-Encoding": "gzip"}
            answer, body = self.fetch(server, client, path, **sent)
            self.assertEqual((answer.status, body), (304, b""))

    def test_answers_say_what_is_left_of_the_limit(self):
        server = self.serve("--requests-per-second", "2")
        client = log_in(server, Contract(ROOT))
        self.addCleanup(client.close)
        answer = client.get("/me")
        self.assertEqual(answer.headers["ratelimit-policy"], '"principal";q=4;w=2')
        left = [int(answer.headers["ratelimit"].split("r=")[1].split(";")[0])]
        while answer.status == 200:
            answer = client.get("/me")
            left.append(int(answer.headers["ratelimit"].split("r=")[1].split(";")[0]))
        self.assertEqual(answer.status, 429)
        self.assertEqual(left[-1], 0)
        self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
        self.assertEqual(answer.headers["ratelimit-policy"], '"principal";q=4;w=2')
        self.assertNotIn("ratelimit", client.raw("GET", "/livez").headers)

        stranger = Client(server, Contract(ROOT), token="ebb_wrong")
        self.addCleanup(stranger.close)
        answer = stranger.get("/me")
        while answer.status == 401:
            answer = stranger.get("/me")
        self.assertEqual(answer.status, 429)
        self.assertEqual(answer.headers["ratelimit-policy"], '"address";q=40;w=2')
        self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)

    def test_without_a_limit_there_is_nothing_to_say(self):
        server = self.serve("--requests-per-second", "0")
        client = log_in(server, Contract(ROOT))
        self.addCleanup(client.close)
        self.assertNotIn("ratelimit", client.get("/me").headers)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
