#!/usr/bin/env python3
"""Mail of a real `ebb serve` to a mail server of our own: mail_test.py REPOSITORY EBB STORE

The mail server speaks as much SMTP as a client needs, on a free port. No case waits for a time; limits
in minutes only guard against hanging.
"""

import email
import email.policy
import pathlib
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import unittest

from callback_cases import CallbackCases
from contract import CALLBACKS, Contract
from receiver import Receiver
from world import Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CONTRACT = Contract(ROOT)
PATIENCE = 120

WORKFLOW = """
workflow: order
on_error: dead_letter
steps: [{step: charge, max_attempts: 1}]
handlers:
  charge: {exec: [sh, -c, 'echo "no <funds>" >&2; exit 65']}
"""


class MailServer:
    """Remembers what arrives: (sender, recipients, message). `answers` to RCPT are given first, each once."""

    def __init__(self, host="127.0.0.1", context=None):
        self.received = []
        self.commands = []
        self.answers = []
        self.news = threading.Condition()
        mails = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                self.say("220 sink")
                sender, recipients = None, []
                while line := self.rfile.readline():
                    text = line.decode().rstrip("\r\n")
                    verb = text.split(" ")[0].upper()
                    with mails.news:
                        mails.commands.append(text)
                    if verb == "EHLO":
                        self.say("250-sink")
                        self.say("250-STARTTLS" if context else "250-8BITMIME")
                        self.say("250 AUTH PLAIN")
                    elif verb == "STARTTLS" and context:
                        self.say("220 go ahead")
                        self.connection = context.wrap_socket(self.connection, server_side=True)
                        self.rfile = self.connection.makefile("rb")
                        self.wfile = socketserver._SocketWriter(self.connection)
                    elif verb == "AUTH":
                        if text.upper() == "AUTH PLAIN":
                            self.say("334 ")
                            self.rfile.readline()
                        self.say("235 welcome")
                    elif verb == "MAIL":
                        sender, recipients = text.split("<")[1].split(">")[0], []
                        self.say("250 ok")
                    elif verb == "RCPT":
                        with mails.news:
                            answer = mails.answers.pop(0) if mails.answers else "250 ok"
                        recipients.append(text.split("<")[1].split(">")[0])
                        self.say(answer)
                    elif verb == "DATA":
                        self.say("354 go ahead")
                        self.take(sender, recipients)
                        self.say("250 ok")
                    elif verb == "QUIT":
                        self.say("221 bye")
                        return
                    else:
                        self.say("250 ok")

            def take(self, sender, recipients):
                lines = []
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    lines.append(line[1:] if line.startswith(b".") else line)
                message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
                with mails.news:
                    mails.received.append((sender, recipients, message))
                    mails.news.notify_all()

        class Listener(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Listener((host, 0), Handler)
        self.url = f"smtp://{host}:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, count):
        with self.news:
            assert self.news.wait_for(lambda: len(self.received) >= count, timeout=PATIENCE), self.commands
            return list(self.received)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def outer_address():
    """An address of this machine that is not loopback; none without a network. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


class MailTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.path = pathlib.Path(self.folder.__enter__())
        self.addCleanup(self.folder.__exit__)
        (self.path / "order.yaml").write_text(WORKFLOW)

    def serve(self, mails, *arguments, site="https://ebb.example.com"):
        self.addCleanup(mails.close)
        flags = ["--allow-exec", "--webhooks-allow-private", "--requests-per-second", "0",
                 "--smtp-url", mails.url, "--smtp-from", "ebb@example.com", *arguments]
        if site:
            flags += ["--public-url", site]
        server = Server(EBB, STORE, self.path, flags, ["order.yaml"])
        self.addCleanup(server.stop)
        api = log_in(server, CONTRACT)
        self.addCleanup(api.close)
        return api


class Mail(MailTest):
    def put(self, api, **settings):
        body = {"url": "mailto:ops@example.com,ann@example.com", "format": "email", **settings}
        answer = api("PUT", "/webhooks/mail", body)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def until(self, api, status, count=1):
        for _ in range(10_000):
            items = api.get("/webhooks/mail/deliveries", status=status).json()["items"]
            if len(items) >= count:
                return items
            api.get("/me")
        self.fail(f"no {count} deliveries are {status}")

    def ping(self, api):
        self.assertEqual(api.post("/webhooks/mail/ping").status, 202)

    def start(self, api, key):
        return api.post("/instances", {"workflow": "order", "input": 1, "key": key}).json()["id"]

    def test_dead_letters_of_one_cause_are_one_mail_in_ten_minutes(self):
        mails = MailServer()
        api = self.serve(mails)
        self.assertFalse(self.put(api, events=["instance.dead_lettered"])["has_secret"])
        self.ping(api)
        mails.wait_for(1)
        first = self.start(api, "o-1")
        sender, recipients, message = mails.wait_for(2)[1]
        self.assertEqual((sender, recipients), ("ebb@example.com", ["ops@example.com", "ann@example.com"]))
        self.assertEqual(message["To"], "ops@example.com, ann@example.com")
        self.assertEqual(message.get_content_type(), "multipart/alternative")
        self.assertIn("[Ebb] order o-1: dead lettered at charge", message["Subject"])
        plain = message.get_body(("plain",)).get_content()
        html = message.get_body(("html",)).get_content()
        self.assertIn(f"https://ebb.example.com/instances/{first}", plain)
        self.assertIn(f'<a href="https://ebb.example.com/instances/{first}">', html)
        self.assertIn("no <funds>", plain)
        self.assertIn("no &lt;funds&gt;", html)
        for number in (2, 3):
            self.start(api, f"o-{number}")
        # They wait for the next mail, and are not attempts that failed.
        waiting = self.until(api, "retrying", 2)
        self.assertEqual({item["error"]["code"] for item in waiting}, {"digest"})
        self.assertEqual(len(mails.received), 2)
        self.assertEqual(api.get("/webhooks/mail").json()["failures"], 0)

    def test_an_answer_decides_whether_the_mail_is_tried_again(self):
        mails = MailServer()
        api = self.serve(mails)
        self.put(api)
        mails.answers = ["451 try later"]
        self.ping(api)
        [waiting] = self.until(api, "retrying")
        self.assertEqual((waiting["type"], waiting["error"]["code"]), ("ping", "mail_failed"))
        mails.answers = ["550 there is no such person"]
        self.ping(api)
        [dead] = self.until(api, "dead_letter")
        self.assertEqual((dead["attempts"], dead["error"]["code"]), (1, "mail_refused"))
        self.assertEqual(api.get("/webhooks/mail").json()["failures"], 2)

    def test_logs_in_with_a_password_that_is_never_shown(self):
        file = self.path / "password"
        file.touch(mode=0o600)
        file.write_text("open sesame\n")
        mails = MailServer()
        api = self.serve(mails, "--smtp-user", "ebb", "--smtp-password-file", str(file))
        self.put(api)
        self.ping(api)
        mails.wait_for(1)
        self.assertTrue(any(command.startswith("AUTH PLAIN") for command in mails.commands), mails.commands)
        delivery = self.until(api, "delivered")[0]["id"]
        for path in ("/webhooks/mail", f"/instances/{delivery}", f"/instances/{delivery}/history"):
            self.assertNotIn("sesame", api.get(path).body)

    def test_without_a_mail_server_it_says_so(self):
        server = Server(EBB, STORE, self.path, ["--allow-exec"], ["order.yaml"])
        self.addCleanup(server.stop)
        api = log_in(server, CONTRACT)
        self.addCleanup(api.close)
        self.put(api)
        for url in ("mailto:", "mailto:ops", "mailto:a@b.de\r\nBcc:e@f.gh", "https://example.com",
                    "mailto:" + ",".join(["a@b.de"] * 17)):
            answer = api("PUT", "/webhooks/bad", {"url": url, "format": "email"})
            self.assertEqual((answer.status, answer.json()["code"]), (400, "invalid_argument"), url)
        self.ping(api)
        self.assertEqual(self.until(api, "retrying")[0]["error"]["code"], "mail_not_configured")

    def test_off_loopback_only_an_encrypted_connection_gets_mail(self):
        address = outer_address()
        if address is None or address.startswith("127."):
            self.skipTest("this machine has no address off loopback")
        plain = MailServer(address)
        api = self.serve(plain)
        self.put(api)
        self.ping(api)
        [waiting] = self.until(api, "retrying")
        self.assertEqual(waiting["error"]["code"], "mail_failed")
        self.assertEqual(plain.received, [])
        self.assertFalse(any(command.startswith("MAIL") for command in plain.commands), plain.commands)

    def test_off_loopback_mail_goes_by_starttls(self):
        address = outer_address()
        if address is None or address.startswith("127."):
            self.skipTest("this machine has no address off loopback")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=sink", "-addext",
             f"subjectAltName=IP:{address}"],
            cwd=self.path, check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path / "cert.pem", self.path / "key.pem")
        mails = MailServer(address, context)
        api = self.serve(mails, "--smtp-ca-file", str(self.path / "cert.pem"))
        self.put(api)
        self.ping(api)
        [(_, _, message)] = mails.wait_for(1)
        self.assertEqual(message["Subject"], "[Ebb] A test message from Ebb.")
        self.assertLess(mails.commands.index("STARTTLS"),
                        min(i for i, command in enumerate(mails.commands) if command.startswith("MAIL")))


class Callbacks(CallbackCases, MailTest):
    contract = CONTRACT
    store = STORE

    @classmethod
    def tearDownClass(cls):
        missing = sorted(CONTRACT.documented_of(CALLBACKS) - CONTRACT.seen)
        assert not missing, f"documented, but never seen: {missing}"

    def mail_server(self):
        return MailServer()

    def receiver(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        return receiver

    def again(self):
        server = Server(EBB, STORE, self.path, ["--no-worker"])
        self.addCleanup(server.stop)
        return server


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
