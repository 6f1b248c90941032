"""Cuts Markdown files into sections at their headings.

    manual_sections.py FILE...

Prints CSV: file, title, body. The title is the path of headings, "Reference ›
rag_chunk". Code blocks are left out, because the demo answers in sentences, and
so are sections without text of their own.
"""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"\s*(```|~~~)")


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Every section's title and body."""
    path: list[str] = []
    body: list[str] = []
    in_code = False
    for line in text.splitlines():
        if FENCE.match(line):
            in_code = not in_code
            continue
        if in_code:
            continue
        heading = HEADING.match(line)
        if heading is None:
            body.append(line)
            continue
        yield title_of(path), "\n".join(body).strip()
        level = len(heading[1])
        path = (path + [""] * level)[: level - 1] + [heading[2].replace("`", "")]
        body = []
    yield title_of(path), "\n".join(body).strip()


def title_of(path: list[str]) -> str:
    """The headings above, without the file's own title unless that is all there is."""
    named = [heading for heading in path[1:] if heading] or path
    return " › ".join(named)


def main(files: list[str]) -> None:
    output = csv.writer(sys.stdout, lineterminator="\n")
    for file in files:
        seen: dict[str, int] = {}
        for title, body in sections(Path(file).read_text(encoding="utf-8")):
            if not body:
                continue
            seen[title] = seen.get(title, 0) + 1
            name = title if seen[title] == 1 else f"{title} ({seen[title]})"
            output.writerow([file, name, body])


if __name__ == "__main__":
    main(sys.argv[1:])
