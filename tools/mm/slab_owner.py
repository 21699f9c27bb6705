#!/usr/bin/env drgn
# SPDX-License-Identifier: GPL-2.0
"""Say who holds the memory of a machine that crashed, or of this one.

  drgn -c vmcore -s vmlinux slab_owner.py 'group=stack.8 top=20'

Reads the records of slab_owner and page_owner. ownertop adds them up.
"""

import argparse
import os
import sys
from typing import Any, List, Optional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from owner_drgn import ask  # noqa: E402
from owner_drgn.format import FormatError  # noqa: E402

# drgn sets it.
prog: Any
EPILOG = """\
exit status: 0 answered, also if notes on stderr say what was left out; 1 the dump cannot be
read, or it does not know the object; 2 wrong usage
"""


def parse_number(text: str) -> int:
    """An address or a page frame: hexadecimal with 0x or with a letter, else decimal."""
    try:
        return int(text, 16 if text[:2].lower() != "0x" and any(c in "abcdefABCDEF" for c in text)
                   else 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, as 0xffff888003c0f300") from None


def parse_sources(text: str) -> List[str]:
    """Names of sources, separated by commas."""
    sources = text.split(",")
    for source in sources:
        if source not in ask.SOURCES:
            raise argparse.ArgumentTypeError(f"no source {source!r}; these are: "
                                             + ", ".join(ask.SOURCES))
    return sources


def parse_command_line(arguments: Optional[List[str]] = None) -> argparse.Namespace:
    """Exits with status 2 on wrong usage."""
    parser = argparse.ArgumentParser(
        prog="slab_owner.py", usage="drgn -c vmcore -s vmlinux slab_owner.py [SENTENCE] [options]",
        description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentence", nargs="*", metavar="SENTENCE",
                        help="a view and a sentence for ownertop; see ownertop(8)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--records", action="store_true",
                      help="print records, as /sys/kernel/debug/slab_owner does")
    what.add_argument("--object", type=parse_number, metavar="ADDR",
                      help="who holds the object at this address, or around it")
    what.add_argument("--page", type=parse_number, metavar="PFN",
                      help="page_owner's record of this page frame")
    what.add_argument("--stats", action="store_true",
                      help="count what is tracked, and losses by reason")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--source", type=parse_sources, metavar="LIST", default=None,
                       help="of slab,percpu,page; default: what the SENTENCE asks for, or "
                       "slab,percpu")
    which.add_argument("--unreferenced", action="store_const", const=[ask.UNREFERENCED],
                       dest="source", help="slab objects to which no pointer leads: with "
                       "--records or a SENTENCE only these, else a table by owner")
    parser.add_argument("--binary", action="append", metavar="FILE", default=[],
                        help="a program or library with names of user frames, for a SENTENCE")
    args = parser.parse_args(arguments)
    single = args.object is not None or args.page is not None or args.stats
    if args.sentence and (args.records or single):
        parser.error("a SENTENCE is for ownertop; give either it or one of --records, --object, "
                     "--page and --stats")
    if args.source and single:
        parser.error("--source and --unreferenced are for --records and for a SENTENCE")
    if args.binary and not args.sentence:
        parser.error("--binary is for a SENTENCE: ownertop names the user frames")
    return args


def answer(args: argparse.Namespace) -> int:
    """Answer. Return the exit status."""
    if args.records:
        return ask.print_records(prog, args.source)
    if args.object is not None:
        return ask.print_object(prog, args.object)
    if args.page is not None:
        return ask.print_page(prog, args.page)
    if args.stats:
        return ask.print_stats(prog)
    if args.source == [ask.UNREFERENCED] and not args.sentence:
        return ask.print_unreferenced(prog)
    return ask.run_ownertop(prog, args.sentence, args.source, args.binary)


def main() -> int:
    """The program."""
    args = parse_command_line()
    try:
        return answer(args)
    except FormatError as error:
        print(f"slab_owner.py: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the pipe has gone. Keep Python from writing again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    finally:
        ask.print_notes(prog)


if __name__ == "__main__":
    sys.exit(main())
