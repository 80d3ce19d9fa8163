#!/usr/bin/env python3
"""Logins by client certificates: certificates_test.py ROOT EBB

Authorities and certificates are made by openssl for each run. One that has expired was made so, and no
case waits for a time.
"""

import http.client
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import unittest

from contract import Contract
from world import WORKFLOW, Client, Folder, Server

ROOT, EBB = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, str(ROOT / "clients" / "python"))
import ebb_client  # noqa: E402
NAME = "worker-1.example.com"
CURVE = ["-pkeyopt", "ec_paramgen_curve:P-256"]


class Certificates(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)
        self.authority("ours")
        self.authority("theirs")
        self.certificate("server", "ours", "DNS:localhost,IP:127.0.0.1")
        self.arguments = [
            "--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-client-ca", "ours.pem",
        ]

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.path, check=True, capture_output=True)

    def authority(self, name):
        self.openssl(
            "req", "-x509", "-newkey", "ec", *CURVE, "-nodes", "-keyout", f"{name}.key",
            "-out", f"{name}.pem", "-days", "30", "-subj", f"/CN=Authority {name}",
        )

    def certificate(self, name, authority, names="", days="30", subject=None):
        self.openssl(
            "req", "-new", "-newkey", "ec", *CURVE, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
            "-subj", f"/CN={subject or name}",
        )
        extension = f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n"
        (self.path / f"{name}.ext").write_text(extension)
        self.openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
            "-CAcreateserial", "-out", f"{name}.pem", "-days", days, "-extfile", f"{name}.ext",
        )

    def serve(self, *arguments, files=()):
        server = Server(EBB, "sqlite", self.path, [*self.arguments, *arguments], files)
        self.addCleanup(server.stop)
        return server

    def ebb(self, *arguments):
        done = subprocess.run(
            [EBB, *arguments, "--db", "sqlite:ebb.db"], cwd=self.path, capture_output=True, text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def client(self, server, certificate=None, versions=()):
        client = Client(server, Contract(ROOT))
        context = ssl.create_default_context(cafile=self.path / "ours.pem")
        if certificate:
            context.load_cert_chain(self.path / f"{certificate}.pem", self.path / f"{certificate}.key")
        if versions:
            context.minimum_version = context.maximum_version = versions[0]
        client.connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
        self.addCleanup(client.close)
        return client

    def test_a_certificate_is_a_login_with_the_grants_of_its_name(self):
        (self.path / "order.yaml").write_text(WORKFLOW)
        self.certificate("worker", "ours", f"email:ops@example.com,DNS:{NAME}")
        server = self.serve(files=["order.yaml"])
        self.ebb(
            "grant", "set", "w1", "--subject", f"cert:{NAME}", "--role", "worker", "--handlers", "char*",
        )
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            client = self.client(server, "worker", [version])
            me = client.get("/me").json()
            shown = (me["principal"], me["kind"], me["role"])
            self.assertEqual(shown, (f"cert:{NAME}", "certificate", "worker"))
            self.assertEqual(client.get("/instances").status, 403)
        opened = client.post("/worker/sessions", {"handlers": ["charge"], "slots": 1})
        self.assertEqual(opened.status, 201, opened.body)
        poll = {"session": opened.json()["session"], "free": 0, "wait": "0s"}
        self.assertEqual(client.post("/worker/poll", poll).status, 200)
        refused = client.post("/worker/sessions", {"handlers": ["other"], "slots": 1})
        self.assertEqual(refused.status, 403, refused.body)
        # The audit and the log name it.
        by = [entry.get("by") for entry in server.log if entry.get("event") == "http_request"]
        self.assertIn(f"cert:{NAME}", by)

    def test_the_command_and_the_client_log_in_by_certificate(self):
        (self.path / "order.yaml").write_text(WORKFLOW)
        self.certificate("ops", "ours", f"DNS:{NAME}")
        server = self.serve(files=["order.yaml"])
        self.ebb("grant", "set", "ops", "--subject", f"cert:{NAME}", "--role", "developer")
        url = f"https://127.0.0.1:{server.port}"
        started = self.over_the_api(
            url, "start", "order", "--input", "{}", EBB_CLIENT_CERT="ops.pem", EBB_CLIENT_KEY="ops.key",
        )
        self.assertEqual(started.returncode, 0, started.stderr)
        # The key may be in the file of the certificate.
        both = (self.path / "ops.pem").read_text() + (self.path / "ops.key").read_text()
        (self.path / "both.pem").write_text(both)
        listed = self.over_the_api(url, "list", "--json", EBB_CLIENT_CERT="both.pem")
        self.assertIn('"workflow":"order"', listed.stdout, listed.stderr)
        for environment, what in (
            ({}, "no token"),
            ({"EBB_CLIENT_KEY": "ops.key"}, "EBB_CLIENT_CERT"),
            ({"EBB_CLIENT_CERT": "none.pem"}, "none.pem"),
        ):
            refused = self.over_the_api(url, "list", **environment)
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            self.assertIn(what, refused.stderr)
        context = ssl.create_default_context(cafile=self.path / "ours.pem")
        context.load_cert_chain(self.path / "ops.pem", self.path / "ops.key")
        python = ebb_client.Client(url, tls=context)
        self.addCleanup(python.close)
        self.assertEqual(python.show(python.start("order", {}))["workflow"], "order")
        with self.assertRaisesRegex(ValueError, "https"):
            ebb_client.Client("http://127.0.0.1:1", tls=context)

    def over_the_api(self, url, *arguments, **environment):
        return subprocess.run(
            [EBB, "--server", url, *arguments], cwd=self.path, capture_output=True, text=True, check=False,
            env={"PATH": os.environ["PATH"], "EBB_CA_FILE": "ours.pem", **environment},
        )

    def test_a_uri_comes_first_and_a_token_before_the_certificate(self):
        self.certificate("spiffe", "ours", f"DNS:{NAME},URI:spiffe://example.com/mailer")
        server = self.serve()
        client = self.client(server, "spiffe")
        me = client.get("/me").json()
        self.assertEqual(me["principal"], "cert:spiffe://example.com/mailer")
        self.assertEqual(me["permissions"], [], "a name without a grant may do nothing")
        client.token = "ebb_wrong"
        self.assertEqual(client.get("/me").status, 401)

    def test_without_a_certificate_there_is_no_such_login(self):
        server = self.serve()
        answer = self.client(server).get("/me")
        self.assertEqual(answer.status, 401)
        self.assertIn("no token", answer.body)
        # The subject's common name does not count.
        self.certificate("nameless", "ours", subject=NAME)
        answer = self.client(server, "nameless").get("/me")
        self.assertEqual(answer.status, 401)
        self.assertIn("subject alternative name", answer.body)

    def refused_in_the_handshake(self, server, certificate):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            client = self.client(server, certificate, [version])
            # With TLS 1.3 the client learns it when it reads.
            with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
                client.get("/me")

    def test_a_certificate_of_another_authority_or_another_time_ends_the_handshake(self):
        self.certificate("foreign", "theirs", f"DNS:{NAME}")
        self.certificate("expired", "ours", f"DNS:{NAME}", days="-1")
        server = self.serve()
        self.refused_in_the_handshake(server, "foreign")
        self.refused_in_the_handshake(server, "expired")
        self.assertEqual(self.client(server).get("/me").status, 401, "the server goes on")
        # The client for Python repeats what can succeed later, for as long as this test may take.
        url = f"https://127.0.0.1:{server.port}"
        foreign = ssl.create_default_context(cafile=self.path / "ours.pem")
        foreign.load_cert_chain(self.path / "foreign.pem", self.path / "foreign.key")
        for context, what in ((foreign, "refuses this client"), (None, "certificate of .* is not trusted")):
            python = ebb_client.Client(url, patience=3600, tls=context)
            self.addCleanup(python.close)
            with self.assertRaisesRegex(ebb_client.TlsError, what):
                python.show("key:order/A")

    def test_a_reload_takes_over_other_authorities(self):
        self.certificate("foreign", "theirs", f"DNS:{NAME}")
        server = self.serve()
        self.refused_in_the_handshake(server, "foreign")
        both = (self.path / "ours.pem").read_text() + (self.path / "theirs.pem").read_text()
        (self.path / "ours.pem").write_text(both)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("config_reloaded")
        me = self.client(server, "foreign").get("/me").json()
        self.assertEqual(me["principal"], f"cert:{NAME}")

    def test_says_what_is_wrong_with_the_settings(self):
        for arguments, what in (
            (["--tls-client-ca", "ours.pem"], "--tls-cert"),
            ([*self.arguments[:4], "--tls-client-ca", "none.pem"], "none.pem"),
            ([*self.arguments[:4], "--tls-client-ca", "server.key"], "server.key"),
        ):
            done = subprocess.run(
                [EBB, "serve", "--db", "memory:", "--listen", "127.0.0.1:0", *arguments], cwd=self.path,
                capture_output=True, text=True, timeout=60, check=False,
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
