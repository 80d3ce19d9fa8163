"""Who may include what: the layers, the owners of third-party libraries, the public headers."""

import os
import re

from framework import CPP, Finding, rule

# What a folder of src/ may include of the others, besides itself and the public headers.
_CORE = {"core", "support"}
_STORE = _CORE | {"store"}
_CALL = _CORE | {"call"}
_ENGINE = _STORE | {"call", "engine"}
_SURFACE = _ENGINE | {"stateless", "transfer"}
_SURFACE |= {"view", "rules", "function", "plugins", "yaml", "handlers", "store/memory"}
_SURFACE |= {"plugins/hooks", "plugins/telemetry", "plugins/webhooks"}
ARROWS = {
    "pch": set(),
    "support": set(),
    "core": _CORE,
    "store": _CORE,
    "store/memory": _STORE,
    "store/sqlite": _STORE,
    "store/postgres": _STORE,
    "call": _CORE,
    "engine": _STORE | {"call"},
    "stateless": _CALL,
    "transfer": _ENGINE | {"stateless"},
    "yaml": _ENGINE,
    "handlers": _ENGINE,
    "rules": _ENGINE,
    "function": _ENGINE,
    "plugins": _ENGINE,
    "plugins/hooks": _ENGINE,
    "plugins/telemetry": _ENGINE | {"handlers"},
    "plugins/webhooks": _ENGINE | {"handlers"},
    "view": _ENGINE,
    "testing": _ENGINE,
    "server": _SURFACE,
    "source": _CORE | {"yaml", "handlers"},
    "lsp": _CORE | {"yaml", "source"},
    "cli": _SURFACE | {"server", "source", "lsp"},
}
# A third-party library is known to one folder only, so that a user links just what is used.
CONFINED = {
    "sqlite3.h": ("src/store/sqlite/", "tests/", "bench/", "examples/"),
    "libpq-fe.h": ("src/store/postgres/", "tests/", "bench/"),
    "libfyaml.h": ("src/yaml/",),
    "curl/": ("src/handlers/", "tests/"),
    "prometheus/": ("src/plugins/metrics/", "tests/unit/metrics/"),
    "CLI/": ("src/cli/", "bench/"),
    "boost/": ("src/server/http/", "bench/server_bare"),
    "openssl/": ("src/server/http/", "src/server/auth/signature", "src/server/auth/sealing"),
    "cjose/": ("src/server/auth/oidc/cjose/",),
    "zlib.h": ("src/server/", "tests/unit/server/"),
    "spdlog/": ("src/server/", "src/cli/"),
    "gtest/": ("tests/",),
    "gmock/": ("tests/",),
}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(tree, path):
    text = tree.files[path]
    for match in _INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def layer_of(path_in_src):
    parts = path_in_src.split("/")
    deep = "/".join(parts[:2])
    return deep if deep in ARROWS and len(parts) > 2 else parts[0]


@rule
def include_arrow(tree):
    """Includes point downwards: core <- store <- engine <- surfaces (docs/ARCHITECTURE.md)."""
    for path in tree.paths("src/", ext=CPP):
        layer = layer_of(path[4:])
        for line, quote, name in includes(tree, path):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if quote != '"' or beside in tree.files or "/" not in name:
                target = beside[4:] if beside.startswith("src/") and quote == '"' else None
            else:
                target = name
            other = layer_of(target) if target else None
            if layer not in ARROWS:
                yield Finding(path, line, "include-arrow", f"src/{layer} has no place in ARROWS")
            elif other in ARROWS and other != layer and other not in ARROWS[layer]:
                yield Finding(path, line, "include-arrow", f"{layer} may not include {other}: {name}")


@rule
def third_party_include(tree):
    """A third-party header is included only by the folder that owns the library."""
    for path in tree.paths(ext=CPP):
        for line, _, name in includes(tree, path):
            for prefix, homes in CONFINED.items():
                if name.startswith(prefix) and not path.startswith(homes):
                    yield Finding(path, line, "third-party-include", f"<{name}> belongs to {homes[0]}")


# The headers that make something ready for use: an application that counts includes others.
HEAVY = {
    "include/ebb/ebb.h": ("nlohmann/json.hpp",),
    "include/ebb/format.h": ("fmt/format.h",),
}


@rule
def public_include(tree):
    """Public headers include only std, nlohmann/json_fwd.hpp and one another, but for HEAVY."""
    for path in tree.paths("include/", ext=CPP):
        for line, quote, name in includes(tree, path):
            is_std = quote == "<" and re.fullmatch(r"[a-z_]+", name)
            is_ours = quote == "<" and name.startswith("ebb/") and f"include/{name}" in tree.files
            if name in HEAVY.get(path, ()):
                continue
            if not is_std and not is_ours and name != "nlohmann/json_fwd.hpp":
                yield Finding(path, line, "public-include", f"a public header may not include {name}")


@rule
def pragma_once(tree):
    for path in tree.paths("include/", "src/", "tests/", "bench/", "examples/", ext=(".h",)):
        if not re.search(r"^#pragma once$", tree.files[path], re.MULTILINE):
            yield Finding(path, 1, "pragma-once", "a header has #pragma once")


# The one cache of compiled expressions changes nothing that anybody can see.
_EXEMPT = {("src/core/expression/expression.cpp", "mutex")}
_IMPURE = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "random"}
_IMPURE |= {"fstream", "iostream", "filesystem", "cstdio", "unistd.h", "stdio.h"}


@rule
def core_is_pure(tree):
    """The core has no input or output, no clock, no threads and no chance: they are parameters."""
    for path in tree.paths("src/core/", ext=CPP):
        for line, _, name in includes(tree, path):
            is_impure = name in _IMPURE or name.startswith("sys/")
            if is_impure and (path, name) not in _EXEMPT:
                yield Finding(path, line, "core-is-pure", f"the core may not use {name}")
        for line, code in tree.code_lines(path):
            if re.search(r"\b(System|Manual)?Clock\b", code):
                yield Finding(path, line, "core-is-pure", "the core is told the time")
