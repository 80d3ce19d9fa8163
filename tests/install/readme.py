#!/usr/bin/env python3
"""The commands with which README and docs/how-to/embed.md build and install Ebb, run as they stand there.

    readme.py SOURCE WORK [--launcher ccache]

In a copy of the tree as a clone has it, with a home folder of its own. All commands are run: Ebb is
configured, built, installed and used by a program. The build as written takes as long as that of Ebb, so
EBB_BUILD_README says what is built: `quick` (the default) = the library without optional components, not
optimized and with many sources compiled as one; `core` = the same as written; `all` = everything as written;
`none` = the configuration only.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

# The fastest to compile: the compiler rarely looks for memory to use again.
QUICK = "-O0 -w --param ggc-min-expand=100 --param ggc-min-heapsize=600000"

PROGRAM = """
#include <iostream>
#include <ebb/ebb.h>
int main() {
    const ebb::StorePtr store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    handlers.add("greet", [](const std::string& name) { return "Hello, " + name; });
    ebb::Engine engine(*store, handlers);
    engine.register_workflow(ebb::WorkflowBuilder("hello").step("greet").build());
    const auto instance = engine.start("hello", ebb::Payload::of("world"));
    std::cout << engine.wait<std::string>(instance.id) << std::endl;
}
"""


def fail(message):
    sys.exit(f"readme.py: {message}")


def install_commands(page):
    """The commands of the one block that installs, without the step that only installs packages."""
    fences = r"^```[^\n]*\n(.*?)^```$"
    blocks = re.findall(fences, page.read_text(), re.DOTALL | re.MULTILINE)
    blocks = [block for block in blocks if "cmake --install" in block]
    if len(blocks) != 1:
        fail(f"{page} has {len(blocks)} blocks with `cmake --install`, not one")
    lines = [line.split("  #")[0].strip() for line in blocks[0].replace("&&", "\n").splitlines()]
    return [line for line in lines if line and not line.startswith("./dev setup")]


def optional_components(page):
    """The names that embed.md lists: `-DEBB_WITH_SQLITE=OFF`, `_POSTGRES`, ..."""
    sentence = re.search(r"`-DEBB_WITH_SQLITE=OFF`(.*?)\. The command", page.read_text(), re.DOTALL)
    if not sentence:
        fail(f"{page} does not list the components that can be left out")
    return ["SQLITE", *re.findall(r"`_(\w+)`", sentence[1])]


def clone(source, target):
    """The files that git knows, and new ones that it does not ignore, as they are now."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    listed = ["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, check=True).stdout.split(b"\0")
    present = [name for name in names if name and (source / os.fsdecode(name)).exists()]
    packed = subprocess.Popen(
        ["tar", "-C", source, "--null", "-T", "-", "-cf", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    unpacked = subprocess.Popen(["tar", "-C", target, "-xf", "-"], stdin=packed.stdout)
    packed.stdin.write(b"\0".join(present))
    packed.stdin.close()
    if unpacked.wait() != 0 or packed.wait() != 0:
        fail("the tree could not be copied")


class Shell:
    """A user's shell in the clone."""

    def __init__(self, folder, home, launcher):
        self.folder = folder
        self.environment = {**os.environ, "HOME": str(home)}
        if launcher:
            cache = self.environment.get("CCACHE_DIR") or subprocess.run(
                [launcher, "--get-config", "cache_dir"], capture_output=True, text=True, check=True
            ).stdout.strip()
            self.environment |= {
                "CMAKE_CXX_COMPILER_LAUNCHER": launcher, "CCACHE_DIR": cache,
                "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1",
            }

    def run(self, command):
        print(f"$ {command}", flush=True)
        ended = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        if ended.returncode != 0:
            fail(f"`{command}` ended with {ended.returncode}:\n{ended.stdout[-20000:]}")
        return ended.stdout


def check_build_folder(cache):
    text = cache.read_text()
    for wrong in ("fuse-ld=mold", "CMAKE_COMPILE_WARNING_AS_ERROR:BOOL=ON"):
        if wrong in text:
            fail(f"{cache} has {wrong}, which a user has not asked for")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--launcher", default="")
    options = parser.parse_args()

    page = options.source / "docs/how-to/embed.md"
    commands = install_commands(page)
    if install_commands(options.source / "README.md") != commands:
        fail(f"README.md installs otherwise than {page}")
    if not commands[0].startswith("cmake --preset"):
        fail(f"{page} does not begin with the configuration: {commands[0]}")

    tree, home = options.work / "clone", options.work / "home"
    clone(options.source, tree)
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    shell = Shell(tree, home, options.launcher)

    extent = os.environ.get("EBB_BUILD_README") or "quick"
    if extent not in ("none", "quick", "core", "all"):
        fail(f"EBB_BUILD_README is {extent}, not none, quick, core or all")
    shell.run(commands[0])
    check_build_folder(tree / "build/install/CMakeCache.txt")
    if "unit_" in shell.run("cmake --build build/install --target help"):
        fail("the preset `install` has the targets of tests")
    if extent != "none":
        build_and_use(shell, extent, commands, page)
    # The clone is as large as Ebb; the next run begins with a new one anyway.
    shutil.rmtree(tree)
    print("readme.py: done")


def build_and_use(shell, extent, commands, page):
    configure = commands[0]
    if extent != "all":
        off = " ".join(f"-DEBB_WITH_{name}=OFF" for name in optional_components(page))
        quick = f" -DEBB_UNITY=ON -DCMAKE_CXX_FLAGS_RELEASE='{QUICK}'" if extent == "quick" else ""
        shell.run(f"{configure} {off}{quick}")
    for command in commands[1:]:
        shell.run(command)

    (pathlib.Path(shell.environment["HOME"]) / "main.cpp").write_text(PROGRAM)
    shell.run(
        "cd && export PKG_CONFIG_PATH=$(find ~/.local/ -name pkgconfig) && "
        "g++ -std=c++20 $(pkg-config --cflags ebb) main.cpp -o hello $(pkg-config --libs ebb)"
    )
    if "Hello, world" not in shell.run("~/hello"):
        fail("the program does not say hello")
    if extent == "all":
        shell.run("~/.local/bin/ebb --version")


if __name__ == "__main__":
    main()
