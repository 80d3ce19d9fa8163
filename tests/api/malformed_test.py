#!/usr/bin/env python3
"""What is not valid HTTP/1.1 gets one answer and a closed connection: malformed_test.py REPOSITORY EBB

The cases follow RFC 9112, and what is known of request smuggling. Each says which status it gets. A
second request is sent behind each: it must never be answered, since no one can know where it begins.
"""

import pathlib
import re
import socket
import sys
import unittest

from world import Folder, Server

EBB = sys.argv[2]
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
HOST = b"Host: 127.0.0.1\r\n"
NEXT = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Second: 1\r\n\r\n"


def get(headers=b"", target=b"/livez", method=b"GET", version=b"HTTP/1.1"):
    return method + b" " + target + b" " + version + b"\r\n" + HOST + headers + b"\r\n"


def post(headers, body=b""):
    return b"POST /api/v1/session HTTP/1.1\r\n" + HOST + headers + b"\r\n" + body


def request_lines():
    for line in (b"GET", b"GET /livez", b"GET  /livez HTTP/1.1", b"GET /livez  HTTP/1.1",
        b" GET /livez HTTP/1.1",
                 b"GET /livez HTTP/1.1 ", b"GET\t/livez\tHTTP/1.1", b"GET /livez HTTP/1.1 x",
                 b"GET /li vez HTTP/1.1",
                 b"G@T /livez HTTP/1.1", b"G\x80T /livez HTTP/1.1", b"(GET) /livez HTTP/1.1",
                 b" /livez HTTP/1.1",
                 b"GET HTTP/1.1", b"GET  HTTP/1.1", b"GET * HTTP/1.1", b"OPTIONS * HTTP/1.1",
                 b"GET livez HTTP/1.1",
                 b"GET ?x HTTP/1.1", b"GET /livez http/1.1", b"GET /livez HTTP/1", b"GET /livez HTTP/1.1.1",
                 b"GET /livez HTTP/11", b"GET /livez HTTP/a.b", b"GET /livez HTTPS/1.1",
                 b"GET /livez XTTP/1.1",
                 b"GET /livez HTTP /1.1", b"GET /livez HTTP/ 1.1", b"GET /livez HTTP/1.1\x00",
                 b"GET /livez FTP/1.1"):
        yield f"request line {line!r}", line + b"\r\n" + HOST + b"\r\n", 400
    for version in (b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.2", b"HTTP/3.0", b"HTTP/9.9"):
        yield f"version {version!r}", get(version=version), 505
    for method in (b"CONNECT", b"TRACE"):
        yield f"method {method!r}", get(method=method), 405
    yield "HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)
    yield "TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 400
    yield "leading line", b"\r\n" + get(), 400
    yield "leading line feed", b"\n" + get(), 400
    yield "long line", get(target=b"/" + b"a" * 9000), 414
    yield "endless line", b"G" * 20000, 414


def targets():
    for target in (b"/../livez", b"/./livez", b"/a/../livez", b"/a/./b", b"/..", b"/.", b"/%2e%2e/livez",
        b"/%2E./x",
                   b"/.%2e/x", b"/a/%2e%2e", b"/%2e", b"/a/%2E%2E/b", b"/%00", b"/a%00b", b"/livez?x=%00",
                   b"/%",
                   b"/%1", b"/%zz", b"/%g0", b"/livez?a=%", b"/livez#x", b"/\x80", b"/\xc3\xa9", b"/<x>",
                   b"/\"x\"",
                   b"/a\\b", b"/a^b", b"/a`b", b"/{x}", b"/a|b", b"/\x7f", b"/\x01", b"/\x1f", b"/a\tb",
                   b"http://evil.example/livez", b"https://evil.example/livez", b"http:///livez",
                   b"http://127.0.0.1",
                   b"ftp://127.0.0.1/livez", b"127.0.0.1:80", b"http://127.0.0.1@evil.example/",
                   b"javascript:x"):
        yield f"target {target!r}", get(target=target), 400


def header_syntax():
    for line in (b" Leading: x", b"\tLeading: x", b"Name : x", b"Name\t: x", b"Na me: x", b": x",
        b"NoColon", b"Na\x00me: x",
                 b"N\xc3\xa9: x", b"(x): y", b"a/b: c", b"a@b: c", b"a[b]: c", b"a{b}: c", b"a\"b: c",
                 b"a\\b: c", b"a,b: c",
                 b"a;b: c", b"a<b: c", b"a=b: c", b"a?b: c", b"\x7f: x", b"X: a\x00b", b"X: a\x01b",
                 b"X: a\x7fb",
                 b"X: a\x0bb", b"X: a\x0cb", b"X: a\x1bb", b"X: a\x08b"):
        yield f"header {line!r}", get(line + b"\r\n"), 400
    yield "folded", get(b"X: a\r\n b\r\n"), 400
    yield "folded with a tab", get(b"X: a\r\n\tb\r\n"), 400
    yield "folded Transfer-Encoding", post(b"Transfer-Encoding:\r\n chunked\r\n"), 400
    yield "line feed alone", b"GET /livez HTTP/1.1\nHost: 127.0.0.1\n\n", 400
    yield "line feed after a header", b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\n\r\n", 400
    yield "line feed at the end", b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\n", 400
    yield "carriage return in a value", get(b"X: a\rb\r\n"), 400
    yield "carriage return alone", b"GET /livez HTTP/1.1\rHost: 127.0.0.1\r\r\n", 400
    yield "two carriage returns", b"GET /livez HTTP/1.1\r\r\nHost: 127.0.0.1\r\n\r\n", 400
    yield "too many headers", get(b"".join(b"X-%d: y\r\n" % n for n in range(64))), 431
    yield "headers too large", get(b"X: " + b"a" * 17000 + b"\r\n"), 431
    many = b"".join(b"X%d: %s\r\n" % (n, b"a" * 600) for n in range(40))
    yield "headers too large by many", get(many), 431


def hosts():
    yield "no Host", b"GET /livez HTTP/1.1\r\n\r\n", 400
    yield "two Hosts", get(HOST), 400
    yield "two different Hosts", get(b"Host: evil.example\r\n"), 400
    for host in (b"", b"a b", b"a/b", b"user@127.0.0.1", b"127.0.0.1:", b"127.0.0.1:x", b"127.0.0.1:-1",
        b"127.0.0.1:999999",
                 b"a,b", b"[::1", b"::1", b"[]", b"[x]", b"[::1]x", b"[::1]:", b"a:1:2", b"a\x80", b"<x>",
                 b"a%41", b"a;b",
                 b"a#b", b"a?b", b"\"a\"", b"a\\b", b"$(x)", b"http://a"):
        yield f"Host {host!r}", b"GET /livez HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", 400


def lengths():
    for value in (b"-1", b"+1", b"0x1", b"1 ", b" 1 1", b"1,1", b"1, 1", b"1;1", b"1.0", b"1e1", b"a", b"",
        b"1a", b"a1",
                  b"99999999999999999999", b"18446744073709551616", b"9223372036854775808", b"\xef\xbc\x91",
                  b"1\x0b",
                  b"0b1", b"--1", b"1_0", b"\"1\"", b"1\t2", b"NaN", b"0x", b"1 0"):
        if value.strip() != value and value.strip().isdigit():
            continue
        yield f"Content-Length {value!r}", post(b"Content-Length: " + value + b"\r\n", b"x"), 400
    yield "two equal lengths", post(b"Content-Length: 1\r\nContent-Length: 1\r\n", b"x"), 400
    yield "two lengths", post(b"Content-Length: 1\r\nContent-Length: 2\r\n", b"xy"), 400
    yield "length above the limit", post(b"Content-Length: 999999999\r\n"), 413
    unasked = b"GET /api/v1/me HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx"
    yield "body where there is none", unasked, 413


def codings():
    both = b"Content-Length: 3\r\n"
    chunks = b"1\r\nx\r\n0\r\n\r\n"
    yield "length, then coding", post(both + b"Transfer-Encoding: chunked\r\n", chunks), 400
    yield "coding, then length", post(b"Transfer-Encoding: chunked\r\n" + both, chunks), 400
    yield "coding twice", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks), 400
    yield "coding and identity", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        chunks), 400
    old = b"POST /api/v1/session HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
    yield "coding in HTTP/1.0", old, 400
    for value in (b"identity", b"gzip", b"gzip, chunked", b"chunked, gzip", b"chunked, chunked",
        b"chunked,", b",chunked",
                  b"chunked;q=1", b"chunked; x", b"x-chunked", b"xchunked", b"chunkedx", b"chunke",
                  b"\"chunked\"", b"'chunked'",
                  b"chunked chunked", b"chunked\tchunked", b"cow", b"", b"deflate", b"compress",
                  b"chunked, identity",
                  b"identity, chunked", b"chunk", b"CHUNKED X", b"=chunked", b"chunked=", b"[chunked]",
                  b"(chunked)"):
        yield f"Transfer-Encoding {value!r}", post(b"Transfer-Encoding: " + value + b"\r\n", chunks), 501
    for name in (b"Transfer-Encoding ", b"Transfer-Encoding\t", b"Transfer\x00-Encoding",
        b" Transfer-Encoding",
                 b"Transfer-Encoding\xa0", b"Transfer Encoding"):
        yield f"name {name!r}", post(name + b": chunked\r\n", chunks), 400
    for value in (b"\x0bchunked", b"chunked\x0b", b"\x00chunked", b"chunked\x0c", b"\x1fchunked"):
        yield f"coding {value!r}", post(b"Transfer-Encoding: " + value + b"\r\n", chunks), 400


def chunks():
    head = b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
    for body in (b"x\r\n", b"-1\r\nx\r\n0\r\n\r\n", b"+1\r\nx\r\n0\r\n\r\n", b"0x1\r\nx\r\n0\r\n\r\n",
        b"g\r\nx\r\n0\r\n\r\n",
                 b"ffffffffffffffffff\r\nx", b" 1\r\nx\r\n0\r\n\r\n", b"1\nx\r\n0\r\n\r\n",
                 b"\r\nx\r\n0\r\n\r\n",
                 b"1\r\nxy\r\n0\r\n\r\n", b"2\r\nx\r\n0\r\n\r\n", b"1\r\nx\n0\r\n\r\n", b"1\r\nx0\r\n\r\n",
                 b"1;\x00\r\nx\r\n0\r\n\r\n", b"1\rx\r\n0\r\n\r\n", b"1\r\nx\r\n0\r\nX: y\r\n\r\n",
                 b"1\r\nx\r\n0\r\nHost: evil\r\n\r\n", b"1\r\nx\r\n0\r\nAuthorization: x\r\n\r\n",
                 b"1\r\nx\r\n0\r\nContent-Length: 5\r\n\r\n", b"1,1\r\nx\r\n0\r\n\r\n",
                 b"1 1\r\nx\r\n0\r\n\r\n",
                 b"1_0\r\nx\r\n0\r\n\r\n", b"\x00\r\n\r\n", b"0\r\nbroken\r\n\r\n", b"0\r\n: x\r\n\r\n",
                 b"0\r\nX y\r\n\r\n"):
        yield f"chunks {body!r}", post(head, body), (400, 413)
    large = b"300000\r\n" + b"x" * 3145728 + b"\r\n0\r\n\r\n"
    yield "chunks above the limit", post(head, large), 413


def expectations():
    for value in (b"200-ok", b"100-continu", b"100-continue, x", b"x", b"100 continue"):
        yield f"Expect {value!r}", get(b"Expect: " + value + b"\r\n"), 417


CASES = [case for make in (request_lines, targets, header_syntax, hosts, lengths, codings, chunks,
    expectations)
         for case in make()]


class Malformed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Folder()
        cls.server = Server(EBB, "memory", folder.__enter__())
        cls.addClassCleanup(folder.__exit__)
        cls.addClassCleanup(cls.server.stop)

    def exchange(self, sent):
        """All that comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as connection:
            received = b""
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                while True:
                    part = connection.recv(65536)
                    if not part:
                        return received
                    received += part
            except (ConnectionResetError, BrokenPipeError):
                return received

    def test_every_case_gets_its_status_and_a_closed_connection(self):
        self.assertGreaterEqual(len(CASES), 250)
        wrong = []
        for name, sent, expected in CASES:
            received = self.exchange(sent + NEXT)
            answers = len(STATUS.findall(received))
            status = int(received[9:12]) if received.startswith(b"HTTP/1.1 ") else None
            statuses = expected if isinstance(expected, tuple) else (expected,)
            if status not in statuses or answers != 1 or b"Connection: close" not in received:
                wrong.append(f"{name}: {status} instead of {expected}, {answers} answers")
        self.assertEqual(wrong, [])

    def test_valid_requests_are_answered_in_order_on_one_connection(self):
        sent = get() + get(target=b"/readyz") + post(
            b"Content-Type: application/json\r\nTransfer-Encoding: Chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"
        ) + get(b"Connection: close\r\n") + NEXT
        received = self.exchange(sent)
        statuses = STATUS.findall(received)
        self.assertEqual(statuses, [b"200", b"200", b"400", b"200"])

    def test_a_request_may_come_byte_by_byte(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in get(b"Connection: close\r\n"):
                connection.send(bytes([byte]))
            self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 200 "))

    def test_a_client_may_wait_for_permission_to_send_its_body(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as connection:
            connection.sendall(post(b"Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n"
                                    b"Content-Type: application/json\r\n"))
            self.assertEqual(connection.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.sendall(b"{}")
            self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 400 "))


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).resolve(strict=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
