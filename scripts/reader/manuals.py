"""Makes a judged set of the questions about pages of manuals.

    manuals.py FOLDER OUT

The pages belong to Debian packages (PACKAGES, of Debian 12), whose files are in FOLDER
(`apt-get download`, `dpkg-deb --extract PACKAGE FOLDER`). A server with pg_rag that can read
FOLDER cuts them into passages, as it would for a pipeline; psql finds it by PGHOST and the like.

A line of manuals.jsonl: page below usr/share, question, what answers it and, where there is
one, the shortest part of that; or, for a question without an answer, how the passage begins that
comes near. They were written for training: users' words and not the manual's.
"""

import json
import subprocess
import sys
from pathlib import Path

PACKAGES = """apache2-doc borgbackup-doc debian-handbook libreoffice-help-de libreoffice-help-ja libreoffice-help-ko
    libreoffice-help-zh-cn live-manual-html rsyslog-doc sqlite3-doc"""

PASSAGES = """SELECT json_build_object('title', coalesce(c.heading, ''), 'text', c.content)
FROM rag_parse(pg_read_binary_file(:'page'), 'text/html') AS p, rag_chunk(p.content, '{"by": "markdown"}') AS c
ORDER BY p.part_no, c.chunk_no;
"""


def passages(page: Path) -> list[dict]:
    """The passages of a page of HTML: title and text of each."""
    command = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", f"--set=page={page}"]
    done = subprocess.run(command, input=PASSAGES, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def place(line: dict, own: list[dict]) -> tuple[int, dict]:
    """The passage of a page that a question is about, and the question as judged sets have it."""
    wanted = line.get("evidence") or line["about"]
    at = next((at for at, it in enumerate(own) if wanted in it["text"]), None)
    if at is None:
        raise SystemExit(f"{line['page']} is of another version of its package: it lacks {wanted!r}")
    if "evidence" not in line:
        return at, {"answerable": False}
    start = own[at]["text"].index(wanted)
    answer = line.get("span", wanted)
    return at, {"answers": [{"text": answer, "start": start + wanted.index(answer)}]}


def main(folder: Path, out: Path) -> None:
    lines = [json.loads(line) for line in (Path(__file__).parent / "manuals.jsonl").read_text().splitlines()]
    pages = {page: passages(folder / "usr/share" / page) for page in sorted({line["page"] for line in lines})}
    corpus = [
        {"id": f"{page}#{at}", **passage} for page, own in pages.items() for at, passage in enumerate(own)
    ]
    queries, judgements = [], ["query-id\tcorpus-id\tscore"]
    for number, line in enumerate(lines):
        at, question = place(line, pages[line["page"]])
        key, passage = f"manuals-{number}", f"{line['page']}#{at}"
        queries.append({"id": key, "text": line["question"], **question})
        if "answers" in question:
            judgements.append(f"{key}\t{passage}\t1")
        else:
            queries[-1]["paragraph"] = passage
    out.mkdir(parents=True, exist_ok=True)
    for name, rows in [("corpus.jsonl", corpus), ("queries.jsonl", queries)]:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (out / name).write_text(text)
    (out / "qrels.tsv").write_text("\n".join(judgements) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
