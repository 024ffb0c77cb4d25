# The two commands that a newcomer needs: make demo, make test.
GO      ?= go
BIN     := bin/reviewer
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w"
FUZZ    ?= 20s

.PHONY: build demo test lint structure sigstore fuzz fidelity bench score e2e cross clean

build: ## the static binary
	$(BUILD) -o $(BIN) ./cmd/reviewer

demo: build ## a recorded session, gated call by call, then verified and replayed
	@testdata/demo/demo.sh $(BIN)

test: ## every test that needs nothing but Go
	$(GO) test -timeout 30m ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags "e2e bench" ./cmd/...
	$(GO) run ./cmd/reviewer/structure -q

structure: ## per package: files, lines, components of files, long functions, wide lines; ARGS=-v names the places
	@$(GO) run ./cmd/reviewer/structure $(ARGS)

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

fidelity: ## 10,000 calls come out again, with OPA's index and without; each flipped byte and each moved number of the policy is found
	REVIEWER_EVERY=1 $(GO) test -run 'TestFidelity|TestFlippedBytesAreFound|TestMovedNumbersAreFound|TestShortcuts' -count=1 -timeout 30m ./cmd/reviewer

bench: ## ratios, measured side by side in one run
	$(GO) test -tags bench -run 'TestRatios|TestSimulateRatios|TestSimulateMemory' -count=1 -v -timeout 30m ./cmd/reviewer

score: ## recall and false alarms over CORPUS; ARGS as in docs/scoring.md
	@$(GO) run ./cmd/reviewer/score $(ARGS) $(or $(CORPUS),$(error CORPUS=FOLDER says which corpus))

e2e: ## the real client with a scripted model; needs npm
	$(GO) test -tags e2e -count=1 -timeout 40m -v ./cmd/reviewer/e2e/

cross: ## every system that is supported
	@for t in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
	  echo $$t; GOOS=$${t%/*} GOARCH=$${t#*/} $(BUILD) -o bin/$$t/reviewer ./cmd/reviewer || exit 1; done

clean:
	rm -rf bin
