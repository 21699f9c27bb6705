#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the sentences that ownertop sends to the kernel, and whether it shows ages.

The kernel must look at each object to find ages, so it should be asked for them only
where they are shown.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from stand_in import StandIn

CHAINS = "group=kind,stack.full format=tsv"
CHAINS_AND_AGES = "group=kind,stack.full sort=oldest format=tsv"
TASKS_AND_AGES = "group=cache,pid,tgid,comm,kind,stack.full sort=oldest format=tsv"

# Arguments, the sentence for the kernel, and a pattern for the ages in the output.
CASES = (
    ("-g stack", CHAINS_AND_AGES, "OLDEST"),
    ("-g stack,func,module,kind -s bytes", CHAINS_AND_AGES, "OLDEST"),
    ("'group=stack top=3 sort=bytes'", CHAINS_AND_AGES, "OLDEST"),
    ("", CHAINS_AND_AGES.replace("=", "=cache,", 1), "OLDEST"),
    ("-g func --json", CHAINS_AND_AGES, '"oldest_ns": [0-9]'),
    ("'group=func format=tsv'", CHAINS_AND_AGES, "\t9000000000\t1000000000\t"),
    ("-g kind,cache,comm,pid,tgid,stack", TASKS_AND_AGES, "OLDEST"),
    ("-g stack --older 1s", CHAINS_AND_AGES + " if age >= 1s", "OLDEST"),
    ("tree -n 3", CHAINS, None),
    ("tree --json -s objects 'if module == owner_demo'", CHAINS + " if module == owner_demo", None),
    ("folded", CHAINS, None),
    ("flame --callees", CHAINS, None),
    ("pprof -g stack,func", CHAINS, None),
    # Live mode asks for ages only to sort by them.
    ("--live=60", CHAINS, None),
    ("--live=60 -g stack,cache", CHAINS.replace("=", "=cache,", 1), None),
    ("--live=60 -s held", CHAINS, None),
    ("--live=60 -s oldest", CHAINS_AND_AGES, "OLDEST"),
    ("--live=60 'group=stack sort=bytes,oldest'", CHAINS_AND_AGES, "OLDEST"),
)
ANY_AGE = ("OLDEST", "oldest_ns", "9s")


def read_command_output(command, environment):
    """Return the output of a command; with --live, the first table."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        if "--live=60" not in command:
            return process.stdout.read()
        text, more = b"", b"\n"
        while more and not re.search(rb"^total| total$", text, re.M):
            more = os.read(process.stdout.fileno(), 65536)
            text += more
        process.terminate()
    return text


def main():
    """Return exit status 0 if all cases pass."""
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        kernel = StandIn(directory)
        for words, sentence, age in CASES:
            command = [sys.argv[1], *shlex.split(words)]
            text = read_command_output(command, {**os.environ, **kernel.environment})
            text = text.decode(errors="replace")
            asked = kernel.read_sentences()
            if asked != [sentence]:
                failed += 1
                print(f"{words}: asks {asked}, not {sentence}")
            if not re.search(age, text) if age else any(form in text for form in ANY_AGE):
                failed += 1
                print(f"{words}: wants {age or 'no age'}:\n{text}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
