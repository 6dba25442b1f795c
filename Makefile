# privet: what a person types. The stages of `make test` are in scripts/check.sh.
#
# One profile (dev, optimised, arithmetic checks on) and one target folder for every target but
# `fuzz`, which needs a nightly compiler with sanitizers and builds under fuzz/target, and `joint`,
# whose engine cannot be locked beside the rest and builds under joint/target.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
PYTHON ?= python3
FUZZ_SECONDS ?= 600
FUZZ_TARGETS := schema csv libsvm parquet model
PRIVET := $(CARGO) run --quiet -p privet-cli --

.PHONY: help demo walk test check fmt lint doc fuzz fuzz-replay bench bench-python audit toy ledger spark parties joint peers vectors deny stub wheel dist publish clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build, then make a synthetic census, plan, train, evaluate and verify (leaves ./demo)
	$(PRIVET) demo --out demo --force

walk: ## Diabetes 130-US and Bank Marketing from their files to signed pages and ONNX, where the data are at hand
	$(CARGO) build --quiet -p privet-cli
	@scripts/walk.sh
	@if [ -x .venv/bin/python ]; then .venv/bin/python python/examples/bank_marketing.py; else echo "SKIPPED: Bank Marketing: make test makes .venv"; fi

test: ## everything that must pass before a change lands; minutes per stage at the end
	@scripts/check.sh fmt lint doc test doctest python deny

check: ## what concerns one learner or family, LEARNER=dp-ight: unit tests, its part of the battery
	@LEARNER="$(LEARNER)" scripts/check_learner.sh

fmt: ## format every crate
	$(CARGO) fmt --all

lint: ## rustfmt and clippy, warnings denied
	@scripts/check.sh fmt lint

doc: ## API pages under target/doc, warnings denied
	@scripts/check.sh doc

fuzz-replay: ## replay the committed fuzz corpus on the stable compiler
	@scripts/check.sh fuzz-replay

fuzz: ## fuzz each target for FUZZ_SECONDS (600): needs nightly; installs cargo-fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_TARGETS)

bench: ## SUITES (default race) of learners and races, then docs/results.md; hours for the papers' suites
	@scripts/bench.sh $(SUITES)

bench-python: ## Adult from Python beside diffprivlib, written to docs/python.md
	@scripts/bench_python.sh

audit: ## attack every learner and mechanism, RUNS (50000) a world, and write docs/audit.md
	@scripts/audit.sh

toy: ## add a family and a learner in a copy of the tree, by a file and a line each, and look for all that is made of them
	@scripts/toy.sh

ledger: ## kill a paying command KILLS (1000) times, then the ledger's tests on a PostgreSQL server if installed
	$(CARGO) build --quiet -p privet-cli
	@scripts/ledger-kill.sh $(or $(KILLS),1000)
	@scripts/ledger-postgres.sh

spark: ## privet.spark on a cluster of this machine, a worker killed in a pass (needs Java 17; installs PySpark)
	@PRIVET_WHEEL=rebuild scripts/spark.sh

parties: ## ten processes on one machine train one model over TLS, one killed and restarted
	$(CARGO) build --quiet -p privet-cli
	@scripts/parties.sh

joint: ## noise that servers draw together (joint/): lint, tests, parties that use it, then what it costs; not part of make test
	$(CARGO) fmt --manifest-path joint/Cargo.toml -- --check
	$(CARGO) clippy --quiet --locked --manifest-path joint/Cargo.toml --all-targets -- -D warnings
	$(CARGO) test --locked --manifest-path joint/Cargo.toml
	$(CARGO) build --quiet --locked --manifest-path joint/Cargo.toml
	$(CARGO) build --quiet -p privet-cli
	@scripts/parties-joint.sh
	$(CARGO) run --quiet --locked --manifest-path joint/Cargo.toml --example joint_cost

peers: ## the true epsilon of published settings, written to docs/peers.md
	@scripts/peers.sh

vectors: ## regenerate the golden vectors in .venv and compare with the committed ones
	@scripts/vectors.sh

deny: ## licences, sources, bans and advisories of every dependency; installs cargo-deny
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	@scripts/check.sh deny

stub: ## write the types of the Python extension, read off the extension, into _privet.pyi
	@scripts/venv.sh python/requirements-test.txt
	@scripts/stub.sh

wheel: ## the Python wheel for any recent Linux, tagged manylinux and checked, into dist/
	@scripts/wheel.sh

dist: ## a static command with completions, manual pages and checksums, into dist/
	@scripts/dist.sh

publish: ## what `cargo publish` would say of every crate, without publishing
	$(CARGO) publish --workspace --exclude privet-python --exclude privet-fuzz --dry-run --allow-dirty $(PUBLISH_FLAGS)

clean: ## remove everything that was built
	$(CARGO) clean
	rm -rf demo dist .venv fuzz/target fuzz/artifacts fuzz/coverage joint/target
