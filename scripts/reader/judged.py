"""Looks after the judged sets that lie beside this file: handbooks/, forms/ and tables/.

    judged.py check FOLDER...    whether each answer stands where its question says; prints what is in each set
    judged.py place FOLDER       after a text was changed: says anew where evidence and answers stand
    judged.py show FOLDER [ID]   documents as they were written, each passage with its questions

A set is three files. corpus.jsonl has a passage a line: id, title (the headings above it, of which the first is its
document) and text, and `begins` where that begins the document. queries.jsonl has a question a line: id, text, and
`answers` and `evidence`, each a part of the passage with its place in characters; or, where the passage does not
answer it, `answerable` and `paragraph`. qrels.tsv says which passage answers.

An id of forms/ and tables/ begins with form, language and number: chat-de-1#1 is a passage, chat-de-1-q03 a question.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

# Of languages with a script of their own, what their texts have to hold.
SCRIPTS = {"ru": "[а-яё]", "zh": "[一-鿿]", "ja": "[ぁ-ヿ]", "ar": "[ء-ي]"}
LATIN = {"en", "de", "fr", "es", "it", "nl", "pl", "tr"}

OF_FORMS = re.compile(r"(?P<form>[a-z]+)-(?P<language>[a-z]{2})-\d+(?:#\d+|-q\d+)")


class JudgedSet:
    """The lines of a set, and which passage each question is about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = lines(folder / "corpus.jsonl")
        self.queries = lines(folder / "queries.jsonl")
        self.passages = {line["id"]: line for line in self.corpus}
        rows = (folder / "qrels.tsv").read_text().splitlines()
        self.judgements = [row.split("\t") for row in rows[1:]]
        self.relevant = {query: passage for query, passage, _ in self.judgements}

    def passage_of(self, query: dict) -> dict | None:
        """The passage that a question is about, whether or not it answers."""
        return self.passages.get(query.get("paragraph") or self.relevant.get(query["id"], ""))


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def stands(part: dict, text: str) -> bool:
    return bool(part["text"]) and text[part["start"] :].startswith(part["text"])


def breaches(it: JudgedSet) -> list[str]:
    """What is wrong with a set."""
    found = []
    for what, rows in [("passage", it.corpus), ("question", it.queries)]:
        twice = [key for key, count in Counter(row["id"] for row in rows).items() if count > 1]
        found += [f"{key}: two {what}s have this id" for key in twice]
        found += [f"{row['id']}: the {what} is empty" for row in rows if not row["text"].strip()]
    asked = {query["id"] for query in it.queries}
    for query, passage, score in it.judgements:
        if query not in asked or passage not in it.passages or score != "1":
            found.append(f"{query}: qrels.tsv has {passage} with {score}")
    for query in it.queries:
        found += [f"{query['id']}: {what}" for what in breaches_of(it, query)]
    for passage in it.corpus:
        named = OF_FORMS.fullmatch(passage["id"])
        language = named["language"] if named else None
        is_known = language is None or language in LATIN or language in SCRIPTS
        if not is_known or not re.search(SCRIPTS.get(language, ""), passage["text"]):
            found.append(f"{passage['id']}: the text is not of the language {language}")
    return found


def breaches_of(it: JudgedSet, query: dict) -> list[str]:
    passage = it.passage_of(query)
    if passage is None:
        return ["it is about no passage"]
    if not query.get("answerable", True):
        has_answer = {"answers", "evidence"} & query.keys() or query["id"] in it.relevant
        return ["it has an answer, and is said to have none"] if has_answer else []
    evidence, answers = query.get("evidence"), query.get("answers")
    if not evidence or not answers:
        return ["it has no answer, and is not said to have none"]
    parts = [evidence, *answers]
    found = [f"{part['text']!r} is not at {part['start']}" for part in parts if not stands(part, passage["text"])]
    end = evidence["start"] + len(evidence["text"])
    is_inside = all(evidence["start"] <= part["start"] and part["start"] + len(part["text"]) <= end for part in answers)
    return found if is_inside else [*found, "an answer is not within the evidence"]


def check(folder: Path) -> bool:
    it = JudgedSet(folder)
    found = breaches(it)
    print(*found, sep="\n", end="\n" if found else "")
    documents = {passage["title"].split(" > ")[0] for passage in it.corpus}
    unanswerable = sum(not query.get("answerable", True) for query in it.queries)
    print(
        f"{folder.name}: {len(documents)} documents, {len(it.corpus)} passages, "
        f"{len(it.queries)} questions, {unanswerable} of them without an answer"
    )
    named = [match for query in it.queries if (match := OF_FORMS.fullmatch(query["id"]))]
    for group in ["form", "language"]:
        counts = Counter(match[group] for match in named).most_common()
        if counts:
            print(f"  questions by {group}: " + ", ".join(f"{name} {count}" for name, count in counts))
    return not found


def nearest(text: str, part: str, start: int) -> int:
    """Where `part` stands in `text`, nearest to `start`."""
    places = [match.start() for match in re.finditer(re.escape(part), text)]
    if not places:
        raise SystemExit(f"no passage says {part!r} any more")
    return min(places, key=lambda place: abs(place - start))


def place(folder: Path) -> None:
    it = JudgedSet(folder)
    for query in it.queries:
        if not query.get("answerable", True):
            continue
        text, evidence = it.passage_of(query)["text"], query["evidence"]
        before, evidence["start"] = evidence["start"], nearest(text, evidence["text"], evidence["start"])
        for answer in query["answers"]:
            inside = nearest(evidence["text"], answer["text"], answer["start"] - before)
            answer["start"] = evidence["start"] + inside
    written = "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in it.queries)
    (folder / "queries.jsonl").write_text(written)


def show(folder: Path, wanted: str = "") -> None:
    it = JudgedSet(folder)
    asked = defaultdict(list)
    for query in it.queries:
        asked[it.passage_of(query)["id"]].append(query)
    for passage in it.corpus:
        if not passage["id"].startswith(wanted):
            continue
        print(f"{passage['id']}: {passage['title']}\n\n{passage['text']}\n")
        for query in asked[passage["id"]]:
            answers = " | ".join(answer["text"] for answer in query.get("answers", []))
            print(f"  {query['text']} → {answers or 'no answer'}")
        print()


def main(command: str = "", *arguments: str) -> None:
    match command:
        case "check":
            folders = [check(Path(folder)) for folder in arguments]
            sys.exit(not all(folders))
        case "place":
            place(Path(arguments[0]))
        case "show":
            show(Path(arguments[0]), *arguments[1:])
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
