# pg_rag: from a fresh clone, `make demo` or `make test` is enough.
#
# PG_CONFIG names the PostgreSQL for install, uninstall, check and deb; PG the private
# ones for the tests, as in `make test-sql PG=18`. DESTDIR works as usual. MODEL is the embedding model of databases in
# which the extension of `make install` is created; without it they have the default one.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PG ?= 18 16
PG_CONFIG ?=
DESTDIR ?=
ARGS ?=
export PG_CONFIG DESTDIR

# A model is chosen on the command line and for `make install` alone: one that the environment happens to name must not get
# into packages, nor into what tests install.
export PG_RAG_DEFAULT_MODEL :=

ENV := source scripts/env.sh; forget_other_checkout;
each = for version in $(PG); do scripts/test.sh $(1) $$version; done
at_once = scripts/test.sh versions $(1) $(PG)

.PHONY: help setup setup-models setup-contrib llama build server install uninstall check test test-unit test-pg test-sql test-system test-server test-browser test-mcp test-drivers test-llm test-fresh test-deb test-rpm test-image differential fuzz test-long lint licenses docs deb rpm measures demo pictures bench bench-index bench-bm25 bench-chunking bench-forms bench-latency bench-local-model bench-manuals bench-pipeline bench-fairness bench-graph bench-redact bench-retrieve bench-reuse bench-server bench-shards bench-text-to-sql clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | awk -F '\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

setup: ## get PostgreSQL 16 and 18, ONNX Runtime and the models into the cache
	@scripts/setup.sh

llama: ## get llama.cpp, which runs local language models; make install then installs it
	@scripts/setup.sh --llama

build: setup ## build ragd and the extension for PostgreSQL 18
	@$(ENV) cargo build --release --bin ragd
	@$(ENV) cargo build --release --lib --no-default-features --features pg18

server: ## build rag-server, which answers over HTTP and MCP; needs no PostgreSQL
	@$(ENV) cargo build --release -p rag-server && echo "$$CARGO_TARGET_DIR/release/rag-server"

install: export PG_RAG_DEFAULT_MODEL := $(if $(filter command,$(origin MODEL)),$(MODEL))
install: ## build, and install into the PostgreSQL of PG_CONFIG=... (default: the private 18); MODEL=all-minilm-l6-v2 is the model of new databases
	@scripts/setup.sh $(if $(PG_CONFIG),--without-postgres)
	@scripts/install.sh

uninstall: ## remove what install put there
	@scripts/install.sh uninstall

deb: ## build Debian packages for the PostgreSQL of PG_CONFIG=..., which is Debian's; where, as in ARGS=/tmp/debs
	@scripts/deb.sh $(ARGS)

rpm: ## build RPM packages for the PostgreSQL of PG_CONFIG=...; where, as in ARGS=/tmp/rpms
	@scripts/rpm.sh $(ARGS)

check: ## compile the extension against the PostgreSQL of PG_CONFIG=..., 15 or later
	@scripts/setup.sh $(if $(PG_CONFIG),--without-postgres)
	@scripts/install.sh check

test: setup-models test-unit test-sql test-server test-drivers test-system test-pg ## the tests, on PostgreSQL 18 and 16, without browsers and packages

# Where nothing can download llama.cpp or a model, tests that need it say that they are skipped.
setup-models: setup
	@scripts/setup.sh --with-test-pii || echo "a test of personal data that a model finds is skipped"
	@if command -v npm >/dev/null; then scripts/setup.sh --with-test-llm || echo "llama.cpp cannot be had: tests of local language models are skipped"; else echo "npm is missing: tests of local language models are skipped"; fi

# Where it cannot be had, tests of shards say that they are skipped.
setup-contrib: setup
	@scripts/setup.sh --contrib

test-unit: setup ## the stages and ragd, without PostgreSQL
	@scripts/test.sh unit

test-llm: ## local language models, with a small one
	@scripts/setup.sh --with-test-llm
	@scripts/test.sh llm $(firstword $(PG))

test-pg: setup ## tests inside a backend
	@$(call at_once,pg)

test-sql: setup ## golden SQL: what a user types and sees
	@$(call at_once,sql)

test-server: setup ## rag-server, in front of the server of the golden tests
	@scripts/test.sh server $(firstword $(PG))

test-browser: setup ## the chat page of rag-server in headless Chromium, as in ARGS="keyboard"; INSTALL=1 gets Debian packages
	@scripts/test.sh browser $(firstword $(PG)) $(ARGS)

test-mcp: setup ## rag-server with the inspector of the Model Context Protocol
	@scripts/test.sh mcp $(firstword $(PG))

test-drivers: setup ## drivers of other languages, frameworks and poolers, as in ARGS="django go"; INSTALL=1 gets Debian packages
	@scripts/test.sh drivers $(firstword $(PG)) $(ARGS)

test-system: setup-contrib ## crashes, cancels, standby, dump and restore
	@$(call each,system)

test-fresh: ## both commands on fresh Debian 12 and 13, as root and as a user; hours, as in ARGS="trixie/user"
	@scripts/fresh.sh $(ARGS)

test-deb: ## Debian packages, built, installed, asked and purged in fresh roots, as in ARGS="bookworm trixie"
	@scripts/test_deb.sh $(ARGS)

test-rpm: setup ## RPM packages for the private PostgreSQL 18, built, installed, asked and removed in a fresh root
	@scripts/test_rpm.sh

test-image: ## what docker/Dockerfile does, in a chroot, with the packages of test-deb, as in ARGS=bookworm
	@scripts/test_image.sh $(ARGS)

differential: setup ## both indexes against the table, for FOR seconds, as in FOR=3600 SEED=7
	@PG_RAG_DIFFERENTIAL_SECONDS=$${FOR:-600} PG_RAG_DIFFERENTIAL_SEED=$${SEED:-$$RANDOM} scripts/test.sh system $(firstword $(PG)) differential

fuzz: setup ## random calls of every function, for FOR seconds, as in FOR=3600 SEED=7
	@PG_RAG_FUZZ_SECONDS=$${FOR:-600} PG_RAG_FUZZ_SEED=$${SEED:-$$RANDOM} scripts/test.sh system $(firstword $(PG)) random_calls

test-long: setup-models ## long forms of random tests: 10,000 changes of graphs, 1,000 row policies, 200 rounds of local models; hours
	@PG_RAG_GRAPH_CHANGES=$${PG_RAG_GRAPH_CHANGES:-10000} scripts/test.sh system $(firstword $(PG)) graph_changes
	@for name in graph_policies whatever_the_policy; do \
	    PG_RAG_POLICIES=$${PG_RAG_POLICIES:-1000} scripts/test.sh system $(firstword $(PG)) $$name; done
	@PG_RAG_LOCAL_ROUNDS=$${PG_RAG_LOCAL_ROUNDS:-200} scripts/test.sh llm $(firstword $(PG))

lint: setup ## format, clippy with warnings denied, architecture tests
	@$(ENV) cargo fmt --all --check
	@$(ENV) cargo clippy --all-targets -- -D warnings
	@$(ENV) cargo clippy -p rag-server --all-targets -- -D warnings
	@$(ENV) cargo clippy --all-targets --no-default-features --features "pg18 pg_test" -- -D warnings
	@$(ENV) cargo test --test architecture
	@python3 scripts/reader/judged.py check scripts/reader/handbooks scripts/reader/forms scripts/reader/tables
	@if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh docker/*.sh .ci/run; fi

licenses: ## whether all that pg_rag is linked with is under licences that deny.toml allows
	@scripts/licenses.sh

docs: ## a site of the documentation, with mdBook; where, as in ARGS=/tmp/site
	@scripts/docs.sh $(ARGS)

measures: setup ## what the code measures: lengths, unsafe blocks, statements
	@$(ENV) cargo test --quiet --test architecture measures -- --nocapture

demo: setup ## load this project's manual into PostgreSQL 18 and ask it ten questions; with SERVE=1 more of them in a browser
	@scripts/demo.sh

pictures: setup ## the pictures in docs/: of the chat page, of a graph and a tree; INSTALL=1 gets Debian packages
	@scripts/pictures.sh $(firstword $(PG))
	@$(ENV) PG_CONFIG=$$(tree_pg_config $(firstword $(PG))) scripts/install.sh; \
	    scripts/clients.sh pictures $(firstword $(PG)) $(ARGS)

bench: setup ## speed and memory, with ratios; pipelines too, in a server of their own
	@$(ENV) cargo bench
	@$(MAKE) --no-print-directory bench-pipeline

bench-index: setup ## rag_hnsw beside pgvector's hnsw, as in ARGS="curve vacuum --quick"
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench index -- $(ARGS)

bench-local-model: ## a local language model through ragd beside llama.cpp in a loop, as in GGUF=/path/model.gguf
	@scripts/setup.sh --with-test-llm
	@$(ENV) PG_RAG_TEST_GGUF=$${GGUF:-$$PG_RAG_TEST_GGUF} cargo bench --bench local_model

bench-bm25: setup ## rag_bm25 beside GIN and Lucene, as in ARGS="latency --rows 100000"
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench bm25 -- $(ARGS)

bench-manuals: setup ## what the built-in answerer says of manuals of other programs, in seven languages
	@$(ENV) folder=$$(scripts/manuals.sh); cargo bench --bench answer -- --manuals "$$folder" $(ARGS)

bench-forms: setup ## what the built-in answerer says of chats, contracts, price lists and the like, as in ARGS=--all
	@$(ENV) PG_RAG_DATA=$$PWD/scripts/reader cargo bench --bench answer -- forms tables $(ARGS)

bench-pipeline: setup ## pipelines: capture, backfill, freshness, memory, fairness, as in ARGS="trickle memory"
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench pipeline -- $(ARGS)

bench-fairness: ## what one role's work costs another's questions and rows; PG_RAG_BENCH_SECONDS=60 for longer phases
	@$(MAKE) --no-print-directory bench-pipeline ARGS="fairness"

bench-chunking: setup ## which way of cutting leaves answers whole, as in ARGS="recursive semantic"
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench chunking -- $(ARGS)

bench-latency: setup ## a hybrid question beside the same by hand in Python, as in ARGS="--chunks 20000"
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_LATENCY_PYTHON=$$(benches/latency/python.sh) PG_RAG_PG_CONFIG=$$pg_config \
	    cargo bench --bench latency -- $(ARGS)

bench-retrieve: setup ## what retrieval finds on judged sets, as in ARGS="scifact pgdocs14" or "all"
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench retrieve -- $(ARGS)

bench-graph: setup ## graph, communities and trees: the figures of docs/graph.md on all judged sets, whole chapters, times, LFR graphs; as in ARGS="scifact walk"
	@scripts/bench_graph.sh $(firstword $(PG)) $(ARGS)

bench-redact: setup ## how many personal data rules and a model find in six languages, as in ARGS="--missed"
	@scripts/setup.sh --with-test-pii || echo "the model cannot be had: the rules are measured alone"
	@$(ENV) PG_RAG_TEST_PII=$$PG_RAG_TEST_PII cargo bench --bench redact -- $(ARGS)

bench-reuse: setup ## which questions mean the same to the cache of answers, as in ARGS="--missed"
	@$(ENV) cargo bench --bench reuse -- $(ARGS)

bench-server: setup ## what rag-server adds to a statement, and what many readers at once cost it, as in ARGS="1000 100"
	@$(ENV) PG_CONFIG=$$(tree_pg_config $(firstword $(PG))) scripts/install.sh; \
	    scripts/clients.sh load $(firstword $(PG)) $(ARGS)

bench-shards: $(if $(PG_CONFIG),setup,setup-contrib) ## shards beside one server, in the private PostgreSQL 18 or that of PG_CONFIG=..., as in ARGS="--shards 2"
	@$(ENV) pg_config=$${PG_CONFIG:-$$(tree_pg_config $(firstword $(PG)))}; PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench shards -- $(ARGS)

bench-text-to-sql: setup ## which tables a question finds, and with GGUF=/path/model.gguf whether its query is right
	@if [ -n "$(GGUF)" ]; then scripts/setup.sh --with-test-llm; fi
	@$(ENV) pg_config=$$(tree_pg_config $(firstword $(PG))); PG_CONFIG=$$pg_config scripts/install.sh; \
	    PG_RAG_LLAMA=$$PG_RAG_LLAMA PG_RAG_TEST_GGUF=$(GGUF) PG_RAG_PG_CONFIG=$$pg_config cargo bench --bench text_to_sql -- $(ARGS)

clean: ## stop and remove the private clusters and the build; keep what was downloaded
	@scripts/clean.sh
