# SPDX-License-Identifier: Apache-2.0
#
# One Makefile, no recursion: every output lies below $(B). A new .c file in
# compiler/, backends/ or runtime/ and a new test in tests/unit/ need no line
# here. `make help` lists the targets.

VERSION := 0.1.0
B       ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
BINDIR  := $(PREFIX)/bin
LIBEXECDIR := $(PREFIX)/libexec/cordon
SHAREDIR := $(PREFIX)/share/cordon

CC      ?= cc
MUSL_CC ?= musl-gcc
FLEX    ?= flex
BISON   ?= bison

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
        -Wswitch-enum -Wvla -Wformat=2 $(if $(WERROR),-Werror)
OPT    ?= -O2 -g
HARDEN ?= -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDEN_LD ?= -pie -Wl,-z,relro,-z,now
CPPFLAGS += -I. -I$(B) -Iinclude -D_GNU_SOURCE -DCORDON_VERSION='"$(VERSION)"' \
        -DCORDON_SYSCONFDIR='"$(SYSCONFDIR)"' -DCORDON_LIBEXECDIR='"$(LIBEXECDIR)"'
CFLAGS  += -std=c11 $(WARN) $(OPT) $(HARDEN) $(SAN)
LDFLAGS += $(HARDEN_LD) $(SAN)
LDLIBS  := -ljansson -lyaml

# Programs of their own: never part of the library.
PROGRAMS := runtime/landlock_run.c runtime/init.c

# The command line: the impure edge, linked over the library.
MAIN_SRC := $(wildcard compiler/main*.c)
MAIN_OBJ := $(MAIN_SRC:%.c=$(B)/%.o)

LIB_SRC := $(filter-out $(PROGRAMS) $(MAIN_SRC),$(wildcard compiler/*.c grammar/*.c backends/*.c runtime/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/grammar/parser.o $(B)/grammar/lexer.o
UNIT    := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
HELPERS := $(patsubst tests/escape/%.c,$(B)/tests/%,$(wildcard tests/escape/*.c))
ALL_C   := $(wildcard compiler/*.[ch] grammar/*.[ch] backends/*.[ch] runtime/*.[ch] include/*.h \
             tests/unit/*.[ch] tests/escape/*.[ch] tests/fuzz/*.[ch])

.PHONY: all check test asan memcheck lint format demo deps install clean bless help
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/cordon $(B)/landlock-run $(B)/cordon-init

help:
	@sed -n 's/^#: //p' Makefile

#: all       build/cordon, build/landlock-run, build/cordon-init
$(B)/cordon: $(MAIN_OBJ) $(B)/libcordon.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/libcordon.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

# The grammar: generated text stays below $(B).
$(B)/grammar/parser.c $(B)/grammar/parser.h &: grammar/parser.y
	@mkdir -p $(@D)
	$(BISON) -Wall -Werror -Wno-yacc --defines=$(B)/grammar/parser.h -o $(B)/grammar/parser.c $<
$(B)/grammar/lexer.c: grammar/lexer.l $(B)/grammar/parser.h
	@mkdir -p $(@D)
	$(FLEX) -o $@ $<
GEN_WARN := -Wno-conversion -Wno-sign-conversion -Wno-switch-enum -Wno-missing-prototypes \
            -Wno-unused-function -Wno-sign-compare -Wno-null-dereference
$(B)/grammar/parser.o $(B)/grammar/lexer.o: $(B)/grammar/%.o: $(B)/grammar/%.c
	$(CC) $(CPPFLAGS) $(CFLAGS) $(GEN_WARN) -MMD -MP -c -o $@ $<

# The built-in policy is the very file that admins read.
$(B)/default_policy.inc: policies/default.cordon
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
$(B)/compiler/builtin.o: $(B)/default_policy.inc

$(B)/%.o: %.c | $(B)/grammar/parser.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The launchers: static with musl, no heap, stripped. No sanitizer: they are
# freestanding in all but name.
STATIC_CFLAGS := -std=c11 $(WARN) -Os -fno-asynchronous-unwind-tables -ffunction-sections \
        -fdata-sections -fno-stack-protector -fno-pie -D_GNU_SOURCE -I.
STATIC_LDFLAGS := -static -no-pie -s -Wl,--gc-sections,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro
$(B)/landlock-run: runtime/landlock_run.c $(wildcard runtime/landlock_uapi.h)
	@mkdir -p $(@D)
	$(MUSL_CC) $(STATIC_CFLAGS) $(STATIC_LDFLAGS) -o $@ $<
$(B)/cordon-init: runtime/init.c runtime/init.h $(wildcard runtime/landlock_uapi.h)
	@mkdir -p $(@D)
	$(MUSL_CC) $(STATIC_CFLAGS) $(STATIC_LDFLAGS) -o $@ $<

# Tests.
$(B)/tests/test_%: tests/unit/test_%.c $(B)/libcordon.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(B)/libcordon.a $(LDLIBS) -lcmocka
$(B)/tests/%: tests/escape/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< -lpthread

#: test      everything that CI runs; last line: N passed, N failed, N skipped
#: check     the same as test
test check: all $(UNIT) $(HELPERS)
	B=$(B) tests/run

#: asan      the whole test run under AddressSanitizer and UBSan
asan:
	$(MAKE) B=build-asan OPT='-O1 -g -fno-omit-frame-pointer' HARDEN= HARDEN_LD= \
	  SAN='-fsanitize=address,undefined -fno-sanitize-recover=all' test

#: memcheck  the unit tests under valgrind
memcheck: $(UNIT)
	B=$(B) tests/memcheck

#: lint      formatting, purity of the core, no mutable globals
lint: all
	B=$(B) tests/lint

#: format    let clang-format decide
format:
	clang-format -i $(ALL_C)

#: bless     write the golden files anew (read the diff)
bless: all $(UNIT)
	CORDON_BLESS=1 B=$(B) tests/run golden

#: demo      install what is missing, build, and show every backend at work
demo:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory -s all
	@B=$(B) tests/demo

#: deps      install the packages that are missing, and say which
deps:
	@tests/deps

#: install   PREFIX (/usr/local), DESTDIR
install: all
	install -D -m 755 $(B)/cordon $(DESTDIR)$(BINDIR)/cordon
	install -D -m 755 $(B)/landlock-run $(DESTDIR)$(LIBEXECDIR)/landlock-run
	install -D -m 755 $(B)/cordon-init $(DESTDIR)$(LIBEXECDIR)/cordon-init
	for p in policies/*.cordon; do install -D -m 644 $$p $(DESTDIR)$(SHAREDIR)/$$p; done

#: clean     remove build outputs
clean:
	rm -rf build build-asan

-include $(wildcard $(B)/*/*.d)
