#!/usr/bin/env python3
"""Tables of docs/parties.md, from the results file of `privet-bench run wang-parties`: none of their numbers is typed by hand.

    python3 scripts/parties_figures.py privet-bench-wang-parties/results.jsonl                  # prints them
    python3 scripts/parties_figures.py privet-bench-wang-parties/results.jsonl docs/parties.md  # writes them in

In the page a table stands between the lines `<!-- figures: NAME -->` and `<!-- end -->`. One whose part was not measured is
left as it is.
"""

import json
import re
import sys
from collections import defaultdict

TITLES = {"kddcup99": "KDDCup99", "adult": "Adult", "california-housing": "California", "generated-95": "generated, 95 columns"}


def shown(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def thousandths(gap):
    """A gap in thousandths, to three significant digits or so."""
    gap *= 1000
    return f"{gap:,.2f}" if gap < 10 else f"{gap:,.1f}" if gap < 100 else f"{gap:,.0f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def head(heads, lines):
    """Of which commits and days these lines may be, and of how many runs."""
    commits = sorted({line["commit"] for line in heads if line.get("commit")})
    days = sorted({line["started"][:10] for line in heads})
    runs = sorted({len(group) for group in grouped(lines, "dataset", "parties", "method", "rounds").values()})
    counted = f"mean of {runs[0]} to {runs[-1]} runs" if len(runs) > 1 else f"mean of {runs[0]} runs" if runs and runs[0] > 1 else "one run"
    return f"`privet-bench run wang-parties`, commit {' and '.join(commits)}, {' and '.join(days)}; {counted}."


def grouped(lines, *keys):
    groups = defaultdict(list)
    for line in lines:
        groups[tuple(line.get(key) for key in keys)].append(line)
    return groups


def ordered(values):
    return sorted(set(values))


def curves(lines):
    """For each set a table: methods by parties, the least mean gap over rounds, and the points of accuracy lost there."""
    text = ""
    for (dataset,), of_set in grouped(lines, "dataset").items():
        parties = ordered(line["parties"] for line in of_set)
        rows = []
        for (method,), of_method in grouped(of_set, "method").items():
            row = [method]
            for m in parties:
                of_m = [line for line in of_method if line["parties"] == m]
                by_rounds = [(mean([line["gap"] for line in some]), rounds, mean([line["accuracy-loss"] for line in some]))
                             for (rounds,), some in grouped(of_m, "rounds").items()]
                if not by_rounds:
                    row.append("–")
                    continue
                gap, rounds, loss = min(by_rounds)
                at = f" ({rounds})" if rounds else ""
                lost = f"{loss:,.2f}" if abs(loss) < 1000 else "far off"
                row.append(f"{thousandths(gap)}{at}; {lost}")
            rows.append(row)
        best = mean([line["best"] for line in of_set])
        text += f"\n{TITLES.get(dataset, dataset)} ({of_set[0]['rows']:,} rows, {of_set[0]['columns']} columns; without privacy {best:.2f}):\n\n"
        text += table(["method"] + [f"m = {m:,}" for m in parties], rows)
    return text


def by_rounds(lines):
    """Gaps against rounds, of methods that have several."""
    text = ""
    for (dataset,), of_set in grouped(lines, "dataset").items():
        m = ordered(line["parties"] for line in of_set)
        m = m[len(m) // 2]
        of_m = [line for line in of_set if line["parties"] == m]
        rounds = ordered(line["rounds"] for line in of_m if line["method"] == "mpc-grad")
        rows = []
        for method in ("mpc-grad", "mpc-grad-joint", "local-grad"):
            found = {r: mean([line["gap"] for line in of_m if line["method"] == method and line["rounds"] == r]) for r in rounds}
            lost = {r: mean([line["accuracy-loss"] for line in of_m if line["method"] == method and line["rounds"] == r]) for r in rounds}
            rows.append([method] + ["–" if found[r] is None else f"{thousandths(found[r])}; {lost[r]:.2f}" for r in rounds])
        text += f"\n{TITLES.get(dataset, dataset)}, m = {m:,}:\n\n" + table(["rounds"] + [str(r) for r in rounds], rows)
    return text


def ours(lines):
    rows = []
    for (dataset, method, rounds), some in grouped(lines, "dataset", "method", "rounds").items():
        parties = ordered(line["parties"] for line in some)
        lost = ["–" if (value := mean([line["accuracy-loss"] for line in some if line["parties"] == m])) is None else f"{value:.2f}" for m in parties]
        gaps = [mean([line["gap"] for line in some if line["parties"] == m]) for m in parties]
        gaps = ["–" if gap is None else thousandths(gap) for gap in gaps]
        chosen = some[0]["chosen"]
        rows.append([TITLES.get(dataset, dataset), method + (f" ({chosen})" if chosen != method.split(",")[0] else ""), f"{rounds}",
                     ", ".join(f"{m:,}" for m in parties), ", ".join(lost), ", ".join(gaps),
                     f"{some[0]['bytes-a-party'] / 1e6:.2f}", shown(mean([line["seconds"] for line in some]), 1)])
    best = {TITLES.get(line["dataset"], line["dataset"]): (line["best"], line.get("tested")) for line in lines}
    words = "; ".join(f"{name} {value:.2f} on {tested:,} rows" for name, (value, tested) in best.items())
    return f"\nThe best linear model without privacy has: {words}.\n\n" + table(
        ["set", "method", "rounds", "parties", "points lost", "gap, thousandths", "MB a party", "s, all parties in one process"], rows)


def flat(lines):
    rows = [[TITLES.get(line["dataset"], line["dataset"]), line["method"], str(line["rounds"] or "–"), f"{line['few']:,}", f"{line['many']:,}",
             f"{line['ratio']:,.2f}"] for line in lines if line["method"] in
            ("mpc-grad", "mpc-grad-chosen", "mpc-grad-joint", "mpc-out", "local-grad") and line["rounds"] in (0, 40, 50, 200, 500)]
    return "\n" + table(["set", "method", "rounds", "fewest m", "most m", "gap at most m / at fewest"], rows)


def joint(lines):
    gates = {line["law"]: line for line in lines if "sampler" in line}
    rows = [[line["law"], str(line["columns"]), f"{gates[line['law']]['sampler']:,} + {gates[line['law']]['sharing']:,}",
             f"{line['gates']:,}", f"{line['megabytes']:,.0f}", f"{line['seconds']:.1f}", f"{line['processor-seconds']:.1f}"]
            for line in lines if "seconds" in line]
    rows += [["Wang 2021 (Table 6.2), Laplace; Yao / DualEx", "104", "391,700", "40,733,500", "777 + 35", "22 / 56", ""],
             ["the same", "122", "391,600", "47,781,200", "911 + 41", "26 / 65", ""]]
    return "\n" + table(["law", "numbers", "gates a number: sampler + sharing", "gates", "MB", "s", "processor s, both servers"], rows)


def noise(lines):
    def digits(value):
        return "–" if value is None else f"{value * 1000:,.0f}" if value > 0.1 else f"{value * 1000:.3g}"

    rows = [[line["method"], digits(line["printed-deviation"]), shown(line.get("printed-is-worth"), 2),
             digits(line["sound-deviation"]) if line["law"] == "laplace" and "sound-deviation" in line else "–",
             digits(line.get("sound-gaussian-deviation") or (line.get("sound-deviation") if line["law"] == "gaussian" else None))]
            for line in lines]
    return "\n" + table(["method", "printed", "ε that printed noise is worth", "sound, ℓ2-Laplace", "sound, Gaussian"], rows)


def main(path, page=None):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    heads = [line for line in lines if line.get("kind") == "head"]
    parts = {name: [line for line in lines if line.get("race") == f"parties-{name}"]
             for name in ("logistic", "ridge", "flat", "ours", "joint", "noise")}
    made = {}
    for name, part, write in (("logistic", "logistic", curves), ("rounds", "logistic", by_rounds), ("ridge", "ridge", curves),
                              ("flat", "flat", flat), ("ours", "ours", ours), ("joint", "joint", joint), ("noise", "noise", noise)):
        if parts[part] and (part != "joint" or any("seconds" in line for line in parts[part])):
            made[name] = head(heads, parts[part]) + "\n" + write(parts[part])
    if page is None:
        for name, text in made.items():
            print(f"<!-- figures: {name} -->\n{text}<!-- end -->\n")
        return
    with open(page, encoding="utf-8") as file:
        whole = file.read()
    for name, text in made.items():
        between = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not between.search(whole):
            sys.exit(f"{page} has no place for the figures '{name}'")
        whole = between.sub(lambda found: found.group(1) + text + found.group(2), whole)
    with open(page, "w", encoding="utf-8") as file:
        file.write(whole)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
