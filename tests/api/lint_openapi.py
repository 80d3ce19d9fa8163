#!/usr/bin/env python3
"""Checks what the API document must be like beyond its syntax: lint_openapi.py REPOSITORY

Every operation has an id, a summary, a tag, a permission and a default problem; path parameters are
declared; every schema is a JSON Schema; every example fits its schema; every component is used.
"""

import pathlib
import re
import sys

import jsonschema

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "cmake"))
import openapi  # noqa: E402

DOCUMENT = openapi.merge(ROOT / "schema" / "openapi")
PROBLEMS = []

# The data of live streams, and a value that may stand for a payload.
SCHEMAS_WITHOUT_REFERENCE = (
    "Hello",
    "HistoryMessage",
    "InstanceMessage",
    "ListMessage",
    "ChangedMessage",
    "TruncatedPayload",
    "HiddenPayload",
)


def problem(where, text):
    PROBLEMS.append(f"{where}: {text}")


def deref(node):
    while isinstance(node, dict) and "$ref" in node:
        node = openapi.resolve(DOCUMENT, node["$ref"])
    return node


def validator(schema):
    whole = dict(schema)
    whole["components"] = DOCUMENT["components"]
    return jsonschema.Draft202012Validator(whole)


def check_operation(path, method, operation, ids):
    where = f"{method.upper()} {path}"
    name = operation.get("operationId", "")
    if not re.fullmatch(r"[a-z][A-Za-z]+", name):
        problem(where, "operationId must be a camelCase word")
    if name in ids:
        problem(where, f"the operationId {name} occurs twice")
    ids.add(name)
    for key in ("summary", "tags", "x-ebb-permission", "x-ebb-reach"):
        if not operation.get(key):
            problem(where, f"{key} is missing")
    if operation.get("summary", "").endswith("."):
        problem(where, "a summary has no period")
    if set(operation.get("tags", [])) - {tag["name"] for tag in DOCUMENT["tags"]}:
        problem(where, "unknown tag")
    if "default" not in operation["responses"]:
        problem(where, "there is no default response")
    if not any(status.startswith(("2", "30")) for status in operation["responses"]):
        problem(where, "there is no successful response")
    item = DOCUMENT["paths"][path]
    declared = [deref(p) for p in item.get("parameters", []) + operation.get("parameters", [])]
    in_path = {p["name"] for p in declared if p["in"] == "path"}
    if in_path != set(re.findall(r"{(\w+)}", path)):
        problem(where, "the path and its parameters differ")
    if len({(p["in"], p["name"]) for p in declared}) != len(declared):
        problem(where, "a parameter is declared twice")
    for parameter in declared:
        if "example" in parameter:
            for error in validator(parameter["schema"]).iter_errors(parameter["example"]):
                problem(f"{where} {parameter['name']}", error.message)
    for kind, content in deref(operation.get("requestBody", {})).get("content", {}).items():
        if "example" in content:
            for error in validator(content["schema"]).iter_errors(content["example"]):
                problem(f"{where} {kind}", error.message)


def main():
    ids = set()
    for path, method, operation in openapi.operations(DOCUMENT):
        check_operation(path, method, operation, ids)
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        for example in schema.get("examples", []):
            for error in validator(schema).iter_errors(example):
                problem(name, error.message)
    used = set(openapi.references(DOCUMENT))
    used |= {f"#/components/schemas/{name}" for name in SCHEMAS_WITHOUT_REFERENCE}
    for kind, components in DOCUMENT["components"].items():
        for name in components:
            if kind != "securitySchemes" and f"#/components/{kind}/{name}" not in used:
                problem(f"{kind}/{name}", "nothing uses it")
    for text in PROBLEMS:
        print(text, file=sys.stderr)
    print(f"{len(ids)} operations, {len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
