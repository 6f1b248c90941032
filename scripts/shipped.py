"""What pg_rag ships beside its own code: crates that are linked, and ready-made files.

    shipped.py check   --metadata FILE --allowed deny.toml
    shipped.py texts   --metadata FILE --file NAME VERSION LICENSE PURL SHA256 TEXT...
    shipped.py sbom    --metadata FILE --file NAME VERSION LICENSE PURL SHA256 TEXT...

`check` fails where a crate's licence is not among those allowed; `texts` prints the licences of everything, each
text once; `sbom` prints a bill of materials as CycloneDX 1.5. FILE is what `cargo metadata` has printed, its workspace the root.
SOURCE_DATE_EPOCH is the time in the bill.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import sys
import tomllib

# Names of files that hold the terms of a crate.
TERMS = re.compile(r"(?i)^(un)?(licen[sc]e|copying|notice|copyright)s?\b.*")
OWN = ("pg_rag", "rag-server")


def main():
    command, metadata, extra = arguments()
    packages = linked(metadata)
    if command == "check":
        check(packages, extra)
    elif command == "texts":
        texts(packages, extra)
    else:
        sbom(metadata, packages, extra)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["check", "texts", "sbom"])
    parser.add_argument("--metadata", required=True)
    parser.add_argument("--allowed")
    parser.add_argument("--file", action="append", nargs="+", default=[])
    given = parser.parse_args()
    metadata = json.loads(pathlib.Path(given.metadata).read_text())
    if given.command == "check":
        allowed = tomllib.loads(pathlib.Path(given.allowed).read_text())["licenses"]["allow"]
        return given.command, metadata, set(allowed)
    return given.command, metadata, [shipped_file(*words) for words in given.file]


def shipped_file(name, version, license_name, purl, sha256, *terms):
    return {"name": name, "version": version, "license": license_name, "purl": purl, "sha256": sha256, "terms": terms}


def linked(metadata):
    """The crates that are part of an executable or library: what only builds or tests is not."""
    by_id = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [it for it in metadata["workspace_members"] if by_id[it]["name"] in OWN]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in seen and not runs_in_compiler(by_id[dependency["pkg"]]):
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    found = [by_id[it] for it in seen if by_id[it]["name"] not in OWN]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def runs_in_compiler(package):
    return any("proc-macro" in target["kind"] for target in package["targets"])


def check(packages, allowed):
    wrong = []
    for package in packages:
        expression = package["license"] or ""
        if not is_allowed(expression, allowed):
            wrong.append(f"{package['name']} {package['version']}: {expression or 'no licence is named'}")
    if wrong:
        sys.exit("error: licences that deny.toml does not allow:\n  " + "\n  ".join(wrong))
    print(f"{len(packages)} crates, all under licences that deny.toml allows")


def is_allowed(expression, allowed):
    """Whether an SPDX expression leaves a choice of allowed licences only. `MIT/Apache-2.0` is how OR was once written."""
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    value, rest = either(words, allowed)
    return value and not rest


def either(words, allowed):
    value, words = both(words, allowed)
    while words[:1] == ["OR"]:
        other, words = both(words[1:], allowed)
        value = value or other
    return value, words


def both(words, allowed):
    value, words = single(words, allowed)
    while words[:1] == ["AND"]:
        other, words = single(words[1:], allowed)
        value = value and other
    return value, words


def single(words, allowed):
    if words[:1] == ["("]:
        value, words = either(words[1:], allowed)
        return value and words[:1] == [")"], words[1:]
    if words[1:2] == ["WITH"]:
        return " ".join(words[:3]) in allowed, words[3:]
    return bool(words) and words[0] in allowed, words[1:]


def texts(packages, shipped):
    print("What pg_rag is made of and comes with, and under which terms. Each text stands once, after the names of")
    print("all that it is the licence of.")
    for text, names in by_text(packages, shipped).items():
        print("\n" + "=" * 100)
        print("\n".join(names) + "\n" + "-" * 100 + "\n" + text)


def by_text(packages, shipped):
    found = {}
    for package in packages:
        folder = pathlib.Path(package["manifest_path"]).parent
        name = f"{package['name']} {package['version']} ({package['license']})"
        of_package = sorted(it for it in folder.iterdir() if it.is_file() and TERMS.match(it.name))
        for terms in of_package:
            found.setdefault(read(terms), []).append(name)
        if not of_package:
            authors = ", ".join(package["authors"]) or "its authors"
            found.setdefault(f"Copyright {authors}. The crate comes without a text; its source: "
                             f"{package['repository'] or 'crates.io'}", []).append(name)
    for it in shipped:
        for terms in it["terms"]:
            found.setdefault(read(pathlib.Path(terms)), []).append(f"{it['name']} {it['version']} ({it['license']})")
    return found


def read(path):
    text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def sbom(metadata, packages, shipped):
    own = next(it for it in metadata["packages"] if it["name"] == "pg_rag")
    checksums = lock_checksums(pathlib.Path(metadata["workspace_root"]) / "Cargo.lock")
    crates = [crate(it, checksums) for it in packages]
    files = [
        component(it["name"], it["version"], it["purl"], it["license"], it["sha256"] or None) for it in shipped
    ]
    time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component("pg_rag", own["version"], f"pkg:generic/pg_rag@{own['version']}", own["license"]),
        },
        "components": crates + files,
        "dependencies": dependencies(metadata, packages),
    }
    print(json.dumps(bill, indent=1, ensure_ascii=False))


def component(name, version, purl, license_name, sha256=None):
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    found["licenses"] = [{"expression": license_name}]
    if sha256:
        found["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    return found


def purl_of(package):
    return f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"


def crate(package, checksums):
    expression = (package["license"] or "NOASSERTION").replace("/", " OR ")
    checksum = checksums.get((package["name"], package["version"]))
    return component(package["name"], package["version"], purl_of(package), expression, checksum)


def lock_checksums(path):
    lock = tomllib.loads(path.read_text())
    return {(it["name"], it["version"]): it.get("checksum") for it in lock["package"]}


def dependencies(metadata, packages):
    references = {it["id"]: purl_of(it) for it in packages}
    return [
        {"ref": references[node["id"]],
         "dependsOn": sorted({references[it["pkg"]] for it in node["deps"] if it["pkg"] in references})}
        for node in sorted(metadata["resolve"]["nodes"], key=lambda node: node["id"])
        if node["id"] in references
    ]


main()
