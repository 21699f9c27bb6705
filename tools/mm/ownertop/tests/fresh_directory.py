# SPDX-License-Identifier: GPL-2.0
"""Run tests, each with a temporary directory of its own."""

import tempfile
from collections.abc import Callable, Sequence
from typing import Any


def run_tests(tests: Sequence[Callable[..., None]],
              prepare: Callable[[str], tuple[Any, ...]]) -> int:
    """Call each test with the arguments that prepare() makes from its empty directory.

    Return exit status 0 if all tests pass.
    """
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory() as directory:
            try:
                test(*prepare(directory))
            except AssertionError as error:
                failed += 1
                print(f"{test.__name__}: {error}")
    return failed > 0
