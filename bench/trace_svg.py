#!/usr/bin/env python3
"""A drawing of a trace (ep::trace::to_json) for pages that do not zoom.

    python3 bench/trace_svg.py run.json > run.svg
"""
import json
import sys
from xml.sax.saxutils import escape

WIDTH, LEFT, LANE, GAP = 760, 110, 16, 10
COLOURS = ["#4878a8", "#6a9f58", "#b07aa1", "#9c755f", "#76b7b2", "#d4a6c8", "#86bcb6", "#8cd17d"]
OTHERS = {"transfer": "#f1a340", "waiting": "#d7301f", "copies out": "#8dd3c7", "copies in": "#fdb462"}
KINDS = (" copy out", " copy in", " combine", " copy", " read", " transfer", " wait")


def vertex_of(name):
    for kind in KINDS:
        if name.endswith(kind):
            return name[: -len(kind)]
    return name


events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
end = max(e["ts"] + e["dur"] for e in spans)
ranks = 1 + max(e["pid"] for e in spans)
lanes = 1 + max(lane for _, lane in names)
colours = {}
for e in spans:
    if e["tid"] == 0:
        colours.setdefault(vertex_of(e["name"]), COLOURS[len(colours) % len(COLOURS)])


def x_of(time):
    return LEFT + (WIDTH - LEFT - 10) * time / end


height = 30 + ranks * (lanes * LANE + GAP) + 40
out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
    f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
]
at = 10
for name, colour in [*colours.items(), *list(OTHERS.items())[: lanes - 1]]:
    out.append(f'<rect x="{at}" y="8" width="10" height="10" fill="{colour}"/>')
    out.append(f'<text x="{at + 14}" y="17">{escape(name)}</text>')
    at += 30 + 7 * len(name)
for rank in range(ranks):
    top = 30 + rank * (lanes * LANE + GAP)
    for lane in range(lanes):
        y = top + lane * LANE
        out.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 10}" height="{LANE - 3}" fill="#f2f2f2"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 10}" text-anchor="end">rank {rank}: {names[rank, lane]}</text>')
for e in spans:
    y = 30 + e["pid"] * (lanes * LANE + GAP) + e["tid"] * LANE
    x, width = x_of(e["ts"]), max(x_of(e["dur"]) - LEFT, 0.5)
    colour = OTHERS.get(names[e["pid"], e["tid"]]) or colours[vertex_of(e["name"])]
    out.append(
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LANE - 3}" fill="{colour}">'
        f'<title>{escape(e["name"])}, {e["dur"] / 1000:.3f} ms</title></rect>'
    )
foot = 30 + ranks * (lanes * LANE + GAP)
step = 10 ** len(str(int(end))) / 10
step = step if end / step > 4 else step / 2 if end / step > 2 else step / 5
for tick in range(int(end / step) + 1):
    out.append(f'<line x1="{x_of(tick * step):.1f}" x2="{x_of(tick * step):.1f}" y1="{foot}" y2="{foot + 5}" stroke="black"/>')
    out.append(f'<text x="{x_of(tick * step):.1f}" y="{foot + 18}" text-anchor="middle">{tick * step / 1000:g} ms</text>')
out.append("</svg>")
print("\n".join(out))
