#!/usr/bin/env python3
"""Tables of docs/scale.md, from the results file of `privet-bench run scale`: none of their numbers is typed by hand.

    python3 scripts/scale_figures.py privet-bench-scale/results.jsonl
    python3 scripts/scale_figures.py privet-bench-scale/results.jsonl --write docs/scale.md

With --write each part that was measured takes the place of its table on the page, below the paragraph that begins with the
part's name, or is put there; commit and date are those of the last run.
"""

import json
import re
import sys
from datetime import date


def shown(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def tables(lines):
    """From the words that a paragraph begins with to the table below it."""
    parts = ("stand-ins", "growth", "bandwidth", "files", "race", "url")
    races = {part: [line for line in lines if line.get("race") == f"scale-{part}"] for part in parts}
    found = {}
    if races["stand-ins"]:
        found["**Stand-ins"] = table(
            ["set", "rows × columns", "ε", "asked", "took", "passes", "seconds", "GB/s", "peak GB", "accuracy", "behind"],
            [[line["size"], f"{line['rows']:,} × {line['columns']}", f"{line['epsilon']:g}" if line["epsilon"] else "none",
              line["method"], line["settled"], shown(line["passes"], 0), shown(line["seconds"], 1),
              shown(line["gigabytes_a_second"], 2), shown(line["peak_gigabytes"], 2), shown(line["accuracy"], 2),
              shown(line["behind"], 2)] for line in races["stand-ins"]],
        )
    if races["growth"]:
        found["**Growth**"] = table(
            ["rows", "from", "asked", "took", "passes", "seconds", "slope", "GB/s", "files alone GB/s", "peak GB"],
            [[f"{line['rows']:,}", line["storage"], line["method"], line["settled"], shown(line.get("passes"), 0),
              shown(line["seconds"], 2), shown(line.get("slope"), 2), shown(line.get("gigabytes_a_second"), 2),
              shown(line.get("read_gigabytes_a_second"), 2), shown(line["peak_gigabytes"], 2)] for line in races["growth"]],
        )
    if races["bandwidth"]:
        found["**Bandwidth**"] = table(
            ["rows × columns", "what", "from", "seconds", "GB/s", "beside GB/s", "share"],
            [[f"{line['rows']:,} × {line['columns']}", line["method"], line["storage"], shown(line["seconds"], 3),
              shown(line["gigabytes_a_second"], 2), shown(line["rate_gigabytes_a_second"], 2), shown(line["share"], 2)]
             for line in races["bandwidth"]],
        )
    if races["files"]:
        found["**From files**"] = table(
            ["rows × columns", "from", "GB", "what", "seconds", "slope", "rows a second", "peak GB"],
            [[f"{line['rows']:,} × {line['columns']}", line["storage"], shown(line["gigabytes"], 2), line["method"],
              shown(line["seconds"], 2), shown(line.get("slope"), 2), shown(line.get("rows_a_second"), 0),
              shown(line["peak_gigabytes"], 2)] for line in races["files"]],
        )
    if races["race"]:
        found["**Race**"] = table(
            ["who", "from", "rows × columns", "epochs", "seconds", "accuracy", "peak GB", "of lbfgs", "of sgd, 1 epoch", "of sgd, 5"],
            [[line["who"], line.get("storage", "–"), f"{line['rows']:,} × {line['columns']}", shown(line.get("epochs"), 0),
              shown(line["seconds"], 2), shown(line["accuracy"], 2), shown(line["peak_gigabytes"], 2),
              shown(line.get("times_lbfgs"), 2), shown(line.get("times_sgd_1"), 2), shown(line.get("times_sgd_5"), 2)]
             for line in races["race"]],
        )
    if races["url"]:
        found["**The sparse table**"] = table(
            ["rows × columns", "entries", "ε", "method", "passes", "seconds", "peak GB", "accuracy", "behind"],
            [[f"{line['rows']:,} × {line['columns']:,}", f"{line['entries']:,}",
              f"{line['epsilon']:g}" if line["epsilon"] else "none", line["method"], shown(line["passes"], 0),
              shown(line["seconds"], 1), shown(line["peak_gigabytes"], 2), shown(line["accuracy"], 2),
              shown(line["behind"], 2)] for line in races["url"]],
        )
    return found


def written(page, found, head):
    """The page with these tables."""
    lines = page.split("\n")
    for name, text in found.items():
        place = next(at for at, line in enumerate(lines) if line.startswith(name)) + 2
        end = place
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        more = [] if end > place else [""]
        lines[place:end] = [*text.rstrip("\n").split("\n"), *more]
    day = date.fromisoformat(head["started"][:10])
    when = f"(commit {head['commit'][:7]}, {day.day} {day:%B %Y})"
    return re.sub(r"files in the page cache \(commit [^)]*\)", f"files in the page cache {when}", "\n".join(lines))


def main(path, page=None):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    heads, found = [line for line in lines if line.get("kind") == "head"], tables(lines)
    if page is not None:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        with open(page, "w", encoding="utf-8") as file:
            file.write(written(text, found, heads[-1]))
        return
    for head in heads:
        print(f"<!-- {json.dumps({key: head[key] for key in ('commit', 'started', 'machine')}, ensure_ascii=False)} -->")
    for name, text in found.items():
        print(f"\n{name}\n\n{text}")


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--write"]
    main(*given)
