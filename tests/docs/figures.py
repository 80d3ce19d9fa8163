"""The table of kept results in docs/benchmarks.md, made from bench/results/*.json.

`figures.py --write` rewrites it (`./dev bench SUITE --keep` does); without it, the table is compared: what
the page says is what was measured.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"
SUITES = ["postgres", "sqlite", "kernel", "stateless", "rules", "server", "lsp", "size", "front_door", "ui"]


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rows_of(suite):
    path = ROOT / "bench" / "results" / f"{suite}.json"
    if not path.exists():  # no results are kept yet
        return
    kept = json.loads(path.read_text())
    yield f"| **{suite}** | {kept['at']}, `{kept['commit']}` | | |"
    for figure in kept["figures"]:
        name = f"`{figure['name']}`"
        if "commit" in figure:  # measured again, alone
            name += f" ({figure['at']}, `{figure['commit']}`)"
        if figure.get("verdict") == "failed":
            yield f"| {name} | not measured: {figure['note'].removeprefix('FAILED: ')} | | |"
            continue
        ratio = number(figure["ratio"]) if figure["ratio"] else ""
        goal = number(figure["goal"]) if figure["goal"] else ""
        if figure.get("verdict") == "missed":
            goal += " (missed)"
        yield f"| {name} | {number(figure['value'])} {figure['unit']} | {ratio} | {goal} |"


def table():
    lines = ["| figure | value | ratio | goal |", "|---|---|---|---|"]
    for suite in SUITES:
        lines += rows_of(suite)
    return "\n".join(lines) + "\n"


def main(arguments):
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + table() + END + after
    if arguments == ["--write"]:
        PAGE.write_text(wanted)
    elif text != wanted:
        sys.exit("docs/benchmarks.md does not show what is in bench/results: "
                 "run tests/docs/figures.py --write")


main(sys.argv[1:])
