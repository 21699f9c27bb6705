# SPDX-License-Identifier: GPL-2.0
"""A replacement for owner/query, so that tests need no kernel that has it."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class StandIn:
    """Answer queries from files, with ages of slab objects only if they are asked for."""

    def __init__(self, directory):
        library = os.path.join(directory, "stand_in.so")
        self.asked = os.path.join(directory, "asked")
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                        "-o", library, os.path.join(HERE, "stand_in.c")], check=True)
        self.environment = {
            "LD_PRELOAD": library,
            "OWNERTOP_ASKED": self.asked,
            "OWNERTOP_ANSWER": os.path.join(HERE, "input/answer_counted.txt"),
            "OWNERTOP_ANSWER_AGES": os.path.join(HERE, "input/answer_groups.txt"),
        }

    def read_sentences(self):
        """Return the sentences that ownertop has sent since the last call."""
        if not os.path.exists(self.asked):
            return []
        with open(self.asked, "r+", encoding="ascii") as asked:
            sentences = asked.read().splitlines()
            asked.truncate(0)
        return sentences
