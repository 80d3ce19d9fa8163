"""Live streams: cases for api_test.py."""

import http.client
import json
import urllib.parse


class LiveCases:
    """The streams of one instance and of many topics. `contract` is the checker of exchanges."""

    def stream(self, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", f"/api/v1{path}", headers={"Cookie": self.api.cookie, **(headers or {})})
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        names = {name.lower(): value for name, value in response.getheaders()}
        self.contract.check("GET", path.split("?")[0], 200, names, "stream")
        return response

    def events(self, response):
        event = {}
        for raw in response:
            line = raw.decode().rstrip("\n")
            if not line:
                if "event" in event:
                    yield event
                event = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                event[name] = event.get(name, "") + value

    def test_streams_the_history_and_resumes_exactly(self):
        instance = self.start()
        self.until_waiting(instance, "decision")
        stream = self.events(self.stream(f"/instances/{instance}/events"))
        first = [next(stream) for _ in range(2)]
        self.assertEqual([event["id"] for event in first], ["1", "2"])
        self.finish(instance)
        rest = list(stream)
        self.assertEqual(rest[-1]["event"], "end")
        self.assertEqual(json.loads(rest[-1]["data"])["status"], "completed")
        seqs = [int(event["id"]) for event in first + rest[:-1]]
        self.assertEqual(seqs, list(range(1, len(seqs) + 1)))
        again = self.stream(f"/instances/{instance}/events", {"Last-Event-ID": "3"})
        resumed = [int(event["id"]) for event in self.events(again) if event["event"] == "history"]
        self.assertEqual(resumed, seqs[3:])
        schema = {"$ref": "#/components/schemas/HistoryEvent"}
        for event in first + rest[:-1]:
            self.contract.validate(schema, json.loads(event["data"]), "history")

    def test_streams_many_topics_at_once(self):
        instance = self.start()
        view = self.until_waiting(instance, "decision")
        topics = [f"instance:{instance}@0", "list:limit=3", "workers", "nonsense"]
        query = urllib.parse.urlencode({"topic": topics}, doseq=True)
        stream = self.events(self.stream(f"/events?{query}"))
        hello = next(stream)
        data = json.loads(hello["data"])
        self.contract.validate({"$ref": "#/components/schemas/Hello"}, data, "hello")
        self.assertEqual([topic["is_accepted"] for topic in data["topics"]], [True, True, True, False])
        messages = {"history": "HistoryMessage", "instance": "InstanceMessage", "list": "ListMessage",
                    "changed": "ChangedMessage", "end": "InstanceMessage"}
        seen, position = {}, None
        for event in stream:
            if event["event"] == "position":
                position = event["id"]
                break
            data = json.loads(event["data"])
            self.contract.validate({"$ref": f"#/components/schemas/{messages[event['event']]}"}, data,
                event["event"])
            seen[event["event"]] = data
        self.assertEqual(seen["instance"]["instance"]["revision"], view["revision"])
        self.assertEqual(seen["list"]["items"][0]["id"], instance)
        last = seen["history"]["events"][-1]["seq"]
        self.assertEqual(position, f"0:{last}")
        self.api.post(f"/instances/{instance}/abort")
        ended = next(event for event in stream if event["event"] == "end")
        self.assertEqual(json.loads(ended["data"])["instance"]["status"], "aborted")

    def test_streams_bulk_operations(self):
        both = [self.start(), self.start()]
        answer = self.api.post("/bulk", {"action": "pause", "ids": both, "rate": "1/1m"})
        self.assertEqual(answer.status, 202, answer.body)
        bulk = answer.json()["id"]
        topics = ["bulk", f"bulk:{bulk}", "bulk:nonsense", f"bulk:{both[0]}"]
        stream = self.events(self.stream("/events?" + urllib.parse.urlencode({"topic": topics}, doseq=True)))
        hello = json.loads(next(stream)["data"])
        self.assertEqual([topic["is_accepted"] for topic in hello["topics"]], [True, True, False, False])
        self.assertEqual(hello["topics"][2]["problem"]["code"], "instance_not_found")

        def heard_all():
            heard = set()
            while heard != {0, 1}:
                event = next(stream)
                self.assertEqual(event["event"], "changed")
                data = json.loads(event["data"])
                self.contract.validate({"$ref": "#/components/schemas/ChangedMessage"}, data, "changed")
                heard.add(data["topic"])

        heard_all()
        self.assertEqual(self.api.post(f"/bulk/{bulk}/cancel").status, 200)
        heard_all()

    def test_refuses_too_many_topics(self):
        query = {"topic": ["workers"] * 51}
        self.problem(self.api.get("/events", **query), 400, "invalid_argument")
