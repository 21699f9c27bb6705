#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the answers of the kernel, of ownertop and of drgn to the same sentences.

owner_agree.py sentences COUNT [records]
    Print COUNT sentences about the objects of owner_truth.ko and owner_leak.ko: the
    queries of the documentation, then random ones from a fixed seed. With "records",
    only those that RECORDS and VMCORE can answer.
owner_agree.py compare OWNERTOP SENTENCES ANSWERS OBJECTS RECORDS [VMCORE]
    ANSWERS are the kernel's, with a line "===" after each, and the uptime in seconds
    before each and at the end. ownertop answers from two dumps: OBJECTS is the kernel's
    answer with all fields, RECORDS is /sys/kernel/debug/slab_owner, which has fewer, and
    VMCORE are the records that slab_owner.py found in a vmcore of the kernel. Prints TAP.

ownertop does not list single objects. If the kernel does, ownertop adds up the objects of the
kernel's answer, and those of OBJECTS that the sentence selects.

ownertop answers for the time before the kernel's answer. An object can reach an age of the
sentence while the kernel answers: if the answers differ, ownertop answers for the time after
the kernel's answer, too, and one of its answers must agree.
"""
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

TEXT = Path(__file__).parents[4] / "Documentation/mm/slab_owner_language.rst"
MODULES = "owner_truth,owner_leak"
SEED = 20240612

# --- sentences -----------------------------------------------------------------

CACHES = ["kmalloc-64", "kmalloc-*", "owner_truth", "owner_truth*", "kmalloc-?", "kmalloc-[1-5]*",
          "'kmalloc-[!1-5]*'", "nosuch", "*", '"kmalloc\\-64"', "'owner_truth_rcu'", "percpu",
          "kmalloc-256", "kmalloc-1k", "*-*", "kmalloc-cg-*"]
COMMS = ["insmod", "kworker*", "kworker/*", "truth/planter", '"truth/*"', "swapper*", "nosuch",
         "*", "sh", "'?nsmod'", "[a-j]*"]
FUNCTIONS = ["truth_kmalloc", "truth_*", "leak_*", "truth_own_cache", "truth_thread", "nosuch*",
             "do_one_initcall", "*init*", "kthread", "process_one_work", "truth_[a-k]*"]
NUMBERS = {
    "size": ["0", "5", "8", "24", "40", "50-53", "64", "200", "200-310", "512", "1K", "2K-8K",
             "4096", "8K", "1M"],
    "held": ["8", "64", "96-192", "200", "208-256", "512", "1K", "8K", "1G"],
    "order": ["0", "1", "0-10"],
    "nid": ["0", "1", "0-3"],
    "pid": ["0", "1", "2-20", "21-60", "61-100000", "50", "0-1000000"],
    "tgid": ["0", "1", "2-20", "21-60", "61-100000", "50", "0-1000000"],
    "handle": ["1", "0x100", "0-5000000", "1000000-50000000", "0-0xffffffff", "16777216"],
    "ts": ["1s", "5s", "6000ms", "0s-4s", "1h", "1500ms-1d", "7000000us"],
    "age": ["10ms", "22s", "0ns-22s", "22s-1h", "1h", "2d", "60m", "22000ms"],
}
WORDS = {"cache": CACHES, "comm": COMMS, "func": FUNCTIONS,
         "module": ["owner_truth", "owner_leak", "owner_*", "nosuch", "*truth", "owner_t[p-r]*"],
         "syscall": ["finit_module", "init_module", "*init_module", "nosuch", "*", "[f-j]*"]}
GROUPS = ["cache", "size", "held", "order", "nid", "pid", "tgid", "comm", "func", "module",
          "kind", "handle", "stack", "syscall", "age", "ts"]
# An object crosses a bucket's bound while it gets older, so ages have few buckets.
BUCKETS = {
    "age": ["22s", "1h"], "ts": ["500ms", "1s", "7s", "1h", "log2"],
    "size": ["1", "64", "200", "4K", "1G", "log2"], "held": ["64", "96", "4K", "log2"],
}
STACKS = ["stack", "stack.full", "stack.1", "stack.2", "stack.3", "stack.8", "stack.64", "stack.-1",
          "stack.-3", "stack.-64", "stack.func", "stack.func.1", "stack.func.3", "stack.func.-2"]
AMOUNTS = ["bytes", "held", "waste", "objects"]
MODES = ["stack", "handle", "stack_handle"]


NESTING = 16		# OWNER_NESTING_MAX


def measure_parenthesis_depth(expression: str) -> int:
    """The largest number of nested parentheses."""
    depth = deepest = 0
    for character in expression:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    return deepest


AGE = re.compile(r"(?<!\w)age(?!\w)")


class SentenceWriter:
    """Composes random sentences from all fields, operators and settings."""

    def __init__(self) -> None:
        self.random = random.Random(SEED)

    def choose_random_spaces(self) -> str:
        return self.random.choice(["", " ", " ", "  "])

    def choose_random_values(self, values: List[str]) -> str:
        return ",".join(self.random.sample(values, self.random.choice([1, 1, 1, 2, 3])))

    def write_comparison(self) -> str:
        choose = self.random.choice
        field = choose(list(NUMBERS) + list(WORDS) + ["kind"])
        if field == "kind":
            operator, value = choose([("==", "slab"), ("==", "percpu"), ("!=", "page"),
                                      ("!=", "slab,percpu"), ("==", "percpu,slab")])
        elif field in WORDS:
            value = self.choose_random_values(WORDS[field])
            operator = "~" if re.search(r"[*?[]", value) else choose(["==", "!=", "~"])
        else:
            numbers = NUMBERS[field]
            operator = choose(["==", "!=", "<", "<=", ">", ">="])
            if operator in ("==", "!="):
                value = self.choose_random_values(numbers)
            else:
                value = choose([n for n in numbers if "-" not in n])
                if operator == "<" and re.fullmatch("0x?0*[a-z]*", value):
                    operator = "<="
        return f"{field}{self.choose_random_spaces()}{operator}{self.choose_random_spaces()}{value}"

    def write_expression(self, depth: int) -> str:
        kind = self.random.random()
        if depth <= 0 or kind < 0.35:
            return self.write_comparison()
        if kind < 0.5:
            return f"!{self.choose_random_spaces()}({self.write_expression(depth - 1)})"
        if kind < 0.6:
            return f"!{self.write_comparison()}"
        if kind < 0.7:
            return f"({self.write_expression(depth - 1)})"
        operator = self.random.choice(["&&", "||"])
        return f"{self.write_expression(depth - 1)} {operator} {self.write_expression(depth - 1)}"

    def write_group_fields(self, mode: str) -> str:
        fields = self.random.sample(GROUPS, self.random.choice([1, 1, 2, 2, 3, 4, 6]))
        handles = mode not in ("", "stack")
        stacks = STACKS[:2] if handles else STACKS
        return ",".join(self.write_bucket(field) if field in BUCKETS else
                        self.random.choice(stacks) if field == "stack" else field
                        for field in fields)

    def write_bucket(self, field: str) -> str:
        exact = [] if field in ("age", "ts") else [field] * 3
        return self.random.choice(exact + [f"{field}.{bucket}" for bucket in BUCKETS[field]])

    def write_sentence(self) -> str:
        chance, choose = self.random.random, self.random.choice
        settings = ["format=tsv"]
        mode = choose(MODES) if chance() < 0.4 else ""
        if mode:
            settings.append(f"mode={mode}")
        if chance() < 0.9:
            fields = self.write_group_fields(mode)
            settings.append(f"group={fields}")
        if settings[-1].startswith("group="):
            if chance() < 0.6:
                kinds = AMOUNTS if chance() < 0.8 else AMOUNTS + ["oldest"]
                settings.append(f"sort={self.choose_random_values(kinds)}")
            if chance() < 0.4:
                settings.append(f"top={choose([1, 2, 3, 5, 8, 20, 100])}")
                if chance() < 0.4:
                    settings.append(f"each={choose(fields.split(',')).split('.')[0]}")
            if chance() < 0.2:
                settings.append(f"min={choose(['1', '64', '1K', '4608', '10K', '100K', '1G'])}")
        if chance() < 0.1:
            settings.append(f"nid={choose(['0', '0-3', '1,0', '1'])}")
        self.random.shuffle(settings)
        expression = self.write_expression(choose([0, 1, 2, 3, 4])) if chance() < 0.9 else ""
        if chance() < 0.03:
            expression = expression or "kind != page"
            more = NESTING - 1 - measure_parenthesis_depth(expression)
            expression = "(" * more + expression + ")" * more
        return restrict_query_to_test_modules(" ".join(settings), expression)


def restrict_query_to_test_modules(settings: str, expression: str) -> str:
    """A sentence that selects only objects of the test's modules, and no pages."""
    planted = f"module == {MODULES}"
    # Sentences that compare these ask for pages, too.
    if re.search(r"\b(kind|order|gfp)\b", expression):
        planted = f"kind == slab,percpu && {planted}"
    return f"{settings} if " + (f"({expression}) && {planted}" if expression else planted)


def find_documented_queries() -> Iterator[str]:
    """The queries of the documentation, with format=tsv and about planted objects."""
    for question in re.findall(r"^\t# query\n\t(.*)$", TEXT.read_text(encoding="utf-8"), re.M):
        settings, _, expression = question.partition(" if ")
        # The dump has no pages, no addresses and no slabs, and ownertop adds up all objects, not
        # the first ones.
        if re.search("page|address|slabs", question):
            continue
        if "top=" in settings and "group=" not in settings:
            continue
        if "format=" not in settings:
            settings += " format=tsv"
        yield restrict_query_to_test_modules(settings, expression)


# RECORDS and VMCORE have no nid and no handles, so they cannot answer sentences that need them.
NOT_IN_RECORDS = re.compile(r"\b(nid|handle|stack_handle)\b")


def can_records_answer(sentence: str) -> bool:
    return not NOT_IN_RECORDS.search(sentence) and "group=" in sentence


def print_test_queries(count: int, which: str = "") -> None:
    writer = SentenceWriter()
    sentences: Dict[str, None] = {}
    documented = find_documented_queries()
    while len(sentences) < count:
        sentence = next(documented, "") or writer.write_sentence()
        if not which or can_records_answer(sentence):
            sentences[sentence] = None
    # Ask about ages first, while the last objects are younger than most ages.
    for sentence in sorted(sentences, key=lambda each: not AGE.search(each)):
        print(sentence)


# --- answers -------------------------------------------------------------------

SUMS = 11		# number of columns of a group row before its fields
AGES = (6, 7)		# columns oldest and youngest of a group row
FIELDS_OF_OBJECTS = ("kind", "size", "held", "nid", "pid", "tgid", "cache", "comm", "stack",
                     "handle", "user")


# The kernel refuses a sentence that no object can match, or pages only.
REFUSALS = ("neither slab objects, pages nor per-CPU areas can match", "page_owner is off: ")


class QueryAnswer:
    """An answer with format=tsv."""

    def __init__(self, text: str) -> None:
        lines = [line for line in text.split("\n") if line and not line.startswith("#")]
        if not lines or not lines[0].startswith("row\t"):
            raise ValueError(f"no answer: {text[:300]}")
        self.head = lines[0].split("\t")
        self.rows = [line.split("\t") for line in lines[1:]]
        self.groups = self.head[1] == "groups"

    def find_answer_rows(self, name: str) -> List[List[str]]:
        return [row for row in self.rows if row[0] == name]

    def answer_is_from_counters(self) -> bool:
        """Is the answer from the counters of call chains, which have no ages?"""
        return self.groups and self.find_answer_rows("total")[0][AGES[0]] == "-"

    def read_row_sums(self, name: str) -> Tuple[int, ...]:
        """Groups, objects, bytes, held and waste of the only row @name."""
        row, = self.find_answer_rows(name)
        return tuple(map(int, row[1:AGES[0]]))


def drop_age_cells(row: List[str]) -> Tuple[str, ...]:
    return tuple(cell for i, cell in enumerate(row) if i not in AGES)


def ages_nearly_equal(kernel: List[str], ours: List[str], later: Tuple[float, float]) -> bool:
    """The kernel's ages are larger by @later seconds, or "-" in a counted answer."""
    for i in AGES:
        if kernel[i] == "-":
            continue
        if not later[0] <= (int(kernel[i]) - int(ours[i])) / 1e9 <= later[1]:
            return False
    return True


def get_setting_value(sentence: str, name: str) -> str:
    """The value of a setting, or ""."""
    found = re.search(rf"(?:^| ){name}=(\S+)", sentence.split(" if ")[0])
    return found[1] if found else ""


def can_counters_answer(sentence: str) -> bool:
    """Does the sentence use only fields that all objects of a call chain share?"""
    settings, _, expression = sentence.partition(" if ")
    groups = get_setting_value(sentence, "group").split(",")
    fields = {field.split(".")[0] for field in groups if field}
    fields.update(re.findall(r"(\w+)\s*(?:[=!<>]=|[<>~])", expression))
    fields.update(re.findall(r"\bnid=|\boldest\b", settings))
    return fields <= {"stack", "func", "module", "syscall", "handle", "kind"}


def read_sort_keys(row: List[str], order: List[str]) -> Tuple[int, ...]:
    """The sort keys of a group row."""
    columns = {"objects": 2, "bytes": 3, "held": 4, "waste": 5}
    return tuple(int(row[columns[name]]) for name in order)


def find_each_column(sentence: str, head: List[str]) -> int:
    """The column of the field of each=, 0 if the sentence has none."""
    field = get_setting_value(sentence, "each")
    if not field:
        return 0
    if field == "stack" and "stack" not in head:
        field = "handle"
    names = [name.split(".")[0].replace("held_each", "held") for name in head[SUMS:]]
    return SUMS + names.index(field)


def split_by_value(rows: List[List[str]], column: int) -> Dict[str, List[List[str]]]:
    """The rows by their value in a column, in order; all of them in one list if it is 0."""
    runs: Dict[str, List[List[str]]] = {}
    last = None
    for row in rows:
        value = row[column] if column else ""
        if value in runs and value != last:
            raise ValueError(f"rows of {value} are apart")
        runs.setdefault(value, []).append(row)
        last = value
    return runs


def is_oldest_first(rows: List[List[str]], jitter: float) -> bool:
    """Is the oldest group first, up to @jitter seconds?"""
    ages = [int(row[AGES[0]]) / 1e9 for row in rows]
    return all(before - later >= -jitter for before, later in zip(ages, ages[1:]))


def describe_differences(sentence: str, kernel: QueryAnswer, ours: QueryAnswer, every: QueryAnswer,
                         later: Tuple[float, float]) -> Iterator[str]:
    """Describe each difference. @every is ownertop's answer without top=, each= and min=.

    The kernel answered @later seconds after the time for which ownertop answers.
    """
    if kernel.head != ours.head:
        yield f"columns: {kernel.head} {ours.head}"
        return
    if kernel.read_row_sums("total") != ours.read_row_sums("total"):
        yield f"totals: {kernel.read_row_sums('total')} {ours.read_row_sums('total')}"
    shown, wanted = kernel.find_answer_rows("group"), ours.find_answer_rows("group")
    if len(shown) != len(wanted):
        yield f"{len(shown)} groups are shown, not {len(wanted)}"
    order = (get_setting_value(sentence, "sort") or "held").split(",")
    by_age = "oldest" in order
    each = find_each_column(sentence, kernel.head)
    runs = [split_by_value(rows, each) for rows in (shown, wanted)]
    # Values whose first groups are equal can be in any order.
    if not by_age and any(
            [read_sort_keys(rows[0], order) for rows in one.values()]
            != [read_sort_keys(rows[0], order) for rows in other.values()]
            or [read_sort_keys(row, order) for row in one[value]]
            != [read_sort_keys(row, order) for row in other.get(value, [])]
            for one, other in (runs, runs[::-1]) for value in one):
        yield "the order differs"

    # top= may cut off different groups if their sort keys are equal, or ages nearly so.
    left = Counter(drop_age_cells(row) for row in shown)
    right = Counter(drop_age_cells(row) for row in wanted)
    all_groups = {drop_age_cells(row): row for row in every.find_answer_rows("group")}
    for key in left:
        if key not in all_groups or left[key] > 1:
            yield f"no such group: {key}"
    cut = [list(key) for key in (left - right) + (right - left)]
    if cut and not by_age:
        for row in cut:
            value = row[each - len(AGES)] if each else ""
            edge = (runs[1].get(value) or runs[0].get(value) or [[]])[-1]
            if not edge or read_sort_keys(row, order) != read_sort_keys(edge, order):
                yield f"other groups: {cut[:3]}"
                break
    if order[0] == "oldest":
        # The kernel reads the clock for each object of a walk that takes a while.
        for by_value, jitter in zip(runs, (later[1] - later[0], 0)):
            for rows in ([rows[0] for rows in by_value.values()], *by_value.values()):
                if not is_oldest_first(rows, jitter):
                    yield f"not in order: {[row[:SUMS] for row in rows]}"
    if cut and len(all_groups) == len(wanted):
        yield f"groups differ: {cut[:3]}"
    for row in shown:
        near = all_groups.get(drop_age_cells(row))
        if near and not ages_nearly_equal(row, near, later):
            yield f"ages of {row[:SUMS]}: {near[:SUMS]}"

    if kernel.answer_is_from_counters() and not can_counters_answer(sentence):
        yield "the answer has no ages"
    for answer in (kernel, ours):
        parts = [answer.read_row_sums("not_shown"), answer.read_row_sums("other"),
                 *(tuple(map(int, row[1:AGES[0]])) for row in answer.find_answer_rows("group"))]
        if tuple(map(sum, zip(*parts))) != answer.read_row_sums("total"):
            yield "does not add up"
    for name in ("not_shown", "other"):
        if kernel.read_row_sums(name)[0] != ours.read_row_sums(name)[0]:
            yield f"{name}: {kernel.read_row_sums(name)} {ours.read_row_sums(name)}"
        elif not cut and not by_age and \
                kernel.read_row_sums(name) != ours.read_row_sums(name):
            yield f"{name}: {kernel.read_row_sums(name)} {ours.read_row_sums(name)}"


def compare_answers(ownertop: str, sentences: str, answers: str, objects: str,
                    *records: str) -> int:
    with open(sentences, encoding="utf-8") as file:
        asked = file.read().split("\n")[:-1]
    with open(answers, encoding="utf-8") as file:
        parts = file.read().split("===\n")
    times = [float(part.split("\n", 1)[0]) for part in parts]
    answered = [part.split("\n", 1)[1] for part in parts[:-1]]

    def ask_ownertop(sentence: str, dump: str, now: float) -> QueryAnswer:
        run = subprocess.run([ownertop, "--now", f"{int(now * 1000)}ms", sentence, dump],
                             capture_output=True, text=True)
        if run.returncode:
            raise ValueError(run.stderr)
        return QueryAnswer(run.stdout)

    def add_up_objects(fields: str, now: float, *arguments: str, answer: str = "") -> List[str]:
        """The rows of all groups, with the time stamps of their objects, in any order."""
        run = subprocess.run([ownertop, "--csv", "--no-skip", "-d", "0", "-g", fields,
                              "--now", f"{int(now * 1000)}ms", *arguments],
                             input=answer, capture_output=True, text=True)
        if run.returncode:
            raise ValueError(run.stderr)
        return sorted(re.sub("^group,[0-9]+", "group", line) for line in run.stdout.split("\n")
                      if line.startswith("group,"))

    def compare_list_of_objects(number: int, dump: str, now: float) -> List[str]:
        fields = ",".join(field for field in QueryAnswer(answered[number]).head
                          if field in FIELDS_OF_OBJECTS)
        selected = re.sub(r"\b(format|mode)=\S+ ", "", asked[number])
        listed = add_up_objects(fields, now, "-", answer=answered[number])
        return [] if listed == add_up_objects(fields, now, selected, dump) else ["objects differ"]

    def compare_answer(number: int, dump: str, now: float) -> List[str]:
        """The differences if ownertop answers at the time @now."""
        sentence = asked[number]
        if answered[number].startswith(REFUSALS):
            selected = re.sub(r"\b(format|mode|group|sort|each|top|min)=\S+ ", "", sentence)
            return ["refused"] if add_up_objects("cache", now, selected, dump) else []
        if not QueryAnswer(answered[number]).groups:
            return compare_list_of_objects(number, dump, now)
        everything = re.sub(r"\b(top|each|min)=\w+ ?", "", sentence)
        try:
            return list(describe_differences(
                sentence, QueryAnswer(answered[number]), ask_ownertop(sentence, dump, now),
                ask_ownertop(everything, dump, now),
                (times[number] - now - 0.5, times[number + 1] - now + 1)))
        except ValueError as error:
            return [str(error)]

    wrong = {dump: [] for dump in (objects, *records)}
    counts: Dict[str, int] = Counter()
    for number, sentence in enumerate(asked[:len(answered)]):
        for dump in (objects, *records):
            if dump != objects and not can_records_answer(sentence):
                continue
            counts[dump] += 1
            found = compare_answer(number, dump, times[number])
            # Times are cut to 10 ms.
            if found and compare_answer(number, dump, times[number + 1]) and \
                    compare_answer(number, dump, times[number + 1] + 0.01):
                wrong[dump].append((sentence, found))

    def print_result(number: int, good: bool, name: str) -> bool:
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        return good

    good = print_result(1, len(asked) == len(answered) >= 200,
                        f"{len(answered)} sentences are answered")
    read = [QueryAnswer(text) for text in answered if not text.startswith(REFUSALS)]
    found = sum(bool(answer.find_answer_rows("group") or answer.find_answer_rows("object"))
                for answer in read)
    print(f"# {len(answered) - len(read)} sentences are refused, and nothing matches them")
    good &= print_result(2, found > len(answered) / 2, f"{found} answers are not empty")
    counted = sum(answer.answer_is_from_counters() for answer in read)
    good &= print_result(3, counted > 0.01 * len(asked), f"{counted} answers are counted")
    names = ("objects", "slab_owner", "a vmcore")
    for number, (name, dump) in enumerate(zip(names, (objects, *records)), 4):
        good &= print_result(number, not wrong[dump] and counts[dump] > 0.3 * len(asked),
                             f"{counts[dump]} are answered alike out of {name}")
        for sentence, found in wrong[dump][:8]:
            print(f"# {sentence}")
            for difference in found[:4]:
                print(f"#   {difference[:600]}")
    print(f"1..{4 + len(records)}")
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1] == "sentences":
        print_test_queries(int(sys.argv[2]), *sys.argv[3:])
    else:
        sys.exit(compare_answers(*sys.argv[2:]))
