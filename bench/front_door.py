#!/usr/bin/env python3
"""What a user pays at the front door: a source with eight typed handlers, the size of an installation and of
the packages, and the first `./dev demo` after a clone.

    bench/front_door.py [--prefix FOLDER] [--debs FOLDER] [--demo] [--out bench/results/front_door.json]

`--prefix` is what was installed, for example the unpacked Debian packages; `--debs` has the packages. Seconds
are of the processor, so that a loaded machine hardly changes them.
"""

import argparse
import datetime
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "bench/front_door/eight_handlers.cpp"
YARDSTICK = "#include <nlohmann/json.hpp>\n"
RUNS = 3
# Three minutes of the two processors of the reference machine.
DEMO_SECONDS_MAX = 360
PACKAGES_MIB_MAX = 30


def compile_once(arguments, text=None):
    """(seconds of the processor, MB at the most) of one compilation to an object file."""
    command = ["g++", "-std=c++20", "-O0", f"-I{ROOT}/include", "-c", "-o", os.devnull, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    if text is not None:
        process.stdin.write(text)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime, compiler_memory(usage)


def compiler_memory(usage):
    # The greatest of g++ and its children, in KiB.
    return usage.ru_maxrss / 1024


def best_of(arguments, text=None):
    runs = [compile_once(arguments, text) for _ in range(RUNS)]
    return min(seconds for seconds, _ in runs), max(mb for _, mb in runs), [s for s, _ in runs]


def compile_figures():
    base, base_mb, _ = best_of(["-x", "c++", "-"], YARDSTICK)
    seconds, mb, runs = best_of([str(SOURCE)])
    return [
        figure("eight_handlers_seconds", seconds, "CPU s", 2.5, runs, {"json_hpp_alone": round(base, 2)}),
        figure("eight_handlers_memory", mb, "MiB", 300, [mb], {"json_hpp_alone": round(base_mb)}),
    ]


def figure(name, value, unit, most, runs, details):
    return {
        "name": name, "value": round(value, 2), "unit": unit, "yardstick": f"at most {most} {unit}",
        "ratio": round(value / most, 3), "goal": 1, "runs": [round(run, 2) for run in runs],
        "note": "lower is better", "details": details, "verdict": "met" if value <= most else "missed",
    }


def size_figure(prefix):
    parts = {}
    for path in prefix.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        names = ("bin", "include", "doc", "lib", "share")
        part = next((name for name in names if name in path.parts), "other")
        parts[part] = parts.get(part, 0) + path.stat().st_size
    total = sum(parts.values()) / 2**20
    details = {part: round(size / 2**20, 2) for part, size in sorted(parts.items())}
    return figure("installed", total, "MiB", 30, [total], details)


def package_figures(folder):
    """What a user downloads: each package, and all of them together."""
    sizes = {path.name.split("_")[0]: path.stat().st_size / 2**20 for path in sorted(folder.glob("*.deb"))}
    if not sizes:
        raise SystemExit(f"There are no packages in {folder}: ./dev package builds them.")
    details = {name: round(size, 2) for name, size in sizes.items()}
    total = sum(sizes.values())
    return [figure("packages", total, "MiB", PACKAGES_MIB_MAX, [total], details)]


def demo_figure():
    """`./dev demo` in a fresh clone, without the compiler's cache."""
    with tempfile.TemporaryDirectory(prefix="ebb-demo-") as folder:
        clone = pathlib.Path(folder) / "ebb"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        subprocess.run(["./dev", "demo"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
        after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return figure("demo_cold", seconds, "CPU s", DEMO_SECONDS_MAX, [seconds], {"wall_seconds": round(took)})


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prefix", type=pathlib.Path)
    parser.add_argument("--debs", type=pathlib.Path)
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    figures = compile_figures()
    if options.prefix:
        figures.append(size_figure(options.prefix))
    if options.debs:
        figures += package_figures(options.debs)
    if options.demo:
        figures.append(demo_figure())
    head = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True)
    result = {
        "at": datetime.date.today().isoformat(), "commit": commit.stdout.strip(),
        "cpus": os.cpu_count(), "figures": figures,
    }
    text = json.dumps(result, indent=2) + "\n"
    if options.out:
        options.out.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
