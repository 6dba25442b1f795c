#!/usr/bin/env python3
"""Tables of docs/scale.md, from the results file of `privet bench run scale`: none of their numbers is typed by hand.

    python3 scripts/scale_figures.py privet-bench-scale/results.jsonl
"""

import json
import sys


def shown(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def main(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    heads = [line for line in lines if "commit" in line]
    races = {part: [line for line in lines if line.get("race") == f"scale-{part}"] for part in ("stand-ins", "growth", "bandwidth", "files", "race", "url")}
    for head in heads:
        facts = {key: head[key] for key in ("commit", "date", "started", "cores", "processor", "cpu") if key in head}
        print(f"<!-- {json.dumps(facts, ensure_ascii=False)} -->")
    if races["stand-ins"]:
        print("\n**Stand-ins**, from files of rows.\n")
        print(table(
            ["set", "rows × columns", "ε", "asked", "took", "passes", "seconds", "GB/s", "peak GB", "accuracy", "behind"],
            [[line["size"], f"{line['rows']:,} × {line['columns']}", f"{line['epsilon']:g}" if line["epsilon"] else "none",
              line["method"], line["settled"], shown(line["passes"], 0), shown(line["seconds"], 1),
              shown(line["gigabytes_a_second"], 2), shown(line["peak_gigabytes"], 2), shown(line["accuracy"], 2),
              shown(line["behind"], 2)] for line in races["stand-ins"]],
        ))
    if races["growth"]:
        print("\n**Growth** with the rows.\n")
        print(table(
            ["rows", "from", "asked", "took", "passes", "seconds", "slope", "GB/s", "files alone GB/s", "peak GB"],
            [[f"{line['rows']:,}", line["storage"], line["method"], line["settled"], shown(line.get("passes"), 0),
              shown(line["seconds"], 2), shown(line.get("slope"), 2), shown(line.get("gigabytes_a_second"), 2),
              shown(line.get("read_gigabytes_a_second"), 2), shown(line["peak_gigabytes"], 2)] for line in races["growth"]],
        ))
    if races["bandwidth"]:
        print("\n**Bandwidth** of a pass.\n")
        print(table(
            ["rows × columns", "what", "from", "seconds", "GB/s", "beside GB/s", "share"],
            [[f"{line['rows']:,} × {line['columns']}", line["method"], line["storage"], shown(line["seconds"], 3),
              shown(line["gigabytes_a_second"], 2), shown(line["rate_gigabytes_a_second"], 2), shown(line["share"], 2)]
             for line in races["bandwidth"]],
        ))
    if races["files"]:
        print("\n**From files**, to a model.\n")
        print(table(
            ["rows × columns", "from", "GB", "what", "seconds", "slope", "rows a second", "peak GB"],
            [[f"{line['rows']:,} × {line['columns']}", line["storage"], shown(line["gigabytes"], 2), line["method"],
              shown(line["seconds"], 2), shown(line.get("slope"), 2), shown(line.get("rows_a_second"), 0),
              shown(line["peak_gigabytes"], 2)] for line in races["files"]],
        ))
    if races["race"]:
        print("\n**Race**, the same rows in one run.\n")
        print(table(
            ["who", "from", "rows × columns", "epochs", "seconds", "accuracy", "peak GB", "of lbfgs", "of sgd, 1 epoch", "of sgd, 5"],
            [[line["who"], line.get("storage", "–"), f"{line['rows']:,} × {line['columns']}", shown(line.get("epochs"), 0),
              shown(line["seconds"], 2), shown(line["accuracy"], 2), shown(line["peak_gigabytes"], 2),
              shown(line.get("times_lbfgs"), 2), shown(line.get("times_sgd_1"), 2), shown(line.get("times_sgd_5"), 2)]
             for line in races["race"]],
        ))
    if races["url"]:
        print("\n**Very many columns**, sparse rows.\n")
        print(table(
            ["rows × columns", "entries", "ε", "method", "passes", "seconds", "peak GB", "accuracy", "behind"],
            [[f"{line['rows']:,} × {line['columns']:,}", f"{line['entries']:,}",
              f"{line['epsilon']:g}" if line["epsilon"] else "none", line["method"], shown(line["passes"], 0),
              shown(line["seconds"], 1), shown(line["peak_gigabytes"], 2), shown(line["accuracy"], 2),
              shown(line["behind"], 2)] for line in races["url"]],
        ))


if __name__ == "__main__":
    main(sys.argv[1])
