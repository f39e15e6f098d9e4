# Signpost. "make help" lists what can be made.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help

GO ?= go

# The programs run anywhere: no C library, no paths of this machine in them.
# Go writes the version and commit of the repository into them, if there is one.
BUILD_VCS   := $(if $(shell git rev-parse --verify -q HEAD 2>/dev/null),true,false)
BUILD_FLAGS := -trimpath -buildvcs=$(BUILD_VCS) -ldflags '-s -w'

# Programs in test/tools that the tests run; "make test" builds them first.
TEST_TOOLS := etcd etcdctl ferretdb coredns external-dns kube-apiserver

# Modules of their own below test/ that prove one thing each.
FLAGPARSE := $(patsubst %/go.mod,%,$(wildcard test/flagparse/*/go.mod))

# Directories with Go code that people write.
SOURCES := $(wildcard api cmd deploy examples internal openapi pkg test)

# How many histories "make soak-simulate" runs.
SOAK_SEEDS ?= 50000

# For how long "make fuzz" runs each target.
FUZZ_TIME ?= 60s

# Extra flags, as in: make test-e2e TEST_FLAGS='-v -run TestMainStory'
TEST_FLAGS ?=

tool = $$(cd test && $(GO) run -buildvcs=false ./tools/cmd/buildtools --print $(1))

.PHONY: help
help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Program

.PHONY: build
build: build-signpost build-signpost-dns ## Build bin/signpost and bin/signpost-dns

.PHONY: build-signpost
build-signpost:
	CGO_ENABLED=0 $(GO) build $(BUILD_FLAGS) -o bin/ ./cmd/signpost

# CoreDNS with all its plugins, from a module of its own: it takes minutes the
# first time.
.PHONY: build-signpost-dns
build-signpost-dns:
	cd cmd/signpost-dns && CGO_ENABLED=0 $(GO) build $(BUILD_FLAGS) -o ../../bin/ .

.PHONY: run
run: build-signpost ## Serve on 127.0.0.1:9018 with the quickstart applied, until Ctrl-C
	@examples/quickstart/run.sh bin/signpost

.PHONY: clean
clean: ## Remove what build leaves
	rm -rf bin

##@ Source

.PHONY: generate
generate: ## Generate code from openapi/openapi.yaml and the .proto files
	$(GO) generate ./...

.PHONY: generate-check
generate-check: generate ## Fail if generated code was not up to date
	git diff --exit-code -- '*.gen.go' '*.pb.go'

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $(SOURCES)

.PHONY: fmt-check
fmt-check: ## Fail if code is not formatted
	@unformatted=$$(gofmt -l $(SOURCES)); \
	if [[ -n $$unformatted ]]; then echo "not formatted (make fmt):" >&2; echo "$$unformatted" >&2; exit 1; fi

.PHONY: lint-openapi
lint-openapi: ## Lint openapi/openapi.yaml; a warning fails
	@echo "lint openapi"; vacuum=$(call tool,vacuum); \
	"$$vacuum" lint --no-banner --no-style --details --no-clip --remote=false \
		--fail-severity warn --ruleset openapi/lint.yaml openapi/openapi.yaml

# One linter at a time: each module is loaded from its own directory.
.PHONY: lint
lint: lint-openapi ## Lint openapi.yaml and all modules
	@linter=$(call tool,golangci-lint); failed=0; \
	for module in . cmd/signpost-dns test test/ssa test/kubelet test/monitoring $(FLAGPARSE); do \
		echo "lint $$module"; (cd $$module && "$$linter" run --allow-serial-runners ./...) || failed=1; \
	done; exit $$failed

# That of test/monitoring would want all that Prometheus' own tests do.
.PHONY: tidy-check
tidy-check: ## Fail if a go.mod or go.sum is not tidy
	@for module in . cmd/signpost-dns test test/ssa test/kubelet $(FLAGPARSE); do (cd $$module && $(GO) mod tidy -diff) || exit 1; done

##@ Tests

.PHONY: check
check: fmt-check lint test-unit ## The fast loop: format, lint, unit tests with the race detector

# All groups run, also after one has failed; the summary lines of go test come
# once more at the end, where they are found.
.PHONY: test
test: ## Run all tests on real parts (the first time it builds them)
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; failed=0; \
	for group in tools test-unit test-dns test-real test-flagparse test-kubelet test-typescript test-bugs; do \
		echo "==> $$group"; \
		$(MAKE) $$group 2>&1 | tee -a "$$log" || failed=1; \
	done; \
	echo "==> all groups"; \
	grep -E '^( *--- FAIL|panic:|(ok|FAIL|NOT RUN)[[:space:]])' "$$log" || true; \
	exit $$failed

.PHONY: tools
tools: ## Build the programs that the tests run, unless they are cached
	cd test && $(GO) run -buildvcs=false ./tools/cmd/buildtools $(TEST_TOOLS)

.PHONY: test-unit
test-unit: ## Test the product's module with the race detector
	$(GO) test -race -timeout 30m $(TEST_FLAGS) ./...

# One package at a time: each starts servers. Never cached: what they run is
# built by other modules, which go test does not see.
.PHONY: test-real
test-real: tools ## Test against real servers: stores, end-to-end stories
	cd test && $(GO) test -count=1 -p 1 -timeout 45m $(TEST_FLAGS) ./...
	cd test/ssa && $(GO) test -count=1 -timeout 30m $(TEST_FLAGS) ./...
	cd test/monitoring && $(GO) test -count=1 $(TEST_FLAGS) ./...

.PHONY: test-e2e
test-e2e: tools ## Test the end-to-end stories alone
	cd test && $(GO) test -count=1 -p 1 -timeout 45m $(TEST_FLAGS) ./e2e/...

.PHONY: soak
soak: soak-kill soak-resolver soak-requests soak-simulate soak-chaos ## Run at length what CI runs a part of

.PHONY: soak-kill
soak-kill: tools ## Kill the server and its stores at every write, not at some
	cd test && SIGNPOST_KILLS=all $(GO) test -count=1 -timeout 2h $(TEST_FLAGS) -run 'TestKill9AtEachWrite' ./faults ./orchestrate

.PHONY: soak-chaos
soak-chaos: tools ## Let everything fail for 10 minutes, not 90 seconds
	cd test && SIGNPOST_CHAOS=10m $(GO) test -count=1 -timeout 1h $(TEST_FLAGS) -v ./chaos

.PHONY: soak-resolver
soak-resolver: ## Kill the node resolver 200 times while it writes, not 20
	cd cmd/signpost-dns && SIGNPOST_RESOLVER_KILLS=200 $(GO) test -count=1 $(TEST_FLAGS) -v -run 'KilledWhileWriting' .

# Each for FUZZ_TIME; what it finds is left in testdata/fuzz, to be a test from
# then on.
.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZ_TIME
	@grep -rl --include='*_test.go' '^func Fuzz' $(SOURCES) | xargs -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(cd "$$dir" && $(GO) test -list '^Fuzz' . | grep '^Fuzz'); do \
			echo "fuzz $$dir $$target"; \
			(cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME) $(TEST_FLAGS) .) || exit 1; \
		done; \
	done

.PHONY: soak-requests
soak-requests: ## Send 100,000 requests from our own OpenAPI, others each time
	cd test && SIGNPOST_REQUESTS=100000 SIGNPOST_REQUESTS_SEED=random \
		$(GO) test -count=1 -timeout 2h $(TEST_FLAGS) -v -run 'TenThousand|ManyClients' ./requests

# These two are parts of test-real, too.
.PHONY: test-orchestrate
test-orchestrate: tools ## Test Signpost as the DNS controller of an EMCO alone
	cd test && $(GO) test -count=1 -timeout 45m $(TEST_FLAGS) ./orchestrate/...

.PHONY: test-simulate
test-simulate: ## Test 2,000 simulated histories with faults, and a crash at each write
	cd test && $(GO) test -count=1 -timeout 45m $(TEST_FLAGS) ./simulate/...

.PHONY: test-bugs
test-bugs: ## Test that the simulator finds known bugs, put in by overlays
	cd test && $(GO) test -count=1 -timeout 45m -tags bugs $(TEST_FLAGS) -run TestEachBugIsFound ./simulate/bugs

.PHONY: soak-simulate
soak-simulate: ## Run simulated histories beyond those of CI, SOAK_SEEDS of them
	cd test && $(GO) test -count=1 -timeout 0 $(TEST_FLAGS) ./simulate -run 'TestSeeds$$' -first=2001 -seeds=$(SOAK_SEEDS)

.PHONY: test-dns
test-dns: ## Test signpost-dns, which is CoreDNS and what belongs to it
	cd cmd/signpost-dns && $(GO) test -timeout 30m $(TEST_FLAGS) ./...

.PHONY: test-flagparse
test-flagparse: ## Test arguments against external-dns' own parsers
	@for module in $(FLAGPARSE); do (cd $$module && $(GO) test $(TEST_FLAGS) ./...); done

.PHONY: test-kubelet
test-kubelet: ## Test pods' DNS against Kubernetes' own code
	cd test/kubelet && $(GO) test $(TEST_FLAGS) ./...

.PHONY: test-typescript
test-typescript: build ## Test the TypeScript client against a server, where Node 18 or later is
	@SIGNPOST_PROGRAM=$(CURDIR)/bin/signpost test/typescript/run.sh

.PHONY: bench
bench: ## Run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(TEST_FLAGS) ./...
	cd test && $(GO) test -run '^$$' -bench . -benchmem -p 1 -timeout 45m $(TEST_FLAGS) ./...
	cd test/ssa && $(GO) test -run '^$$' -bench . -benchmem -timeout 45m $(TEST_FLAGS) ./...
