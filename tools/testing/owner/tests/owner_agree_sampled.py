#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the estimates of the kernel and of ownertop for sampled objects.

owner_agree_sampled.py sentences
    Print sentences that ownertop can answer from records. The first asks for single
    objects in format=text, all others for groups in format=tsv.
owner_agree_sampled.py compare OWNERTOP SENTENCES ANSWERS RECORDS
    ANSWERS are the kernel's, with a line "===" after each. RECORDS is
    /sys/kernel/debug/slab_owner: ownertop answers from it. Prints TAP.

RECORDS has weights with three decimals, so the figures differ slightly:
are_sums_nearly_equal() computes by how much.
"""
import re
import subprocess
import sys
from typing import Dict, List, Tuple

from owner_agree import (AGE, AGES, REFUSALS, SUMS, QueryAnswer, SentenceWriter, can_records_answer,
                         restrict_query_to_test_modules)

COUNT = 300

Sums = List[int]  # objects, bytes, held, waste, records, objects_error, bytes_error


def drop_order_settings(sentence: str) -> str:
    """Remove top=, each= and sort=: nearly equal estimates may sort differently."""
    return re.sub(r"\b(top|each|sort)=\S+ ?", "", sentence)


def print_test_queries() -> None:
    print(restrict_query_to_test_modules("mode=stack", "size > 0"))
    writer = SentenceWriter()
    sentences: Dict[str, None] = {}
    while len(sentences) < COUNT:
        sentence = drop_order_settings(writer.write_sentence())
        if can_records_answer(sentence) and not AGE.search(sentence):
            sentences[sentence] = None
    print("\n".join(sentences))


def are_sums_nearly_equal(kernel: Sums, ours: Sums) -> bool:
    """Allow 0.1% for each sum, and 0.2% for each standard error.

    A weight is at least 1 and is cut by less than 0.001. Both programs round bytes
    down for each record. The error of a record is w * sqrt(1 - 1/w), and the weight w
    of a sampled record is at least 2 in this test.
    """
    records = kernel[4]
    bytes_slack, held_slack = (records + 0.001 * value for value in kernel[1:3])
    slack = [1 + 0.001 * kernel[0], bytes_slack, held_slack, bytes_slack + held_slack, 0,
             *(1 + 0.002 * value for value in kernel[5:])]
    return all(abs(k - o) <= most for k, o, most in zip(kernel, ours, slack))


def index_sums_by_row(answer: QueryAnswer) -> Dict[Tuple[str, ...], Sums]:
    """The sums of each row, by the row's name and fields."""
    return {(row[0], row[1], *row[SUMS:]):
            [*map(int, row[2:AGES[0]]), *map(int, row[AGES[1] + 1:SUMS])]
            for row in answer.rows}


TOTAL = re.compile(r"^total: objects (\d+), bytes (\d+), held (\d+), waste (\d+), "
                   r"oldest \d+\.\d{3} s, youngest \d+\.\d{3} s, "
                   r"from (\d+) samples: \+-(\d+) objects, \+-(\d+) bytes$", re.M)


def parse_total_of_objects(text: str) -> Sums:
    found = TOTAL.search(text)
    return [int(figure) for figure in found.groups()] if found else []


def describe_differences(sentence: str, kernel: QueryAnswer, ours: QueryAnswer) -> List[str]:
    left, right = index_sums_by_row(kernel), index_sums_by_row(ours)
    if kernel.head != ours.head:
        return [f"{sentence}: {kernel.head} {ours.head}"]
    if set(left) != set(right):
        return [f"{sentence}: {set(left) ^ set(right)}"]
    return [f"{sentence}: {key}: {left[key]} {right[key]}" for key in left
            if not are_sums_nearly_equal(left[key], right[key])]


def compare_answers(ownertop: str, sentences: str, answers: str, records: str) -> int:
    def ask_ownertop(sentence: str) -> str:
        return subprocess.run([ownertop, sentence, records], check=True, capture_output=True,
                              text=True).stdout

    with open(sentences, encoding="utf-8") as file:
        in_text, *asked = file.read().split("\n")[:-1]
    with open(answers, encoding="utf-8") as file:
        text, *answered = file.read().split("===\n")[:-1]
    wrong: List[str] = []
    estimates = 0
    for sentence, answer in zip(asked, answered):
        if answer.startswith(REFUSALS):
            continue
        kernel = QueryAnswer(answer)
        objects, records_of_all = (kernel.find_answer_rows("total")[0][i] for i in (2, AGES[1] + 1))
        estimates += objects != records_of_all
        wrong += describe_differences(sentence, kernel, QueryAnswer(ask_ownertop(sentence)))
    ours = QueryAnswer(ask_ownertop(in_text.replace("mode=stack", "group=kind format=tsv")))
    row, = ours.find_answer_rows("total")
    totals = parse_total_of_objects(text), index_sums_by_row(ours)[(row[0], row[1], *row[SUMS:])]
    plan = (
        (len(asked) == len(answered) == COUNT and estimates > COUNT / 3,
         f"{estimates} of {len(answered)} answers are estimates"),
        (not wrong, "estimates and their errors agree"),
        (all(totals) and are_sums_nearly_equal(*totals), "the total of single objects agrees"),
    )
    for number, (good, name) in enumerate(plan, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for line in [*wrong[:8], *([] if plan[2][0] else [f"{totals}"])]:
        print(f"# {line[:600]}")
    print(f"1..{len(plan)}")
    return 0 if all(good for good, _ in plan) else 1


if __name__ == "__main__":
    if sys.argv[1] == "sentences":
        print_test_queries()
    else:
        sys.exit(compare_answers(*sys.argv[2:]))
