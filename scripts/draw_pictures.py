"""Draws what a pipeline makes of the manual, as SVG for light and dark pages.

    draw_pictures.py pages FILE... >CSV
    draw_pictures.py graph|tree <JSON >SVG

pages: each page without its examples, whose capitals are SQL; columns file, title and body

graph: {"entities": [{"name", "chunks", "community"}], "ties": [{"one", "other", "chunks"}]}
tree: {"title", "nodes": [{"hash", "level", "first", "last", "children", "content"}], "chunks": [{"no", "heading", "content"}]}

Nothing is random: the same JSON gives the same picture.
"""

import csv
import json
import math
import re
import sys
from html import escape
from itertools import combinations
from pathlib import Path

# Characters of a sans-serif font are about so wide, as a share of its size.
WIDTH_OF_CHARACTER = 0.54

STYLE = """<style>
  svg { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color-scheme: light dark; }
  .page { fill: #ffffff; } .ink { fill: #1f2933; } .soft { fill: #5b6773; } .line { stroke: #b6c0cb; fill: none; }
  .card { fill: #f5f7fa; stroke: #c9d1da; } .halo { stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; paint-order: stroke; }
  .c0 { fill: #3b6fb6; } .c1 { fill: #c2622d; } .c2 { fill: #2f8f6b; } .c3 { fill: #8a5bb5; }
  .c4 { fill: #b5456b; } .c5 { fill: #9a7d0a; } .c6 { fill: #2b8c9e; } .c7 { fill: #7a6a58; } .none { fill: #8b97a3; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; } .ink { fill: #e6edf3; } .soft { fill: #9aa7b4; } .line { stroke: #475361; }
    .card { fill: #161b22; stroke: #30363d; } .halo { stroke: #0d1117; }
    .c0 { fill: #6ea8fe; } .c1 { fill: #f0945d; } .c2 { fill: #56c596; } .c3 { fill: #bd93e8; }
    .c4 { fill: #ee7ba0; } .c5 { fill: #d9bd4a; } .c6 { fill: #5fc4d6; } .c7 { fill: #b8a591; } .none { fill: #6b7783; }
  }
</style>"""


def picture(width: float, height: float, title: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(title)}">'
    )
    page = f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="10"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", STYLE, page, *parts, "</svg>"]) + "\n"


def text(x: float, y: float, said: str, size: float, css: str = "ink", more: str = "") -> str:
    return f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}"{more}>{escape(said)}</text>'


def width_of(said: str, size: float) -> float:
    return len(said) * size * WIDTH_OF_CHARACTER


def plain(said: str) -> str:
    """Markdown as it reads."""
    said = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", said)
    return " ".join(re.sub(r"[`*#]", "", said).split())


def wrapped(said: str, width: float, size: float, most: int) -> list[str]:
    """Lines of words that fit, the last one with an ellipsis where there would be more than `most`."""
    lines: list[str] = [""]
    for word in said.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    while last and width_of(last + " …", size) > width:
        last = last.rpartition(" ")[0]
    return [*lines[: most - 1], f"{last.rstrip(',.;:')} …"]


# --- The graph: entities that push each other away, and ties that pull.

GRAPH = (860.0, 560.0)
STEPS = 600


def label_size(chunks: int, most: int) -> float:
    return 11.5 + 4.5 * math.sqrt(chunks / most)


def laid_out(boxes: list[tuple[float, float]], ties: list[tuple[int, int, float]]) -> list[list[float]]:
    """Places of the middles of boxes, as Fruchterman and Reingold have it; boxes do not overlap in the end."""
    width, height = GRAPH
    count = len(boxes)
    around = [2 * math.pi * at / count for at in range(count)]
    places = [[width / 2 + 0.38 * width * math.cos(a), height / 2 + 0.36 * height * math.sin(a)] for a in around]
    apart = 0.72 * math.sqrt(width * height / count)
    for step in range(STEPS):
        moves = [[0.0, 0.0] for _ in boxes]
        for one, other in combinations(range(count), 2):
            dx, dy = places[one][0] - places[other][0], places[one][1] - places[other][1]
            # A label is wide: what stands beside it is nearer than it seems.
            far = max(math.hypot(dx * 0.62, dy), 1.0)
            push = apart * apart / far
            for node, sign in ((one, 1), (other, -1)):
                moves[node][0] += sign * push * dx / far
                moves[node][1] += sign * push * dy / far
        for one, other, weight in ties:
            dx, dy = places[one][0] - places[other][0], places[one][1] - places[other][1]
            far = max(math.hypot(dx, dy), 1.0)
            pull = weight * far * far / apart
            for node, sign in ((one, -1), (other, 1)):
                moves[node][0] += sign * pull * dx / far
                moves[node][1] += sign * pull * dy / far
        heat = 40 * (1 - step / STEPS) + 0.5
        for node, (place, move) in enumerate(zip(places, moves)):
            move[0] += (width / 2 - place[0]) * 1.7
            move[1] += (height / 2 - place[1]) * 2.6
            far = max(math.hypot(*move), 1e-9)
            place[0] += move[0] / far * min(far, heat)
            place[1] += move[1] / far * min(far, heat)
            kept_inside(place, boxes[node])
    for _ in range(400):
        if not pushed_apart(places, boxes):
            break
    return places


def kept_inside(place: list[float], box: tuple[float, float]) -> None:
    for axis in (0, 1):
        edge = box[axis] / 2 + 18
        place[axis] = min(max(place[axis], edge), GRAPH[axis] - edge)


def pushed_apart(places: list[list[float]], boxes: list[tuple[float, float]]) -> bool:
    moved = False
    for one, other in combinations(range(len(boxes)), 2):
        gaps = [
            (boxes[one][axis] + boxes[other][axis]) / 2 + 7 - abs(places[one][axis] - places[other][axis])
            for axis in (0, 1)
        ]
        if min(gaps) <= 0:
            continue
        axis = 0 if gaps[0] < gaps[1] else 1
        sign = 1 if places[one][axis] >= places[other][axis] else -1
        places[one][axis] += sign * gaps[axis] / 2
        places[other][axis] -= sign * gaps[axis] / 2
        kept_inside(places[one], boxes[one])
        kept_inside(places[other], boxes[other])
        moved = True
    return moved


def graph(found: dict) -> str:
    entities = found["entities"]
    most = max(entity["chunks"] for entity in entities)
    sizes = [label_size(entity["chunks"], most) for entity in entities]
    boxes = [(width_of(entity["name"], size) * 1.1 + 24, size + 14) for entity, size in zip(entities, sizes)]
    place_of = {entity["name"]: at for at, entity in enumerate(entities)}
    heaviest = max((tie["chunks"] for tie in found["ties"]), default=1)
    ties = [
        (place_of[tie["one"]], place_of[tie["other"]], tie["chunks"] / heaviest)
        for tie in found["ties"]
    ]
    places = laid_out(boxes, [(one, other, 0.35 + weight) for one, other, weight in ties])
    order = sorted({e["community"] for e in entities if e["community"] is not None})
    colour = {community: f"c{at % 8}" for at, community in enumerate(order)}
    parts = []
    for one, other, weight in sorted(ties, key=lambda tie: tie[2]):
        (x, y), (u, v) = places[one], places[other]
        parts.append(
            f'<line class="line" x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke-width="{1 + 3.2 * weight:.2f}"/>'
        )
    for entity, (x, y), (wide, high), size in zip(entities, places, boxes, sizes):
        css = colour.get(entity["community"], "none")
        parts.append(
            f'<rect class="page" x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="{high / 2:.1f}"/>'
            f'<rect class="{css}" fill-opacity="0.16" x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" '
            f'height="{high:.1f}" rx="{high / 2:.1f}"/>'
        )
        parts.append(text(x, y + size * 0.35, entity["name"], size, css, ' text-anchor="middle" font-weight="600"'))
    title = "Entities that the manual of pg_rag names, those named together joined by lines, coloured by community"
    return picture(*GRAPH, title, parts)


# --- The tree: chunks on the right, the summary of the whole on the left.

ROW = 25.0
COLUMN, LEAF, GAP, EDGE = 252.0, 330.0, 44.0, 18.0
SIZE, LINE = 12.0, 16.0


def tree(found: dict) -> str:
    chunks, nodes = found["chunks"], found["nodes"]
    levels = max(node["level"] for node in nodes)
    top = 52.0
    height = top + ROW * len(chunks) + EDGE
    column = {level: EDGE + (levels - level) * (COLUMN + GAP) for level in range(levels + 1)}
    middle_of = lambda first, last: top + ROW * (first + last + 1) / 2
    parts, by_hash = [], {node["hash"]: node for node in nodes}
    order = {node["hash"]: at for at, node in enumerate(sorted((n for n in nodes if n["level"] == 1), key=lambda n: n["first"]))}

    def colour(node: dict) -> str:
        return f"c{order[node['hash']] % 8}" if node["hash"] in order else "none"

    def joined(x: float, y: float, u: float, v: float) -> None:
        bend = (x + u) / 2
        parts.append(f'<path class="line" stroke-width="1.5" d="M{x:.1f},{y:.1f} C{bend:.1f},{y:.1f} {bend:.1f},{v:.1f} {u:.1f},{v:.1f}"/>')

    for node in nodes:
        x, y = column[node["level"]] + COLUMN, middle_of(node["first"], node["last"])
        below = column[node["level"] - 1]
        if node["level"] == 1:
            for no in range(node["first"], node["last"] + 1):
                joined(x, y, below, middle_of(no, no))
        else:
            for child in (by_hash[it] for it in node["children"] if it in by_hash):
                joined(x, y, below if child["level"] == node["level"] - 1 else column[child["level"]], middle_of(child["first"], child["last"]))
    for node in nodes:
        covered = node["last"] - node["first"] + 1
        most = max(1, min(9 if node["level"] == levels else 5, int((ROW * covered - 12) // LINE)))
        lines = wrapped(plain(node["content"]), COLUMN - 30, SIZE, most)
        high = LINE * len(lines) + 14
        x, y = column[node["level"]], middle_of(node["first"], node["last"]) - high / 2
        parts.append(
            f'<rect class="card" x="{x:.1f}" y="{y:.1f}" width="{COLUMN:.1f}" height="{high:.1f}" rx="7"/>'
            f'<rect class="{colour(node)}" x="{x:.1f}" y="{y + 6:.1f}" width="4" height="{high - 12:.1f}" rx="2"/>'
        )
        parts.extend(text(x + 16, y + 7 + LINE * (at + 0.78), line, SIZE) for at, line in enumerate(lines))
    leaf_colour = {no: colour(node) for node in nodes if node["level"] == 1 for no in range(node["first"], node["last"] + 1)}
    for chunk in chunks:
        y = middle_of(chunk["no"], chunk["no"])
        heading = plain(re.split(" [›>] ", chunk["heading"])[-1])
        said = plain(re.sub(r"^[#|].*(\n|$)", "", chunk["content"], flags=re.M)) or "a table"
        room = LEAF - 30 - width_of(heading, SIZE) * 1.15
        begins = wrapped(said, room, SIZE, 1)[0] if room > 60 else ""
        parts.append(f'<circle class="{leaf_colour.get(chunk["no"], "none")}" cx="{column[0] + 5:.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(
            f'<text x="{column[0] + 17:.1f}" y="{y + SIZE * 0.35:.1f}" font-size="{SIZE:g}"><tspan class="ink" font-weight="600">'
            f'{escape(heading)}</tspan><tspan class="soft" dx="7">{escape(begins)}</tspan></text>'
        )
    names = {0: "chunks", levels: f"the summary of {found['title']}"}
    for level, x in column.items():
        said = names.get(level, "summaries of neighbouring chunks" if level == 1 else "summaries of these")
        parts.append(text(x, 30, said, 12.5, "soft", ' font-weight="600"'))
    width = column[0] + LEAF + EDGE
    title = f"The tree of {found['title']}: chunks, summaries of neighbouring ones, and the summary of the whole"
    return picture(width, height, title, parts)


def pages(files: list[str]) -> None:
    output = csv.writer(sys.stdout, lineterminator="\n")
    for file in files:
        body = re.sub(r"^```.*?^```\n", "", Path(file).read_text(encoding="utf-8"), flags=re.M | re.S)
        output.writerow([file, file, body])


def main(which: str, *files: str) -> None:
    if which == "pages":
        pages(list(files))
        return
    draw = {"graph": graph, "tree": tree}[which]
    sys.stdout.write(draw(json.load(sys.stdin)))


if __name__ == "__main__":
    main(*sys.argv[1:])
