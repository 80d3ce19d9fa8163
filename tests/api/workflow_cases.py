"""Versions of workflows over the API: what differs between them, and what each takes."""

import json


class WorkflowCases:
    def test_says_what_differs_between_two_versions(self):
        first = {"workflow": "changing", "steps": ["a", "b"]}
        second = {**first, "version": 2, "steps": [{"step": "a", "max_attempts": 7}, "c"]}
        for definition in (first, second):
            self.assertEqual(self.api.post("/workflows", definition).status, 201)
        path = "/workflows/changing/diff"
        answer = self.api.get(path, **{"from": 1, "to": 2})
        found = answer.json()
        changes = {node["node"]: (node["change"], node["fields"]) for node in found["nodes"]}
        self.assertEqual(changes["a"], ("changed", [{"pointer": "/max_attempts", "after": 7}]))
        self.assertEqual((changes["b"][0], changes["c"][0]), ("removed", "added"))
        self.assertEqual(found["workflow"], [{"pointer": "/version", "after": 2}])
        self.assertEqual((found["equal"], found["needs_version"]), (False, False))
        for side, version in (("before", 1), ("after", 2)):
            accept = {"Accept": "application/yaml"}
            yaml = self.api("GET", f"/workflows/changing/versions/{version}", headers=accept)
            wanted = {"workflow": "changing", "version": version, "yaml": yaml.body}
            self.assertEqual(found[side], wanted)
        tag = {"If-None-Match": answer.headers["etag"]}
        self.assertEqual(self.api("GET", path, headers=tag, query={"from": 1, "to": 2}).status, 304)
        self.assertEqual(self.api("GET", path, headers=tag, query={"from": 2, "to": 1}).status, 200)
        self.assertTrue(self.api.get(path, **{"from": 2, "to": 2}).json()["equal"])
        self.problem(self.api.get(path, **{"from": 1}), 400, "invalid_argument")
        self.problem(self.api.get(path, **{"from": 0, "to": 1}), 400, "invalid_argument")
        self.problem(self.api.get(path, **{"from": 1, "to": 3}), 404, "workflow_not_found")

    def test_shows_the_schema_of_the_input(self):
        schema = '{"type":"object","properties":{"amount":{"minimum":1.50}}}'
        first = f'{{"workflow":"typed","steps":["a"],"input_schema":{schema}}}'
        self.assertEqual(self.api.post("/workflows", first).status, 201)
        second = {"workflow": "typed", "version": 2, "steps": ["a"]}
        self.assertEqual(self.api.post("/workflows", second).status, 201)
        path = "/workflows/typed/input-schema"
        of_first = self.api.get(path, version=1)
        self.assertEqual((of_first.status, of_first.json()), (200, json.loads(schema)))
        self.assertEqual(self.api.get(path).json(), {}, "the newest version takes any input")
        tag = {"If-None-Match": of_first.headers["etag"]}
        self.assertEqual(self.api("GET", path, headers=tag, query={"version": 1}).status, 304)
        self.assertEqual(self.api("GET", path, headers=tag).status, 200)
        self.problem(self.api.get(path, version=3), 404, "workflow_not_found")
        self.problem(self.api.get(path, version="x"), 400, "invalid_argument")

    def test_lays_out_diagrams(self):
        path = "/workflows/order/versions/1/layout"
        layout = self.api.get(path)
        nodes = layout.json()["nodes"]
        self.assertEqual([n["node"] for n in nodes if n["node"]], ["charge", "approve", "paid"])
        for node in nodes:
            self.assertLessEqual(node["box"]["x"] + node["box"]["width"], layout.json()["width"])
        right = self.api.get(path, direction="right").json()
        self.assertGreater(right["width"], right["height"])
        same = self.api("GET", path, headers={"If-None-Match": layout.headers["etag"]})
        self.assertEqual(same.status, 304)

    def test_says_which_workflow_is_missing(self):
        for path in ("", "/versions", "/versions/1", "/versions/1/layout", "/input-schema"):
            self.problem(self.api.get(f"/workflows/none{path}"), 404, "workflow_not_found")
