"""Prints the answers of sql/demo/ask.sql, one line of JSON each, for a person."""

import json
import sys
import textwrap

WIDTH = 88
COLOURS = {"bold": "1", "dim": "2", "yellow": "33"}


def paint(text: str, colour: str) -> str:
    return f"\033[{COLOURS[colour]}m{text}\033[0m" if sys.stdout.isatty() else text


def show(reply: dict) -> None:
    print()
    print(paint(reply["question"], "bold"))
    colour = "" if reply["supported"] in ("t", True) else "yellow"
    for line in wrapped(reply["answer"]):
        print("  " + (paint(line, colour) if colour else line))
    for citation in reply["citations"] or []:
        source = f"[{citation['marker']}] {citation['file']} › {citation['title']}"
        print(paint("    " + source, "dim"))
    print(paint(f"    {reply['milliseconds']:.0f} ms", "dim"))


def wrapped(answer: str) -> list[str]:
    """The lines of an answer; those of code stay as they are."""
    lines = []
    for paragraph in answer.splitlines():
        if paragraph.startswith("    "):
            lines.append(paragraph)
            continue
        lines += textwrap.wrap(paragraph, WIDTH - 2, break_long_words=False) or [""]
    return lines


if __name__ == "__main__":
    for line in sys.stdin:
        if line.strip():
            show(json.loads(line))
            sys.stdout.flush()
    print()
