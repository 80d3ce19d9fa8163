#!/usr/bin/env python3
"""Merges the files of schema/openapi into one JSON document: openapi.py FOLDER > openapi.json

openapi.yaml is the root; every other file adds paths and components. The same path, component or
operation in two files is an error, as is a reference to something that does not exist.
"""

import json
import pathlib
import sys

import yaml

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


class UniqueKeyLoader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """Refuses a key that occurs twice, and leaves dates as the texts that they are."""


def construct_mapping(loader, node, deep=False):
    seen = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise SystemExit(f"{key_node.start_mark}: the key {key!r} occurs twice")
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


UniqueKeyLoader.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG,
    lambda loader, node: construct_mapping(loader, node, deep=True),
)
UniqueKeyLoader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def add(target, source, where):
    for key, value in source.items():
        if key in target:
            raise SystemExit(f"{where}: {key} is defined twice")
        target[key] = value


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def resolve(document, reference):
    node = document
    for part in reference.removeprefix("#/").split("/"):
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield path, method, operation


def merge(folder):
    document = yaml.load((folder / "openapi.yaml").read_text(), UniqueKeyLoader)
    for file in sorted(folder.glob("*.yaml")):
        if file.name == "openapi.yaml":
            continue
        part = yaml.load(file.read_text(), UniqueKeyLoader)
        unknown = set(part) - {"paths", "components"}
        if unknown:
            raise SystemExit(f"{file.name}: only paths and components may stand here, not {sorted(unknown)}")
        add(document["paths"], part.get("paths", {}), f"{file.name}: paths")
        for kind, components in part.get("components", {}).items():
            add(document["components"].setdefault(kind, {}), components, f"{file.name}: {kind}")
    for reference in references(document):
        try:
            resolve(document, reference)
        except KeyError:
            raise SystemExit(f"there is no {reference}") from None
    return document


if __name__ == "__main__":
    json.dump(merge(pathlib.Path(sys.argv[1])), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
