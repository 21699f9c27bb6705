# SPDX-License-Identifier: GPL-2.0
"""Run a drgn script on a dump of which some words are different.

Run by drgn: with_damage.py PLACE=NUMBER... -- SCRIPT [ARGUMENT...]. A PLACE is an expression
in Python for an object of drgn, as prog["owner_format"].version. NUMBER "none" says that the
dump lacks it.
"""

import os
import runpy
import sys
from typing import Any

from drgn import FaultError, sizeof

# drgn sets it.
prog: Any


def damage_word(place: Any, number: str) -> None:
    """Overlay the object @place with a number."""
    size = sizeof(place)

    def read(address: int, count: int, offset: int, _physical: bool) -> bytes:
        if number == "none":
            raise FaultError("not in the dump", address)
        return (int(number, 0) & (1 << 8 * size) - 1).to_bytes(size, "little")[
            offset:offset + count]

    prog.add_memory_segment(place.address_, size, read, False)


def main() -> None:
    """Damage the dump, then run the script."""
    end = sys.argv.index("--")
    for argument in sys.argv[1:end]:
        place, _, number = argument.rpartition("=")
        damage_word(eval(place), number)  # pylint: disable=eval-used
    sys.argv = sys.argv[end + 1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], init_globals={"prog": prog}, run_name="__main__")


main()
