#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name, and the guest expands what is typed:
# shellcheck disable=SC2317,SC2016
#
# Boot a kernel with Debian's configuration and Debian 13's systemd as the first process: the
# system comes up whole, CMD runs in it, and so does a shell on a terminal. Prints TAP.
usage='[KERNEL]'
. "$(dirname "$0")/prelude.sh"

kernel=${1:-debian}
guest=tools/testing/owner/guest/guest.py
seen="$work/out $work/guest.err"
require_debian_root systemd

# A terminal for guest.py: type the lines of stdin, each at a prompt, and print what appears.
type_at_prompts()
{
	python3 -c '
import os, pty, select, signal, sys, time
lines = sys.stdin.read().splitlines(True)
pid, terminal = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
seen, deadline = b"", time.monotonic() + 900
while select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    sys.stdout.buffer.write(data)
    seen += data
    if lines and b"guest:/" in seen.splitlines()[-1]:
        os.write(terminal, lines.pop(0).encode())
        seen = b""
else:
    os.kill(pid, signal.SIGKILL)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$@"
}

run_guest "" 'systemctl is-system-running --wait; cat /proc/1/comm
	systemctl list-units --failed --no-legend >&2; exit 42' --systemd --mem 1G
status=$?
ok "status 42 passes through" equals $status 42
ok "all units have started" equals "$(sed -n 1p "$work/out")" running
ok "systemd is the first process" equals "$(sed -n 2p "$work/out")" systemd

# The echo of the line that is typed does not have its result.
printf '%s\n' 'echo "result=$((40 + 2)) of $(cat /proc/1/comm)"' exit |
	type_at_prompts "$guest" shell "$kernel" --systemd --mem 1G >"$work/out" 2>"$work/guest.err"
status=$?
ok "a shell's exit ends the guest" equals $status 0
ok "a line runs in the shell" file_has "$work/out" 'result=42 of systemd'
finish_tests
