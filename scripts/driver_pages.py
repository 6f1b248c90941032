"""Compares the code on the pages of docs/drivers/ with the programs that the tests run.

A block of code follows a line that names a file below tests/drivers/ and one or more regions of it:

    <!-- python/with_psycopg.py: connect, retrieve -->

Regions stand in the file between lines with `region NAME` and `endregion`. Only blocks of commands (sh) and of
plain text need no such line. With --write, the blocks are taken from the files.
"""

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "drivers"
PROGRAMS = ROOT / "tests" / "drivers"

SOURCE = re.compile(r"<!-- (?P<file>[\w/.-]+): (?P<regions>[\w, ]+) -->")
BLOCK = re.compile(r"(?P<source><!--[^\n]*-->\n\n?)?```(?P<language>[\w-]+)\n(?P<code>.*?)```\n", re.DOTALL)
WITHOUT_SOURCE = {"sh", "text"}
# What a program says to its linter is of no use to who reads it, and neither is the end of what it prints.
NOISE = re.compile(r"  # noqa.*$", re.MULTILINE)


def region(file, name):
    """Return the lines of a region without their indent."""
    text = (PROGRAMS / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if re.search(rf"\bregion {name}$", line)]
    if len(begins) != 1:
        raise ValueError(f"{file} has {len(begins)} regions {name}")
    body = []
    for line in lines[begins[0] + 1 :]:
        if re.search(r"\bendregion$", line):
            return NOISE.sub("", textwrap.dedent("\n".join(body)).strip("\n")) + "\n"
        body.append(line)
    raise ValueError(f"region {name} of {file} has no end")


def expected(source):
    """Return the code that belongs behind a line that names a source."""
    found = SOURCE.match(source.strip())
    if found is None:
        raise ValueError(f"not a source: {source.strip()}")
    names = [name.strip() for name in found["regions"].split(",")]
    return "\n".join(region(found["file"], name) for name in names)


def rewritten(text):
    """Return a page with its blocks taken from the programs, and how many those are."""
    blocks = 0

    def block(match):
        nonlocal blocks
        if match["source"] is None:
            if match["language"] not in WITHOUT_SOURCE:
                raise ValueError(f"a block of {match['language']} is from no program:\n{match['code']}")
            return match[0]
        blocks += 1
        return f"{match['source'].strip()}\n```{match['language']}\n{expected(match['source'])}```\n"

    return BLOCK.sub(block, text), blocks


def main():
    """Compare all pages, or write them."""
    pages, blocks, wrong = sorted(PAGES.glob("*.md")), 0, []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        try:
            new, count = rewritten(text)
        except (ValueError, OSError) as error:
            wrong.append(f"{page.relative_to(ROOT)}: {error}")
            continue
        blocks += count
        if new != text and "--write" in sys.argv[1:]:
            page.write_text(new, encoding="utf-8")
        elif new != text:
            wrong.append(f"{page.relative_to(ROOT)}: a block is not what its program has")
    if not pages:
        wrong.append("docs/drivers/ has no pages")
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(f"{blocks} blocks on {len(pages)} pages are code that is tested")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
