#!/usr/bin/env python3
"""Where a server starts and where it refuses to: start_matrix_test.py REPOSITORY EBB

Nothing is open by default. Every case is a real process; one that would be open to other machines must
end with exit code 2 and say what to do.
"""

import grp
import os
import socket
import ssl
import stat
import subprocess
import sys
import unittest

from contract import Contract
from world import Client, Folder, Server
import pathlib

ROOT, EBB = pathlib.Path(sys.argv[1]), sys.argv[2]
PLAIN, PROXY, OPEN = ["--insecure-plaintext"], ["--behind-proxy", "127.0.0.1"], ["--no-auth"]


class Matrix(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)

    def refusal(self, *arguments):
        done = subprocess.run(
            [EBB, "serve", "--db", "memory:", *arguments], cwd=self.path, capture_output=True, text=True,
            timeout=60, check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def certificate(self):
        key, certificate = self.path / "key.pem", self.path / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                certificate,
             "-days", "30", "-subj", "/CN=localhost"], check=True, capture_output=True,
        )
        return ["--tls-cert", str(certificate), "--tls-key", str(key)]

    def starts(self, *arguments):
        """What the server says of itself. Its first address is one of loopback (see world.py)."""
        with Server(EBB, "memory", self.path, arguments=arguments) as server:
            return server.greeting

    def test_off_loopback_it_refuses_to_be_open(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            message = self.refusal("--listen", address)
            for way in ("--tls-cert", "--behind-proxy", "--insecure-plaintext"):
                self.assertIn(way, message)
            for protection in ([], PLAIN, PROXY):
                self.assertIn("--no-auth", self.refusal("--listen", address, *OPEN, *protection))

    def test_loopback_needs_no_encryption(self):
        self.assertTrue(self.starts()["url"].startswith("http://127.0.0.1:"))
        self.assertTrue(self.starts(*OPEN)["url"].startswith("http://127.0.0.1:"))

    def test_off_loopback_it_starts_when_it_is_protected(self):
        for protection in (PLAIN, PROXY):
            addresses = self.starts("--listen", "0.0.0.0:0", *protection)["addresses"]
            self.assertEqual([address.split(":")[0] for address in addresses], ["127.0.0.1", "0.0.0.0"])

    def check_versions(self, port):
        for newest, works in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True)):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            # The client itself would not speak old versions otherwise.
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, newest
            with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
                if works:
                    self.assertEqual(context.wrap_socket(plain).version(), "TLSv1.2")
                else:
                    with self.assertRaises(ssl.SSLError):
                        context.wrap_socket(plain)

    def test_serves_https(self):
        arguments = ["--listen", "0.0.0.0:0", *self.certificate()]
        with Server(EBB, "memory", self.path, arguments=arguments) as server:
            self.assertTrue(server.greeting["url"].startswith("https://"), server.greeting)
            self.check_versions(server.port)
        self.assertIn("--tls-key", self.refusal("--tls-cert", "x.pem"))
        self.assertIn("x.pem", self.refusal("--tls-cert", "x.pem", "--tls-key", "y.pem"))

    def test_says_what_is_wrong_with_an_address(self):
        for address in ("", "8322", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "example.com:80",
            "unix:", "fd:1", "fd:x", "unix:?mode=0660", "unix:s?mode=0999", "unix:s?mode=01777",
            "unix:s?mode=",
            "unix:s?mode=0660&mode=0600", "unix:s?group=", "unix:s?owner=root", "unix:s?mode=0660,group=x"):
            self.assertIn("address", self.refusal("--listen", address), address)
        self.assertIn('no group "no such"', self.refusal("--listen", "unix:s?group=no such"))
        self.assertFalse((self.path / "s").exists())

    def test_a_socket_file_has_the_rights_that_are_asked_for(self):
        group = grp.getgrgid(os.getgid()).gr_name
        for asked, mode in ((f"?mode=0660&group={group}", 0o660), ("?mode=0600", 0o600)):
            arguments = ["--listen", f"unix:{self.path}/s{asked}"]
            with Server(EBB, "memory", self.path, arguments=arguments) as server:
                self.assertIn(f"unix:{self.path}/s", server.greeting["addresses"])
                found = os.stat(self.path / "s")
                self.assertEqual((stat.S_IMODE(found.st_mode), found.st_gid), (mode, os.getgid()))
            self.assertFalse((self.path / "s").exists())

    def test_without_login_everyone_on_this_machine_is_an_administrator(self):
        with Server(EBB, "memory", self.path, arguments=OPEN) as server:
            client = Client(server, Contract(ROOT))
            self.assertEqual(client.get("/me").json()["role"], "admin")
            client.close()

    def test_serves_only_its_proxies(self):
        with Server(EBB, "memory", self.path, arguments=["--behind-proxy", "192.0.2.1"]) as server:
            client = Client(server, Contract(ROOT))
            self.assertEqual(client.get("/me").status, 403)
            self.assertEqual(client.raw("GET", "/livez").status, 200)
            client.close()

    def test_serves_everything_below_a_path(self):
        with Server(EBB, "memory", self.path, arguments=["--base-path", "/ebb/", *OPEN]) as server:
            client = Client(server, Contract(ROOT), base="/ebb")
            self.assertEqual(client.get("/me").status, 200)
            self.assertEqual(client.raw("GET", "/api/v1/me").status, 404)
            self.assertIn("/ebb/", client.raw("GET", "/ebb/").body)
            client.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
