# SPDX-License-Identifier: GPL-2.0
#
# The entry points of slab_owner. 'make' without a target lists them.

OWNER	:= tools/testing/owner
K	?= x86_64
LINUX	?= 6.12
EXTRA	?=
APPEND	?=
SMP	?= 2
DURATION ?= 600
MINUTES	?= 60
RUNS	?= 1000000
LOADS	?=
MODES	?=
IMAGE	?=
MEM	?= 512M
# Kernels that need packages of their own
SPECIAL	:= kmsan arm64 arm64-64k arm64-scs kasan-tags s390x

GUEST_OPTIONS = --append "$$APPEND" --smp "$(SMP)" --mem "$(MEM)" $(if $(EXTRA),--extra "$(EXTRA)") \
	$(if $(PACKAGES),--packages "$(PACKAGES)")
EXTRA_PACKAGES = $(addprefix install-,$(filter $(SPECIAL),$(K))) \
	$(if $(PACKAGES)$(filter debian%,$(K)),install-debian) $(EXTRA_SOURCE)
# The source of a version of Linux that is not this system's, and the name of its kernel K
EXTRA_SOURCE = $(addprefix install-,$(filter-out 6.12,$(LINUX)))
KERNEL	= $(addsuffix /,$(filter-out 6.12,$(LINUX)))$(K)
export CMD APPEND DURATION MINUTES RUNS LINUX

help:
	@echo 'make run                 build, boot, load a module that leaks, show the leak'
	@echo 'make test                all tests, JOBS= at a time; T=name: suites whose name begins with it'
	@echo 'make soak                long tests: 1,600,000 compared chains, DURATION=600 s of torture,'
	@echo '                         RUNS=1000000 of each fuzzer, MINUTES=60 of churn, 16 CPUs, 32 GB,'
	@echo '                         sections without interrupts; JOBS= and T= as for make test'
	@echo 'make bench               costs of allocations and of ownertop, compared with other tools'
	@echo 'make bench-time          cycles of an allocation in User-mode Linux; MODES= choose, and'
	@echo '                         IMAGE=NAME=DIRECTORY measures another build of it as well'
	@echo 'make bench-misses        cache misses of an allocation, modelled in QEMU; MODES= choose'
	@echo 'make bench-replay        cycles of the walk by steps: recorded in QEMU, replayed here'
	@echo 'make bench-stackmap      trace events with stack ids instead of stacks'
	@echo 'make bench-depot-users   KASAN, slab_debug=U and kmemleak without and with the call tree'
	@echo 'make bench-load          whole loads on Debian'"'"'s kernel, which LOADS= and MODES= choose'
	@echo '                         from; MISSES=1 counts cache misses as well'
	@echo 'make deb                 a Debian package of ownertop in build/deb'
	@echo 'make debian-packages     packages of K=debian and of ownertop; FULL=1 for a machine, not a guest'
	@echo 'make lint                style, static checks, names, spelling'
	@echo
	@echo 'make kernel K=x86_64     build/x86_64/; also um page debug rt latency kmsan arm64'
	@echo '                         kasan-tags s390x vanilla um-vanilla um-profiling um-leaks; and'
	@echo '                         debian, debian-vanilla: Debian'"'"'s configuration, without drivers, whose'
	@echo '                         guest has a root of Debian 13 with PACKAGES="..."; with SYSTEMD=1,'
	@echo '                         systemd is its first process'
	@echo 'make guest K= CMD= APPEND= SMP= MEM= EXTRA='
	@echo '                         boot K, run CMD (EXTRA is at /extra), exit with its status'
	@echo 'make shell K=            boot K with a prompt'
	@echo 'make vmcore CMD=         write build/vmcore of a guest that has run CMD; KDUMP=1: panic'
	@echo '                         after CMD, a crash kernel and makedumpfile write build/kdump'
	@echo
	@echo 'make tree                build/tree: the kernel with our files and patches'
	@echo 'make refresh             carry edits in build/tree back (PATCH=name if no patch has the file)'
	@echo 'make series              build/series/PART/: the patches as mail, for git am'
	@echo '                         LINUX=7.3: of that version, in build/7.3/, with patches/7.3; the same'
	@echo '                         for run, kernel, guest, shell and refresh. 6.12 is the default'
	@echo 'make install             install the packages that are needed; install-K for K=$(SPECIAL)'
	@echo 'make clean               remove build/'

run: install $(EXTRA_PACKAGES)
	@$(OWNER)/run.sh $(KERNEL)

test: install-tests install-7.3
	@$(OWNER)/run_tests.py $(if $(JOBS),--jobs $(JOBS)) $(T)

# Guests count minutes and seconds by their own clocks. On a busy host these can take three times as
# long, and a suite is ended later than that.
soak: install-tests install-7.3 install-kmsan install-arm64 install-s390x install-debian
	@$(OWNER)/run_tests.py --suites $(OWNER)/soak_suites --skips $(OWNER)/soak_skips \
		--logs build/soak --figures \
		--limit $$((7200 + $(MINUTES) * 180 + $(DURATION) * 3)) $(if $(JOBS),--jobs $(JOBS)) $(T)

bench: install install-arm64 tree
	@$(OWNER)/bench/bench.py
	@$(OWNER)/bench/bench_ownertop.sh build/tree

# Not part of make bench: other work on the host changes its figures.
bench-time: install tree
	@$(OWNER)/bench/bench_time.py --modes "$(MODES)" $(if $(IMAGE),--image "$(IMAGE)")

# Not part of make bench: a guest takes minutes while its caches are modelled.
bench-misses: install install-arm64 tree
	@$(OWNER)/bench/bench_misses.py --modes "$(MODES)"

# Not part of make bench: other work on the host changes its figures.
bench-replay: install tree
	@$(OWNER)/bench/bench_replay.py

# Not part of make bench: it needs both kernels with Debian's configuration, and an hour.
bench-load: install install-debian tree
	@$(OWNER)/bench/bench_load.py --loads "$(LOADS)" --modes "$(MODES)" $(if $(MISSES),--misses)

# Not part of make bench: it builds kernels of its own, and short tasks take an hour.
bench-depot-users: install install-arm64 tree
	@$(OWNER)/bench/bench_depot_users.py

bench-stackmap: install tree
	@$(OWNER)/kernels/kernels.py x86_64
	@$(OWNER)/bench/bench_stackmap.py x86_64

lint: install-tests tree
	@$(OWNER)/lint/lint.sh

# Prints the path of the package; ownertop is built in build/deb.
deb: install
	@mkdir -p build/deb
	@O=$(CURDIR)/build/deb tools/mm/ownertop/debian/make_deb.sh

# Prints the paths of the packages.
debian-packages: install install-debian deb
	@$(OWNER)/kernels/kernels.py debian
	@$(OWNER)/kernels/make_packages.sh debian

tree: install $(EXTRA_SOURCE)
	@$(OWNER)/kernels/tree.py assemble

refresh:
	@$(OWNER)/kernels/tree.py refresh $(if $(PATCH),--patch $(PATCH)) $(FILES)

series: install $(EXTRA_SOURCE)
	@$(OWNER)/kernels/tree.py series

kernel: install $(EXTRA_PACKAGES)
	@$(OWNER)/kernels/kernels.py $(KERNEL)

# Boot an existing kernel as it is; build it only if it is missing.
image: install $(EXTRA_PACKAGES)
	@$(OWNER)/kernels/kernels.py --missing $(KERNEL)

guest: image
	@$(OWNER)/guest/guest.py run $(KERNEL) $(GUEST_OPTIONS) $(if $(SYSTEMD),--systemd) --cmd "$$CMD"

shell: image
	@$(OWNER)/guest/guest.py shell $(KERNEL) $(GUEST_OPTIONS) $(if $(SYSTEMD),--systemd)

vmcore: image $(if $(KDUMP),install-tests)
	@$(OWNER)/guest/guest.py $(if $(KDUMP),kdump,vmcore) $(KERNEL) $(GUEST_OPTIONS) --cmd "$$CMD"

install install-tests $(addprefix install-,$(SPECIAL) debian 7.3):
	@$(OWNER)/install.sh $@

clean:
	rm -rf build

.PHONY: help run test soak bench bench-time bench-misses bench-replay bench-load bench-depot-users \
	bench-stackmap lint deb debian-packages tree refresh series kernel image guest shell vmcore \
	install install-tests \
	$(addprefix install-,$(SPECIAL) debian 7.3) clean
