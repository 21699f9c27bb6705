# SPDX-License-Identifier: GPL-2.0
"""The loads and the modes of make bench-load, and the commands that a guest runs for them."""

import shlex
from dataclasses import dataclass

PACKAGES = "fio iperf3 rt-tests stress-ng"
BASE = "vanilla"


@dataclass
class Load:
    """A command, and a regular expression that only the output of a finished load matches."""
    command: str
    proof: str


def stress(name: str, operations: int, *words: str) -> Load:
    """A stressor of stress-ng that ends after a number of operations.

    stress-ng ends with status 0 if it has skipped a stressor, so its summary is the proof.
    """
    more = " ".join(words)
    return Load(f"stress-ng --no-rand-seed --temp-path /var/tmp --{name} 1 "
                f"--{name}-ops {operations} {more}".strip(), f"passed: 1: {name} ")


# The number of operations of each load makes it take some 200 million instructions. No load
# reads /sys: it has more files where caches are not merged. stress-ng's exec refuses to run as
# root, and counts no fewer than 4,096 operations.
LOADS = {
    "fork": stress("fork", 60),
    "dentry": stress("dentry", 1000, "--dentries 500"),
    "hackbench": Load("hackbench -g 1 -f 4 -l 3000", "^Time: "),
    "find": Load("echo 2 >/proc/sys/vm/drop_caches; find /usr -xdev -name stress-ng",
                 "^/usr/bin/stress-ng$"),
    "exec": Load("n=0; while [ $n -lt 200 ]; do /usr/bin/true || exit; n=$((n + 1)); done; "
                 "echo executed $n", "^executed 200$"),
    "sock": stress("sock", 20),
    "udp": stress("udp", 4000),
    "mmap": stress("mmap", 2, "--mmap-bytes 4M"),
    "dir": stress("dir", 300, "--dir-dirs 256"),
    "epoll": stress("epoll", 400),
    "inotify": stress("inotify", 20),
    "hackbench-pipe": Load("hackbench -p -g 1 -f 4 -l 5000", "^Time: "),
    "untar": Load("rm -rf /var/tmp/untar; mkdir /var/tmp/untar; "
                  "tar xf /var/tmp/untar.tar -C /var/tmp/untar --totals",
                  "^Total bytes read: [1-9]"),
    "fio": Load("fio --name=load --directory=/var/tmp --size=2M --rw=randrw --bs=4k "
                "--ioengine=psync --fsync=64 --randrepeat=1 --clocksource=clock_gettime "
                "--gtod_reduce=1", "err= 0"),
    "iperf3": Load("iperf3 -s -1 -D; sleep 0.2; iperf3 -c 127.0.0.1 -n 16M", "^iperf Done"),
}
PREPARE = "tar cf /var/tmp/untar.tar -C /usr bin share/perl5"


@dataclass
class LoadMode:
    """A kernel and its command line."""
    kernel: str
    append: str = ""
    # The most that the mode may add to all loads, as a geometric mean in percent; 0: no target.
    target: float = 0


MODES = {
    BASE: LoadMode("debian-vanilla"),
    "off": LoadMode("debian", target=0.2),
    "ready": LoadMode("debian", "slab_owner=ready", 0.2),
    "sampled": LoadMode("debian", "slab_owner=ready owner=sample=512K", 1),
    "depth-1": LoadMode("debian", "slab_owner=ready owner=depth=1", 3),
    "on": LoadMode("debian", "slab_owner=on", 5),
    "on,free": LoadMode("debian", "slab_owner=on,free=on"),
    "page_owner,ours": LoadMode("debian", "page_owner=on"),
    "profiling-on": LoadMode("debian-vanilla", "sysctl.vm.mem_profiling=1"),
    "slab_debug=U": LoadMode("debian-vanilla", "slab_debug=U"),
    "page_owner": LoadMode("debian-vanilla", "page_owner=on"),
}
# No load may exceed this percentage in the mode "on".
WORST_LOAD = 12.0

# Addresses that differ at each boot put objects into other hash buckets and cache lines, and
# random stack and heap offsets change what a page fault does: that is noise.
SAME_ADDRESSES = "nokaslr norandmaps"

# run_load NAME ROUND COMMAND PROOF, and show_counts ROUND
FUNCTIONS = """
run_load()
{
    if ! value=$(/extra/count_load "exec >/tmp/output 2>&1; $3") ||
        ! grep -qE "$4" /tmp/output; then
        cat /tmp/output
        echo "load $1 failed in round $2: '$3'"
        exit 1
    fi
    echo "load $1 $2 $value"
}
show_counts()
{
    for file in owner/stats stackdepot/stats; do
        [ ! -e /sys/kernel/debug/$file ] || sed "s/^/count $1 /" /sys/kernel/debug/$file
    done
}
"""


def compose_load_command(names: list[str], rounds: int) -> str:
    """The guest's commands: run each load once in each round, and print instructions.

    The first round fills caches, and is not counted.
    """
    lines = ["set -e", FUNCTIONS, PREPARE, "sync", f"for round in $(seq 0 {rounds}); do"]
    for name in names:
        load = LOADS[name]
        lines.append(f"  run_load {name} $round {shlex.quote(load.command)} "
                     f"{shlex.quote(load.proof)}")
    return "\n".join([*lines, "  show_counts $round", "done"])
