#!/usr/bin/env python3
"""What /readyz?verbose says, and to which clients: readiness_test.py REPOSITORY EBB

A database that does not answer is a case of databases_test.py.
"""

import os
import pathlib
import sys
import unittest

from contract import Contract
from world import Client, Folder, Server, log_in

ROOT, EBB = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
CONTRACT = Contract(ROOT)


class Readiness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Folder()
        path = folder.__enter__()
        cls.addClassCleanup(folder.__exit__)
        cls.server = Server(EBB, "memory", path, ["--no-worker"])
        cls.addClassCleanup(cls.server.stop)

    def readiness(self, client, path="/readyz?verbose", **headers):
        answer = client.raw("GET", path, headers=headers)
        self.assertEqual(answer.headers["content-type"], "application/json", answer.body)
        operation = CONTRACT.document["paths"]["/readyz"]["get"]
        schema = operation["responses"][str(answer.status)]["content"]["application/json"]["schema"]
        CONTRACT.validate(schema, answer.json(), path)
        self.assertEqual(answer.json()["ready"], answer.status == 200)
        return answer.json()

    def test_readiness_says_what_was_looked_at(self):
        client = Client(self.server, CONTRACT)
        self.addCleanup(client.close)
        for path in ("/readyz?verbose", "/readyz?verbose=1", "/readyz?x=1&verbose", "/healthz?verbose"):
            checks = {check["name"]: check for check in self.readiness(client, path)["checks"]}
            self.assertEqual(set(checks), {"serving", "database"})
            for check in checks.values():
                self.assertEqual((check["ok"], check["reason"]), (True, None))
            self.assertLessEqual(checks["database"]["age_seconds"], 1)
        for path in ("/readyz?verbos", "/readyz?v=verbose", "/readyz?"):
            self.assertEqual(client.raw("GET", path).body, "ok\n")
        self.assertEqual(client.raw("HEAD", "/readyz?verbose").status, 200)
        self.assertEqual(client.raw("POST", "/readyz?verbose").status, 405)
        hostile = client.raw("GET", "/readyz?verbose", headers={"Host": "evil.example"})
        self.assertEqual(hostile.status, 421)

    def test_off_the_machine_it_needs_an_operator(self):
        # A proxy on this machine brings clients of elsewhere.
        flags = ["--behind-proxy", "127.0.0.1", "--no-worker"]
        with Folder() as folder, Server(EBB, "memory", folder, flags) as server:
            admin = log_in(server, CONTRACT)
            self.addCleanup(admin.close)
            for role, status in ((None, 401), ("viewer", 403), ("operator", 403), ("admin", 200)):
                token = role and admin("PUT", f"/tokens/{role}", {"role": role}).json()["token"]
                client = Client(server, CONTRACT, token=token)
                self.addCleanup(client.close)
                headers = {"X-Forwarded-For": "192.0.2.7"}
                self.assertEqual(client.raw("GET", "/readyz?verbose", headers=headers).status, status, role)
                self.assertEqual(client.raw("GET", "/readyz", headers=headers).status, 200)
            wrong = Client(server, CONTRACT, token="ebb_wrong")
            self.addCleanup(wrong.close)
            self.assertEqual(wrong.raw("GET", "/readyz?verbose").status, 401)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
