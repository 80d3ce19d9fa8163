"""An endpoint of webhooks on a free port of loopback."""

import http.server
import threading

PATIENCE = 120


class Receiver:
    """Remembers what arrives. `answers` are given first, each once: (status, headers)."""

    def __init__(self):
        self.received = []
        self.answers = []
        self.news = threading.Condition()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with receiver.news:
                    status, more = receiver.answers.pop(0) if receiver.answers else (204, {})
                    receiver.received.append((status, headers, body))
                    receiver.news.notify_all()
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def wait_for(self, condition):
        """`condition` sees all that was received."""
        with self.news:
            if not self.news.wait_for(lambda: condition(self.received), timeout=PATIENCE):
                ids = [headers["webhook-id"] for _, headers, _ in self.received]
                raise AssertionError(f"did not arrive; so far: {ids}")
            return list(self.received)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
