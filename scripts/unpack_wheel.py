"""Unpacks the members of a wheel whose names begin with one of the prefixes.

    unpack_wheel.py WHEEL TARGET PREFIX...

Keeps the execute bit, which zipfile's own extract drops, and makes everything
readable for all: another user runs the servers.
"""

import os
import sys
import zipfile


def unpack(wheel: str, target: str, prefixes: tuple[str, ...]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.is_dir() or not member.filename.startswith(prefixes):
                continue
            path = archive.extract(member, target)
            executable = (member.external_attr >> 16) & 0o100
            os.chmod(path, 0o755 if executable else 0o644)


if __name__ == "__main__":
    os.umask(0o022)
    unpack(sys.argv[1], sys.argv[2], tuple(sys.argv[3:]))
