# make demo    start the sample site, run a scripted set of turns in a real Chromium, write an HTML report
# make test    everything that must hold: vet, staticcheck, all tests in a real Chromium, the race detector
# make help    the other targets
#
# Both install what is missing (Chromium and fonts, from Debian's packages) and build first.

GO        ?= go
BIN       := pagehand
# The part of the browser suite (the root package's tests) that also runs under the race detector; all other packages do, but for what -short leaves out.
RACE_TESTS   := ^(TestTurn|TestSessions|TestReplaceSession|TestDownloads|TestReadNetwork|TestProcessesKilled)
RACE_SCRIPTS := ^TestBehaviour$$/^(tabs|dialog|frames|drag)/

.PHONY: help demo test test-slow lint setup build clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: setup build ## run the demo and print the path of its report
	./$(BIN) demo

test: setup build lint ## run all tests but the slow ones
	$(GO) test -timeout 20m ./...
	./scripts/test-examples.sh
	$(GO) test -timeout 20m -short -race $$($(GO) list ./... | grep -vx 'github.com/pagehand/pagehand')
	$(GO) test -race -run '$(RACE_TESTS)' .
	$(GO) test -race -run '$(RACE_SCRIPTS)' .

test-slow: setup ## run the slow tests: hostile pages, restarts, short fuzzing; only when their inputs changed
	./scripts/slow.sh

lint: ## gofmt, go vet, staticcheck, cross-builds
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/pagehand
	GOOS=windows $(GO) build -o /dev/null ./cmd/pagehand

setup: ## install Chromium and fonts where they are missing
	@./scripts/setup.sh

build: ## build the binary
	$(GO) build -o $(BIN) ./cmd/pagehand

clean: ## remove what was built
	rm -rf $(BIN) out
