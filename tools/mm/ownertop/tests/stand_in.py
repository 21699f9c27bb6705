# SPDX-License-Identifier: GPL-2.0
"""A stand-in for the kernel that ownertop asks."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class StandIn:
    """Answers from files, and tells ages of slab objects only where it is asked for them."""

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

    def questions(self):
        """What it was asked since this was called last."""
        if not os.path.exists(self.asked):
            return []
        with open(self.asked, "r+", encoding="ascii") as asked:
            questions = asked.read().splitlines()
            asked.truncate(0)
        return questions
