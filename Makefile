# The front door. Each target first installs what it misses (.setup/install) and builds what it needs;
# the build itself is CMake's: see CMakePresets.json.

BUILD := build/release
JOBS ?= $(shell nproc)
WERROR ?= OFF
ARGS ?=
MAKEFLAGS += --no-print-directory

.PHONY: help setup build all run test bench interop format tidy clean
.DEFAULT_GOAL := help

help:
	@echo 'make run [ARGS=...]    run a node, as "baton run ARGS" (build/release/baton)'
	@echo 'make build             leave the program at build/release/baton'
	@echo 'make test              unit tests, simulation, system tests, interop with clients of Debian'
	@echo 'make interop           interop with every client whose toolchain is there'
	@echo 'make bench [ARGS=...]  measure Baton beside RabbitMQ'
	@echo 'make setup             install everything that the targets here may need'
	@echo 'make format            clang-format-14 on every source'
	@echo 'make tidy              what tests/tidy.py proves: layers, includes, headers'
	@echo 'make clean             delete build/'

setup:
	@.setup/install build test bench interop check

.PHONY: need-%
need-%:
	@.setup/install $*

$(BUILD)/CMakeCache.txt: CMakeLists.txt CMakePresets.json $(wildcard .cmake/*)
	@cmake --preset release -DBATON_WERROR=$(WERROR)
	@touch $@

# Two goals of one tree, so they never run side by side.
.NOTPARALLEL:
build: need-build $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) --parallel $(JOBS) --target baton
all: need-test $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) --parallel $(JOBS)

run: build
	@exec $(BUILD)/baton run $(ARGS)

test: all
	@python3 tests/run.py --build $(BUILD) $(ARGS)

interop: need-interop all
	@python3 tests/interop/run.py --baton $(BUILD)/baton --all $(ARGS)

bench: need-bench all
	@cmake --build $(BUILD) --parallel $(JOBS) --target bench
	@python3 tests/bench/run.py --baton $(BUILD)/baton $(ARGS)

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i

tidy: need-test
	@python3 tests/tidy.py $(ARGS)

clean:
	rm -rf build
