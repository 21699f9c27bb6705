# SPDX-License-Identifier: GPL-2.0
"""The parts of the series: patches/parts/, in the form that patches/README tells."""

import re
from dataclasses import dataclass

from workbench import PATCHES, VERSIONS, die, name_path

PARTS = PATCHES.parent / "parts"


@dataclass
class Mail:
    """One mail: what it adds, its message, and why it is longer than others."""
    where: str
    words: list[str]
    message: str
    reason: str


@dataclass
class Part:
    """A part of the series: a thread with a cover letter."""
    name: str
    cover: str
    mails: list[Mail]


def names_patch(word: str) -> bool:
    """Is this word of a mail a patch, not a path of the overlay?"""
    return "/" not in word and word.endswith(".patch")


def is_for_this_version(word: str, where: str) -> bool:
    """Not, if it is a patch that only other versions of Linux have."""
    if not names_patch(word) or (PATCHES / word).is_file():
        return True
    if not any((PATCHES.parent / version / word).is_file() for version in VERSIONS):
        die(f"{where} names {word}, which is in no directory of {name_path(PATCHES.parent)}")
    return False


def load_parts() -> list[Part]:
    """The parts in the order of their names, with the mails for this version of Linux."""
    parts = []
    for source in sorted(PARTS.glob("*.txt")):
        part = Part(source.stem, "", [])
        mail = None
        heading = False
        for number, line in enumerate(source.read_text().split("\n"), 1):
            if line.startswith("== "):
                if not heading:
                    mail = Mail(f"{name_path(source)}:{number}", [], "", "")
                    part.mails.append(mail)
                mail.words += line.split()[1:]
            elif line.startswith("!! ") and mail:
                mail.reason = line[3:]
            elif mail:
                mail.message += line + "\n"
            else:
                part.cover += line + "\n"
            heading = line.startswith("== ")
        for mail in part.mails:
            mail.message = mail.message.strip()
            mail.words = [word for word in mail.words if is_for_this_version(word, mail.where)]
        part.mails = [mail for mail in part.mails if mail.words]
        if not re.match(r".+\n\n.*\S", part.cover):
            die(f"{name_path(source)} has no cover letter: a subject, an empty line and a text")
        if part.mails:
            parts.append(part)
    return parts


def list_patch_names() -> list[str]:
    """The patches for this version of Linux, in the order in which the mails have them."""
    names = [word for part in load_parts() for mail in part.mails for word in mail.words
             if names_patch(word)]
    for patch in sorted(PATCHES.glob("*.patch")):
        if names.count(patch.name) != 1:
            die(f"{name_path(patch)} is in {names.count(patch.name)} mails of {name_path(PARTS)}, "
                "not in one")
    return names
