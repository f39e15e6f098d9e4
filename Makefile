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

# Modules of their own below test/ that prove one thing each.
FLAGPARSE := $(patsubst %/go.mod,%,$(wildcard test/flagparse/*/go.mod))

# Directories with Go code that people write.
SOURCES := $(wildcard api cmd console/*.go deploy examples internal openapi pkg test)

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
run: build-signpost build-nameserver ## Serve on 127.0.0.1:9018 with the quickstart applied and its name answered, until Ctrl-C
	@examples/quickstart/run.sh bin/signpost bin/nameserver

# The small CoreDNS that answers the quickstart's name, from a module of its own.
.PHONY: build-nameserver
build-nameserver:
	cd test/tools/nameserver && CGO_ENABLED=0 $(GO) build $(BUILD_FLAGS) -o ../../../bin/ .

.PHONY: clean
clean: ## Remove what build and snapshot leave
	rm -rf bin dist

##@ Release

# goreleaser looks for cyclonedx-gomod on the PATH.
release = goreleaser=$(call tool,goreleaser); sbom=$(call tool,cyclonedx-gomod); \
	programs=$$(mktemp -d); trap 'rm -rf "$$programs"' EXIT; ln -s "$$sbom" "$$programs/cyclonedx-gomod"; \
	PATH="$$programs:$$PATH" "$$goreleaser" release --clean --timeout 2h

.PHONY: snapshot
snapshot: ## Build archives, checksums and SBOMs of this commit in dist/, without images and signatures
	@$(release) --snapshot --skip=docker,sign

# .github/workflows/release.yml calls it for a tag.
.PHONY: release
release: ## Build and publish the release of the present tag: for continuous integration
	@$(release)

.PHONY: site
site: ## Build the documentation as HTML pages in dist/site
	cd test && $(GO) run -buildvcs=false ./site/cmd/site .. ../dist/site

##@ Source

.PHONY: generate
generate: ## Generate code from openapi/openapi.yaml and the .proto files
	$(GO) generate ./...

.PHONY: generate-check
generate-check: generate ## Fail if generated code was not up to date
	git diff --exit-code -- '*.gen.go' '*.pb.go'

.PHONY: console
console: ## Build the web console into console/dist; it needs Node
	@console/check.sh build

.PHONY: console-check
console-check: ## Fail if console/dist is not a build of the sources, or a test of them fails
	@console/check.sh check

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $(SOURCES)

.PHONY: fmt-check
fmt-check: ## Fail if code is not formatted
	@unformatted=$$(gofmt -l $(SOURCES)); \
	if [[ -n $$unformatted ]]; then echo "not formatted (make fmt):" >&2; echo "$$unformatted" >&2; exit 1; fi

# The last release is the latest tag. RELEASED names another file to compare with.
RELEASED ?=

.PHONY: openapi-breaking
openapi-breaking: ## Fail if openapi.yaml breaks clients of the last release
	@released="$(RELEASED)"; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	if [[ -z $$released ]]; then \
		tag=$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) || { echo "there is no release yet: nothing can break"; exit 0; }; \
		released=$$dir/openapi.yaml; git show "$$tag:openapi/openapi.yaml" >"$$released"; \
	fi; \
	oasdiff=$(call tool,oasdiff); "$$oasdiff" breaking --fail-on ERR "$$released" openapi/openapi.yaml

.PHONY: lint-workflows
lint-workflows: ## Lint .github/workflows
	@echo "lint workflows"; actionlint=$(call tool,actionlint); "$$actionlint"

.PHONY: lint-openapi
lint-openapi: ## Lint openapi/openapi.yaml; a warning fails
	@echo "lint openapi"; vacuum=$(call tool,vacuum); \
	"$$vacuum" lint --no-banner --no-style --details --no-clip --remote=false \
		--fail-severity warn --ruleset openapi/lint.yaml openapi/openapi.yaml

.PHONY: lint-console
lint-console: ## Lint the sources of the console; it needs Node
	@echo "lint console"; console/check.sh lint

# One linter at a time: each module is loaded from its own directory.
.PHONY: lint
lint: lint-openapi lint-workflows lint-console ## Lint openapi.yaml, the workflows, the console and all modules
	@linter=$(call tool,golangci-lint); failed=0; \
	for module in . cmd/signpost-dns test test/ssa test/kubelet test/monitoring test/chart test/tools/nameserver $(FLAGPARSE); do \
		echo "lint $$module"; (cd $$module && "$$linter" run --allow-serial-runners ./...) || failed=1; \
	done; exit $$failed

# The database of known vulnerabilities.
VULNDB ?= https://vuln.go.dev

.PHONY: vulnerabilities
vulnerabilities: ## Fail if the programs call code with a known vulnerability, by the database VULNDB
	@curl -fsS --max-time 20 -o /dev/null "$(VULNDB)/index/db.json" || \
		{ echo "NOT RUN: $(VULNDB) cannot be reached; make vulndb, and set VULNDB=file://$(CURDIR)/dist/vulndb" >&2; exit 1; }; \
	govulncheck=$(call tool,govulncheck); failed=0; \
	for module in . cmd/signpost-dns; do \
		echo "vulnerabilities $$module"; (cd $$module && "$$govulncheck" -db "$(VULNDB)" ./...) || failed=1; \
	done; exit $$failed

.PHONY: vulndb
vulndb: ## Build a copy of that database in dist/vulndb from a Go module
	@dir=$$($(GO) mod download -json golang.org/x/vulndb@latest | awk -F '"' '$$2 == "Dir" {print $$4}'); \
	$(GO) run golang.org/x/vulndb/cmd/indexdb@latest -vulns "$$dir/data/osv" -out dist/vulndb

# That of test/monitoring would want all that Prometheus' own tests do.
.PHONY: tidy-check
tidy-check: ## Fail if a go.mod or go.sum is not tidy
	@for module in . cmd/signpost-dns test test/ssa test/kubelet test/chart test/tools/nameserver $(FLAGPARSE); do (cd $$module && $(GO) mod tidy -diff) || exit 1; done

.PHONY: test-console
test-console: build-signpost ## Tell the whole story of the console, and search the documentation, in a headless Chromium
	@SIGNPOST_RING=3 SIGNPOST_PROGRAM=$(CURDIR)/bin/signpost test/console/run.sh

.PHONY: screenshots
screenshots: build-signpost ## Take the screenshots of the console for docs/console
	@SIGNPOST_PROGRAM=$(CURDIR)/bin/signpost test/console/run.sh shots $(CURDIR)/docs/console

##@ Tests

# Three rings; CONTRIBUTING.md says what each proves and how long it takes.
.PHONY: test
test: ## Run ring 1: all that Go, make, git and curl can run
	@test/rings.sh test

.PHONY: test-real
test-real: ## Run ring 2: on real API servers, DNS servers and stores
	@test/rings.sh real

.PHONY: test-deep
test-deep: ## Run ring 3: everything at length, for hours
	@test/rings.sh deep

.PHONY: test-mutants
test-mutants: ## Plant a fault at a time and note which test finds it, in test/mutants/table.md
	cd test && $(GO) run -buildvcs=false ./mutants/cmd/score

# gotestsum prints durations as 990ms, 1.2s or 1m2s; sorting takes seconds.
.PHONY: test-times
test-times: ## Print the 50 slowest tests of the last runs
	@sum=$(call tool,gotestsum); for log in "$${SIGNPOST_TEST_LOGS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/signpost/tests}"/*.json; do \
		"$$sum" tool slowest --threshold 500ms --jsonfile "$$log"; \
	done | awk '{ d = $$NF; t = 0; if (d ~ /ms$$/) t = d / 1000; else { if (d ~ /m/) { split(d, p, "m"); t = 60 * p[1]; d = p[2] } t += d } \
		$$NF = ""; printf "%8.2f s  %s\n", t, $$0 }' | sort -rn | head -n 50

.PHONY: check
check: fmt-check lint test-unit ## Check format and lint, and run the unit tests with the race detector

.PHONY: test-unit
test-unit: ## Test the product's module with the race detector
	GOGC=400 $(GO) test -race -timeout 20m $(TEST_FLAGS) ./...

.PHONY: tools
tools: ## Build the programs that the tests run, unless they are cached
	cd test && $(GO) run -buildvcs=false ./tools/cmd/buildtools

.PHONY: test-e2e
test-e2e: ## Run the end-to-end stories alone
	cd test && $(GO) test -count=1 -p 1 -timeout 45m $(TEST_FLAGS) ./e2e/...

# How many histories "make soak-simulate" runs, after those of test-deep.
SOAK_SEEDS ?= 50000

.PHONY: soak-simulate
soak-simulate: ## Run SOAK_SEEDS simulated histories beyond those of test-deep
	cd test && $(GO) test -count=1 -timeout 0 $(TEST_FLAGS) ./simulate -run 'TestSeeds$$' -first=4001 -seeds=$(SOAK_SEEDS)

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

.PHONY: bench
bench: ## Run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(TEST_FLAGS) ./...
	cd test && $(GO) test -run '^$$' -bench . -benchmem -p 1 -timeout 45m $(TEST_FLAGS) ./...
	cd test/ssa && $(GO) test -run '^$$' -bench . -benchmem -timeout 45m $(TEST_FLAGS) ./...

# How many changed addresses "make bench-answer" measures on each server; slow rows have a part of them.
CHANGES ?= 200

.PHONY: bench-answer
bench-answer: ## Print how long CHANGES changed addresses take until they are answered, beside external-dns
	cd test && $(GO) test -run '^$$' -bench 'TimeToAnswer$$' -benchtime 1x -timeout 45m $(TEST_FLAGS) ./bench -changes=$(CHANGES) | tee /dev/stderr | $(GO) run -buildvcs=false ./bench/report/cmd/report print

# The largest number of names that "make bench-scale" measures. 100000 takes about 40 minutes.
SIZE ?= 10000

.PHONY: bench-scale
bench-scale: ## Print what SIZE names cost, beside a hundredth and a tenth of them
	cd test && $(GO) test -run '^$$' -bench Scale -benchtime 1x -timeout 2h $(TEST_FLAGS) ./bench/scale -size=$(SIZE) | tee /dev/stderr | $(GO) run -buildvcs=false ./bench/report/cmd/report print

# Which benchmarks "make bench-docs" runs: a regular expression; ^$ for none. RESULTS names a file
# with the output of the benchmarks, which are then not run.
ONLY ?=
RESULTS ?=

.PHONY: bench-docs
bench-docs: ## Measure again what docs/performance.md tells, and mark tables whose benchmark has changed as old
	cd test && $(GO) run -buildvcs=false ./bench/report/cmd/report -only '$(ONLY)' -output '$(RESULTS)'
