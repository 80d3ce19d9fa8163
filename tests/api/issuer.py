"""An OpenID provider of a test: it does what the test wants, also what no provider may do."""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import pathlib
import subprocess
import threading
import time
import urllib.parse

CLIENT, SECRET = "ebb", "a secret of the client: 42+%&"


def b64(data):
    if isinstance(data, (dict, list)):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def raw_signature(der):
    """The two numbers of an ECDSA signature behind each other, as a token has them."""
    at, numbers = 2, b""
    for _ in range(2):
        size = der[at + 1]
        numbers += int.from_bytes(der[at + 2 : at + 2 + size], "big").to_bytes(32, "big")
        at += 2 + size
    return numbers


class Key:
    """Made by openssl. `algorithm`: RS256, PS256, ES256, none, or HS256 with the public key as its secret."""

    def __init__(self, folder, kid, algorithm="RS256", bits=2048):
        self.kid, self.algorithm = kid, algorithm
        self.file = str(pathlib.Path(folder, f"{kid}.pem"))
        if algorithm == "ES256":
            made = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        else:
            made = ["-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}"]
        openssl("genpkey", *made, "-out", self.file)

    def public(self):
        return openssl("pkey", "-in", self.file, "-pubout")

    def jwk(self):
        named = {"kid": self.kid, "use": "sig", "alg": self.algorithm}
        if self.algorithm == "ES256":
            point = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-64:]
            return {**named, "kty": "EC", "crv": "P-256", "x": b64(point[:32]), "y": b64(point[32:])}
        text = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().partition("=")[2]
        return {**named, "kty": "RSA", "n": b64(bytes.fromhex(text)), "e": "AQAB"}

    def signature(self, algorithm, text):
        if algorithm == "none":
            return b""
        if algorithm == "HS256":
            return hmac.new(self.public(), text, hashlib.sha256).digest()
        options = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-1"]
        made = openssl("dgst", "-sha256", "-sign", self.file, *(options if algorithm == "PS256" else []),
            data=text)
        return raw_signature(made) if algorithm == "ES256" else made

    def token(self, claims, **header):
        head = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT", **header}
        head = {name: value for name, value in head.items() if value is not None}
        text = f"{b64(head)}.{b64(claims)}"
        return f"{text}.{b64(self.signature(head['alg'], text.encode()))}"


class Issuer:
    """On a free port of loopback, until its `with` block ends."""

    def __init__(self, folder):
        self.keys = [Key(folder, "first")]
        self.codes = {}
        self.asked = []  # the paths that were asked for
        self.answers = {}  # path: (status, headers, body) in place of the right answer
        self.description = {}  # members in place of the right ones
        self.userinfo = {}
        self.make = None  # claims -> the ID token, in place of a right one
        self.held = None  # an event: answers wait for it
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply({})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.reply(dict(urllib.parse.parse_qsl(body)))

            def reply(self, form):
                issuer.asked.append(self.path)
                if issuer.held:
                    issuer.held.wait(60)
                status, headers, body = issuer.answer(self.path, form, self.headers)
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """A server that ends breaks its connections."""

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        if self.held:
            self.held.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def arguments(self, folder):
        secret = pathlib.Path(folder, "client-secret")
        secret.write_text(SECRET)
        secret.chmod(0o600)
        client = ["--oidc-client-id", CLIENT, "--oidc-client-secret-file", str(secret)]
        return ["--oidc-issuer", self.url, *client]

    def answer(self, path, form, headers):
        if path in self.answers:
            return self.answers[path]
        known = {
            "/.well-known/openid-configuration": lambda: self.describe(),
            "/jwks": lambda: {"keys": [key.jwk() for key in self.keys]},
            "/token": lambda: self.exchange(form, headers),
            "/userinfo": lambda: self.userinfo,
        }
        if path not in known:
            return 404, {}, b""
        found = known[path]()
        status = 400 if "error" in found else 200
        return status, {"Content-Type": "application/json"}, json.dumps(found).encode()

    def describe(self):
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/auth",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            **self.description,
        }

    def authorize(self, location, **claims):
        """What the provider does with a browser that comes to `location`: the query that it brings back."""
        url, _, query = location.partition("?")
        assert url == f"{self.url}/auth", location
        given = dict(urllib.parse.parse_qsl(query))
        assert given["response_type"] == "code" and given["client_id"] == CLIENT, given
        assert given["code_challenge_method"] == "S256" and "openid" in given["scope"].split(), given
        code = f"code-{len(self.codes)}"
        self.codes[code] = (given, claims)
        return {"state": given["state"], "code": code}

    def claims(self, **more):
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": "ann", "iat": now, "exp": now + 600, **more}
        return {name: value for name, value in claims.items() if value is not None}

    def exchange(self, form, headers):
        name = urllib.parse.quote(CLIENT) + ":" + urllib.parse.quote(SECRET, safe="")
        if headers["Authorization"] != "Basic " + base64.b64encode(name.encode()).decode():
            return {"error": "invalid_client"}
        given, claims = self.codes.pop(form["code"], (None, None))
        if given is None or form["redirect_uri"] != given["redirect_uri"]:
            return {"error": "invalid_grant"}
        challenge = b64(hashlib.sha256(form["code_verifier"].encode()).digest())
        if challenge != given["code_challenge"]:
            return {"error": "invalid_grant"}
        claims = self.claims(**{"nonce": given["nonce"], **claims})
        token = self.make(claims) if self.make else self.keys[0].token(claims)
        return {"id_token": token, "access_token": "for-userinfo", "token_type": "Bearer"}
