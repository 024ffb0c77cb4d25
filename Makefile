# The two commands that a newcomer needs: make demo, make test.
GO      ?= go
BIN     := bin/reviewer
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w"
FUZZ    ?= 20s

# The tools of lint; OPA's is the version that is built in.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
OPA          = github.com/open-policy-agent/opa@$(shell $(GO) list -m -f '{{.Version}}' github.com/open-policy-agent/opa)
REGO        := bundles/default cmd/reviewer/report/testdata/policy cmd/reviewer/score/testdata/rules

.PHONY: build demo test lint lint-go lint-rego lint-known structure sigstore fuzz fidelity bench score e2e programs cross clean

build: ## the static binary
	$(BUILD) -o $(BIN) ./cmd/reviewer

demo: build ## a recorded session, gated call by call, then verified and replayed
	@testdata/demo/demo.sh $(BIN)

# Tests make much garbage in little memory: collecting it less often saves a third
# of their time. They need no debug information, which is most of the linking.
test fidelity: export GOGC = 800
test fidelity: export GOMEMLIMIT = 2GiB
test fidelity: TEST = $(GO) test -ldflags=-w -timeout 60m

test: ## every test that needs nothing but Go; of long sweeps a part
	$(TEST) ./...

lint: lint-go lint-rego lint-known

lint-go: ## formatted, vetted, and checked by staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags "e2e bench" ./cmd/...
	$(GO) run ./cmd/reviewer/structure -q
	$(GO) run $(STATICCHECK) -tags "e2e bench sigstore" ./...

structure: ## per package: files, lines, components of files, long functions, wide lines; ARGS=-v names the places
	@$(GO) run ./cmd/reviewer/structure $(ARGS)

lint-rego: ## the Rego that ships and that of test data: in OPA's form, and strictly right
	$(GO) run $(OPA) fmt --list --fail $(REGO)
	@for d in $(REGO); do echo opa check --strict $$d; $(GO) run $(OPA) check --strict $$d || exit 1; done

lint-known: ## no known hole in what is called; skipped where their list cannot be reached
	@echo govulncheck ./...; out=$$($(GO) run $(GOVULNCHECK) ./... 2>&1) || case $$out in \
	  *"fetching vulnerabilities: "*) echo "SKIPPED govulncheck: its list cannot be reached: $$(echo "$$out" | grep -m1 fetching)";; \
	  *) echo "$$out"; exit 1;; esac

sigstore: export GOFLAGS += -tags=sigstore
sigstore: ## what the build tag sigstore adds: it compiles, is walled in, and verifies
	$(GO) vet ./bundles/sigstore ./cmd/reviewer
	$(GO) test -timeout 10m ./bundles/sigstore
	$(GO) test -timeout 10m -run 'TestImports|TestScript/policy-(sigstore|verify)' ./cmd/reviewer

fuzz: ## each fuzz target for FUZZ
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) -fuzzminimizetime 20x || exit 1; \
	  done; done

fidelity: export REVIEWER_EVERY = 1
fidelity: ## the same tests, and long sweeps whole: 10,000 calls come out again, each flipped byte and each moved number of the policy is found
	$(TEST) -count=1 ./...

bench: ## ratios, measured side by side in one run
	$(GO) test -tags bench -run 'TestRatios|TestSimulateRatios|TestSimulateMemory' -count=1 -v -timeout 30m ./cmd/reviewer

score: ## recall and false alarms over CORPUS; ARGS as in docs/scoring.md
	@$(GO) run ./cmd/reviewer/score $(ARGS) $(or $(CORPUS),$(error CORPUS=FOLDER says which corpus))

e2e: ## the real client with a scripted model; needs npm
	$(GO) test -tags e2e -count=1 -timeout 40m -v ./cmd/reviewer/e2e/

programs: ## the rows of programs that are taken from a package of npm; needs npm, tar and Node 20
	$(GO) run ./cmd/reviewer/figrows

cross: ## every system that is supported
	@for t in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
	  echo $$t; GOOS=$${t%/*} GOARCH=$${t#*/} $(BUILD) -o bin/$$t/reviewer ./cmd/reviewer || exit 1; done

clean:
	rm -rf bin
