#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test "ownertop prom" with promtool, node_exporter and Prometheus.

Exits with status 77 if one of these programs is missing.
"""

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

from fresh_directory import run_tests

HERE = os.path.dirname(os.path.abspath(__file__))
INPUT = os.path.join(HERE, "input")
RULES = os.path.join(HERE, "../prometheus/ownertop.rules.yml")
PROGRAMS = ("promtool", "prometheus", "prometheus-node-exporter")
PATIENCE = 120.0

# Inputs with names that need escapes, with several kinds of records, and with damage.
DUMPS = ("slab.txt", "page.txt", "names.txt", "utf8_names.txt", "long_names.txt", "sampled.txt",
         "show_stacks.txt", "cut_frame.txt", "slab.gz")


def run_promtool(*words: str, text: str = "") -> None:
    """Run promtool, and fail with its messages if it finds errors."""
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, f"promtool {words}: {done.stdout}{done.stderr}"


def print_metrics(ownertop: str, *words: str) -> str:
    """Return the metrics of a dump."""
    done = subprocess.run([ownertop, "--page-size", "4096", "prom", *words], cwd=INPUT,
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_metrics(ownertop: str, _: str) -> None:
    """promtool accepts the metrics of all kinds of dumps, also with all fields as labels."""
    for dump in DUMPS:
        run_promtool("check", "metrics", text=print_metrics(ownertop, dump))
        run_promtool("check", "metrics",
                     text=print_metrics(ownertop, dump, "-n", "0", "-g",
                                        "stack,cache,comm,pid,tgid,module,kind,func,nid"))


def test_cardinality(ownertop: str, _: str) -> None:
    """There are as many time series as groups are asked for, and they add up."""
    metrics = print_metrics(ownertop, "slab.txt", "-n", "3")
    values: dict[str, list[int]] = {}
    for line in metrics.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            values.setdefault(name.split("{")[0], []).append(int(value))
    for figure in ("requested_bytes", "held_bytes", "objects"):
        groups = values[f"ownertop_group_{figure}"]
        assert len(groups) == 3, groups
        rest, total = values[f"ownertop_rest_{figure}"], values[f"ownertop_sum_{figure}"]
        assert [sum(groups) + rest[0]] == total, f"{figure}: {groups} + {rest} != {total}"


def test_output_file(ownertop: str, directory: str) -> None:
    """--output replaces a file at once, and leaves it on an error."""
    path = os.path.join(directory, "x.prom")
    with open(path, "w", encoding="ascii") as old:
        old.write("old\n")
        old.flush()
        print_metrics(ownertop, "slab.txt", "--output", path)
        assert os.stat(path).st_ino != os.fstat(old.fileno()).st_ino, "written in place"
    with open(path, encoding="utf-8") as new:
        assert new.read() == print_metrics(ownertop, "slab.txt"), "other metrics"
    assert os.listdir(directory) == ["x.prom"], os.listdir(directory)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    assert mode == 0o666 & ~mask, oct(mode)
    done = subprocess.run([ownertop, "prom", "slab.txt", "-o", directory], cwd=INPUT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and directory in done.stderr, done.stderr
    assert os.listdir(directory) == ["x.prom"], os.listdir(directory)


def test_rules(_: str, directory: str) -> None:
    """The alert rules are sound: a leak is reported, other changes are not."""
    run_promtool("check", "rules", RULES)
    for path in (RULES, os.path.join(HERE, "prom_alerts.yml")):
        shutil.copy(path, directory)
    run_promtool("test", "rules", os.path.join(directory, "prom_alerts.yml"))


def find_free_port() -> int:
    """Return a port of the loopback interface that no program uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def run_server(*words: str) -> Iterator[None]:
    """Run a server until the end of the block."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield
        finally:
            server.kill()


def query(port: int, expression: str) -> list[tuple[dict[str, str], str]]:
    """Ask Prometheus. Return the labels and the value of each time series."""
    words = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{words}") as answer:
        result = json.load(answer)["data"]["result"]
    return [(series["metric"], series["value"][1]) for series in result]


def wait_for_total(port: int) -> str:
    """Wait until Prometheus has the metrics, and return the total."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            for _, value in query(port, "ownertop_sum_requested_bytes"):
                return value
        time.sleep(0.2)
    raise AssertionError("Prometheus has no metrics of ownertop")


def test_scrape(ownertop: str, directory: str) -> None:
    """Prometheus scrapes the figures from node_exporter."""
    exporter, prometheus = find_free_port(), find_free_port()
    metrics = os.path.join(directory, "metrics")
    config = os.path.join(directory, "prometheus.yml")
    os.mkdir(metrics)
    print_metrics(ownertop, "slab.txt", "-o", os.path.join(metrics, "ownertop.prom"))
    shutil.copy(RULES, directory)
    with open(config, "w", encoding="ascii") as file:
        file.write(f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [ownertop.rules.yml]
scrape_configs:
  - {{job_name: node, static_configs: [{{targets: ['127.0.0.1:{exporter}']}}]}}
""")
    with run_server("prometheus-node-exporter", "--collector.disable-defaults",
                    "--collector.textfile", f"--collector.textfile.directory={metrics}",
                    f"--web.listen-address=127.0.0.1:{exporter}"), \
            run_server("prometheus", f"--config.file={config}",
                       f"--storage.tsdb.path={directory}/data",
                       f"--web.listen-address=127.0.0.1:{prometheus}"):
        assert wait_for_total(prometheus) == "3944", "another total"
        (errors,) = query(prometheus, "node_textfile_scrape_error")
        assert errors[1] == "0", errors
        groups = query(prometheus, 'ownertop_group_objects{cache="ext4_inode_cache"}')
        assert len(groups) == 1 and groups[0][1] == "2", groups
        assert groups[0][0]["stack"].startswith("ext4_alloc_inode [ext4];"), groups
        rules = f"http://127.0.0.1:{prometheus}/api/v1/rules"
        with urllib.request.urlopen(rules) as answer:
            loaded = json.load(answer)["data"]["groups"]
        names = [rule["name"] for group in loaded for rule in group["rules"]]
        assert "KernelMemoryGrows" in names, names


TESTS = (test_metrics, test_cardinality, test_output_file, test_rules, test_scrape)


def main() -> int:
    """Return exit status 0 if all tests pass, or 77 without Prometheus."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        print(f"no {', '.join(missing)}")
        return 77
    return run_tests(TESTS, lambda directory: (sys.argv[1], directory))


if __name__ == "__main__":
    sys.exit(main())
