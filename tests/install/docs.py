#!/usr/bin/env python3
"""The docs as they are installed: every relative link leads to a file below the prefix, and what the docs
tell a reader to use is there.

    docs.py PREFIX DOC_FOLDER DATA_FOLDER [--server] [--typescript]

With --server, the document of the API is there, too; with --typescript, the client for TypeScript is built.
"""

import json
import os
import re
import sys

NEEDED = [
    "README.md",
    "docs/tutorial.md",
    "docs/images/instance.png",
    "examples/README.md",
    "examples/hello.yaml",
    "examples/order/order.cpp",
    "contrib/systemd/ebb-serve.service",
]
CLIENTS = [
    "python/pyproject.toml",
    "python/build_wheel.py",
    "python/ebb_client/client.py",
    "python/examples/greet.py",
    "typescript/package.json",
    "typescript/src/index.ts",
]
BUILT_CLIENT = ["typescript/dist/index.js", "typescript/dist/index.d.ts"]
# They need a checkout.
UNWANTED = ["examples/CMakeLists.txt", "examples/demo.sh"]


def links_of(text):
    """The targets of links and pictures, outside code."""
    text = re.sub(r"^( *)(```|~~~).*?^ *\2[^\n]*$", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]+`", "", text)
    return re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", text)


def broken_links(prefix, folder):
    count = 0
    for above, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".md"):
                continue
            page = os.path.join(above, name)
            with open(page, encoding="utf-8") as file:
                links = links_of(file.read())
            for link in links:
                path = link.partition("#")[0]
                if re.match(r"[a-z][a-z0-9+.-]*:", link) or not path:
                    continue
                count += 1
                target = os.path.normpath(os.path.join(above, path))
                if not target.startswith(prefix + os.sep):
                    yield f"{page}: {link} leaves the prefix"
                elif not os.path.exists(target):
                    yield f"{page}: {link} leads nowhere"
    if count < 100:
        yield f"only {count} relative links in {folder}: is it the right folder?"


def main(prefix, doc_folder, data_folder, *parts):
    prefix = os.path.normpath(prefix)
    folder = os.path.join(prefix, doc_folder)
    wrong = list(broken_links(prefix, folder))
    wrong += [f"{name} is not installed" for name in NEEDED if not os.path.exists(os.path.join(folder, name))]
    wrong += [f"{name} is installed" for name in UNWANTED if os.path.exists(os.path.join(folder, name))]
    schema = os.path.join(prefix, data_folder, "ebb", "schema")
    with open(os.path.join(schema, "workflow.schema.json"), encoding="utf-8") as file:
        json.load(file)
    clients = os.path.join(prefix, data_folder, "ebb", "clients")
    needed = CLIENTS + (BUILT_CLIENT if "--typescript" in parts else [])
    missing = [name for name in needed if not os.path.exists(os.path.join(clients, name))]
    wrong += [f"{name} is not installed" for name in missing]
    if "--server" in parts:
        with open(os.path.join(schema, "openapi.json"), encoding="utf-8") as file:
            if "/instances" not in json.load(file)["paths"]:
                wrong.append("openapi.json has no /instances")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
