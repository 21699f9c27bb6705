# SPDX-License-Identifier: GPL-2.0
#
# The doors of slab_owner. 'make' alone lists them.

BENCH	:= tools/testing/owner
K	?= x86_64
EXTRA	?=
APPEND	?=
SMP	?= 2
MEM	?= 512M

GUEST_OPTIONS = --append "$$APPEND" --smp "$(SMP)" --mem "$(MEM)" $(if $(EXTRA),--extra "$(EXTRA)")
export CMD APPEND

help:
	@echo 'make run                 build, boot, leak, and see who leaked'
	@echo 'make test                every test; T=name for the suites that begin so'
	@echo 'make bench               what an allocation costs, and ownertop, beside what there is today'
	@echo 'make lint                style, static checks, spelling'
	@echo
	@echo 'make kernel K=x86_64     build/x86_64/; also um debug rt arm64 vanilla profiling'
	@echo 'make guest K= CMD= APPEND= SMP= MEM= EXTRA='
	@echo '                         boot it, run CMD in it (EXTRA is at /extra), end with its status'
	@echo 'make shell K=            the same with a prompt'
	@echo 'make vmcore CMD=         build/vmcore, of a guest that has run CMD'
	@echo
	@echo 'make tree                build/tree: the kernel with our files and patches'
	@echo 'make refresh             carry edits made in build/tree back (PATCH=name for a new file)'
	@echo 'make series              build/series/: the change as mail, for git am'
	@echo 'make install             the packages that all this needs; install-arm64 for K=arm64'
	@echo 'make clean               remove build/'

run: install
	@$(BENCH)/run.sh

test: install-tests
	@$(BENCH)/run_tests.py $(T)

bench: install tree
	@$(BENCH)/bench/bench.py
	@$(BENCH)/bench/bench_ownertop.sh build/tree

lint: install-tests tree
	@$(BENCH)/lint/lint.sh

tree: install
	@$(BENCH)/kernels/tree.py assemble

refresh:
	@$(BENCH)/kernels/tree.py refresh $(if $(PATCH),--patch $(PATCH)) $(FILES)

series: install
	@$(BENCH)/kernels/tree.py series

kernel: install $(if $(filter arm64,$(K)),install-arm64)
	@$(BENCH)/kernels/kernels.py $(K)

# A guest boots what is built, and builds only what is not.
image: install $(if $(filter arm64,$(K)),install-arm64)
	@$(BENCH)/kernels/kernels.py --missing $(K)

guest: image
	@$(BENCH)/guest/guest.py run $(K) $(GUEST_OPTIONS) --cmd "$$CMD"

shell: image
	@$(BENCH)/guest/guest.py shell $(K) $(GUEST_OPTIONS)

vmcore: image
	@$(BENCH)/guest/guest.py vmcore $(K) $(GUEST_OPTIONS) --cmd "$$CMD"

install install-tests install-arm64:
	@$(BENCH)/install.sh $@

clean:
	rm -rf build

.PHONY: help run test bench lint tree refresh series kernel image guest shell vmcore \
	install install-tests install-arm64 clean
