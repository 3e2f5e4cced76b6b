# Two commands matter: `make demo` and `make test`.

GO      ?= go
BIN     := bin/writ
TOOLS   := $(CURDIR)/.cache/tools
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X writ/internal/cli.version=$(VERSION)
LINT    := $(TOOLS)/golangci-lint
LINT_VERSION := v2.15.0

.PHONY: build demo demo-regress test unit docs bench lint fmt gen gen-check fuzz clean deps

build: ## the one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/writ

demo: build ## the whole way on a real local repository; ends with a verified docket
	$(BIN) demo

demo-regress: build ## the same with a slower form; ends blocked by the gate
	$(BIN) demo --regress

test: deps unit docs ## everything; installs what the tests need when it is missing

unit:
	$(GO) vet ./...
	$(GO) test -race -timeout 15m ./...
	$(GO) test -timeout 15m -run '^TestTamperedDockets$$' ./internal/e2e # thousands of checks, one goroutine each: not under -race
	cd bench && $(GO) vet ./... && $(GO) test ./...

docs: build ## every command block of the README and the guides is run
	$(GO) test -count=1 -timeout 10m ./internal/house -run TestDocumentedCommands -writ $(CURDIR)/$(BIN)

deps: ## what the tests need from the machine
	@sh .ci/deps

bench: build ## ratios against peers and limits, in one run; FLAGS="-only run -json"
	cd bench && $(GO) run . -writ $(CURDIR)/$(BIN) $(FLAGS)

lint: $(LINT)
	$(LINT) run ./...

$(LINT):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

fmt:
	gofmt -w $$(git ls-files '*.go')

gen: ## code generated from our own sources
	$(GO) generate ./...

gen-check: gen ## fails when committed generated code has drifted
	git diff --exit-code

fuzz: ## a minute for each decoder
	sh .ci/fuzz 60s

clean:
	rm -rf bin dist
