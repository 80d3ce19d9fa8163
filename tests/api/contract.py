"""Holds every exchange with a server against the API's document."""

import json
import re
import sys

import jsonschema


# What mail_test.py sees, and not api_test.py.
CALLBACKS = {"getCallback", "answerCallback", "makeCallback"}


class Contract:
    """Judges exchanges, and knows which documented answers have been seen."""

    def __init__(self, root):
        sys.path.insert(0, str(root / "cmake"))
        import openapi

        self.openapi = openapi
        self.document = openapi.merge(root / "schema" / "openapi")
        self.operations = []
        for path, method, operation in openapi.operations(self.document):
            # It is not below /api/v1.
            if "servers" in self.document["paths"][path]:
                continue
            pattern = re.sub(r"{\w+}", "[^/]+", path)
            fixed = path.count("{")
            self.operations.append((method.upper(), fixed, re.compile(pattern + "$"), path, operation))
        self.operations.sort(key=lambda entry: entry[1])
        self.seen = set()
        self._validators = {}

    def deref(self, node):
        while "$ref" in node:
            node = self.openapi.resolve(self.document, node["$ref"])
        return node

    def validate(self, schema, value, where):
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            whole = dict(schema, components=self.document["components"])
            self._validators[key] = jsonschema.Draft202012Validator(whole)
        errors = list(self._validators[key].iter_errors(value))
        assert not errors, f"{where}: {errors[0].json_path}: {errors[0].message}"

    def find(self, method, path):
        method = "GET" if method == "HEAD" else method
        for known, _, pattern, template, operation in self.operations:
            if known == method and pattern.match(path):
                return template, operation
        return None, None

    def check(self, method, path, status, headers, body):
        """`path` begins behind /api/v1. Raises AssertionError."""
        kind = headers.get("content-type", "").split(";")[0]
        where = f"{method} {path} -> {status}"
        template, operation = self.find(method, path)
        if operation is None:
            assert status in (404, 405), f"{where}: the document does not have this operation"
        if status >= 400:
            assert kind == "application/problem+json", f"{where}: {kind} is not a problem document"
            problem = json.loads(body) if body else None
            if method != "HEAD":
                schema = {"$ref": "#/components/schemas/Problem"}
                self.validate(schema, problem, where)
                assert problem["status"] == status, where
        if operation is None:
            return
        responses = operation["responses"]
        documented = str(status) in responses
        assert documented or status >= 400, f"{where}: this status is not documented"
        if not documented:
            return
        self.seen.add((operation["operationId"], str(status)))
        response = self.deref(responses[str(status)])
        for name in response.get("headers", {}):
            assert name.lower() in headers or name in ("Link", "Location", "Set-Cookie"), \
                f"{where}: the header {name} is missing"
        content = response.get("content", {})
        if not content:
            assert not body, f"{where}: there is a body"
            return
        assert kind in content, f"{where}: {kind} is not documented"
        if kind == "application/json" and method != "HEAD":
            self.validate(content[kind].get("schema", {}), json.loads(body), where)

    def documented(self):
        """All (operationId, status) but the default ones."""
        return self.documented_of({operation["operationId"] for *_, operation in self.operations})

    def documented_of(self, names):
        """The same of these operations."""
        return {
            (operation["operationId"], status)
            for _, _, _, _, operation in self.operations
            for status in operation["responses"]
            if status != "default" and operation["operationId"] in names
        }
