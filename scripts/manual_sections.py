"""Cuts Markdown files into sections at their headings.

    manual_sections.py FILE...

Prints CSV: file, title, body. The title is the path of headings, "Reference ›
rag_chunk". Blocks that show a result (```text) are left out, because what was
written once answers no question, and so are sections without text of their own.
"""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"\s*(?:```|~~~)(\w*)")
RESULT = "text"


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Every section's title and body."""
    path: list[str] = []
    body: list[str] = []
    language: str | None = None
    for line in text.splitlines():
        fence = FENCE.match(line)
        shown = language != RESULT
        if fence:
            language = fence[1] if language is None else None
            shown = shown and language != RESULT
        heading = None if fence or language is not None else HEADING.match(line)
        if heading is None:
            if shown:
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
