# SPDX-License-Identifier: GPL-2.0
"""Print names that a task has chosen as mm/owner/escape.c does."""

import re

# A character of UTF-8 that is neither a control character nor overlong nor a surrogate, or
# one byte that has to be escaped.
PIECE = re.compile(rb"[\x20-\x5b\x5d-\x7e]+"
                   rb"|(?:\xc2[\xa0-\xbf]|[\xc3-\xdf][\x80-\xbf]"
                   rb"|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
                   rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}"
                   rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
                   rb"|(?P<bad>.)", re.DOTALL)


def escape_name(name: bytes, also: bytes = b"") -> str:
    """Write bytes that must not be printed as \\ooo: control characters, backslashes and
    bytes that are not UTF-8; and those of @also, which are printable ASCII characters."""
    text = PIECE.sub(lambda piece: b"\\%03o" % piece[0][0] if piece["bad"] else piece[0], name)
    for byte in also:
        text = text.replace(bytes((byte,)), b"\\%03o" % byte)
    return text.decode()
