# make build   the static binary ./kb
# make install     kb, its manual pages and completions below PREFIX (/usr/local)
# make demo    build, index notes/ and answer three questions
# make test    all tests
# make check   vet, formatting, and that index.jsonl.zst is the index of notes/
# make fuzz    each fuzz target for a short while (FUZZTIME=10s)
# make bench   speed and size, as ratios in one run
# make bench-stores   file and databases beside each other (needs python3)
# make load    kb serve under load: searches while documents are uploaded
# make eval    retrieval over eval/questions.jsonl, gated, beside its baseline and golden ranks
# make eval-update   renew that baseline and those ranks, when a change of them is meant
# make real    the same with a real embedding model behind it (needs python3; a download of 72 MB)
# make trials  eval/trials.md: three groups of questions as a user asks them, offline and with that model
# make experiments   eval/experiments.md: chunks, analyzers, modes, refusal floors; on the public sets of DATA, too
# make langchain   the same chain in LangChain, compared with kb ask (needs python3)
# make release-check   kb for each system of a release, and its licence notices
# make lint    staticcheck, and functions that nothing calls
# make vulncheck   known vulnerabilities in what kb calls
# make windows-check   kb.exe under Wine (needs wine 9 or newer)
# make image-check   the image of the Dockerfile, built and tried without Docker (needs root and buildah)
# make browser the page of kb serve in a real browser (needs chromium)
# make screenshots   pictures of that page, into scripts/browser/shots
# make index   build index.jsonl.zst from notes/

export CGO_ENABLED := 0
GO ?= go
PREFIX ?= /usr/local
FUZZTIME ?= 10s
DATA ?= $(wildcard ../shared/data)

.PHONY: build install langchain image-check release-check windows-check lint vulncheck test check fuzz bench load bench-stores eval eval-update experiments trials index demo real browser screenshots

build: kb

# The linker writes through a memory map, which leaves the file in the page cache
# page by page. A process that starts from a copy takes 2 to 4 ms less.
kb: $(shell find cmd pkg -name '*.go' -o -name '*.s' -o -name '*.bin' -o -path '*/server/web/*' -type f) go.mod go.sum
	$(GO) build -trimpath -ldflags '-s -w' -o $@.linked ./cmd/kb
	cp $@.linked $@.new && mv $@.new $@ && rm $@.linked

install: kb
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 kb $(DESTDIR)$(PREFIX)/bin/kb
	./kb man --dir $(DESTDIR)$(PREFIX)/share/man/man1
	./kb completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kb
	./kb completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_kb
	./kb completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/kb.fish

langchain: kb
	KB=./kb scripts/langchain/test.sh

image-check:
	scripts/image-check.sh

windows-check:
	scripts/windows-check.sh

release-check:
	scripts/release-check.sh

lint:
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	@unused=$$($(GO) run golang.org/x/tools/cmd/deadcode@v0.52.0 -test ./...) && { test -z "$$unused" || { echo "$$unused" >&2; exit 1; }; }

vulncheck:
	scripts/vulncheck.sh

test:
	$(GO) test ./...

check: kb
	$(GO) vet ./...
	@test -z "$$(gofmt -l cmd pkg scripts)" || { gofmt -l cmd pkg scripts; echo 'check: run gofmt on these files' >&2; exit 1; }
	@large=$$(git ls-files -z 2>/dev/null | xargs -0 -r du -k | awk '$$1 > 8192'); test -z "$$large" || { echo "check: too large for the repository: $$large" >&2; exit 1; }
	scripts/check-index.sh ./kb

fuzz:
	GO=$(GO) FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

bench: kb
	scripts/bench.sh

bench-stores:
	scripts/bench-stores.sh

load: kb
	cd scripts/bench && $(GO) run ./load -kb $(CURDIR)/kb

eval: kb
	scripts/eval.sh ./kb

eval-update: kb
	scripts/eval.sh ./kb --update

real: kb
	scripts/real-embedder.sh sh -c './kb build --text --index real.jsonl.zst notes && ./kb eval eval/questions.jsonl --index real.jsonl.zst --mode all --text'

browser: kb
	scripts/browser.sh ./kb

screenshots: kb
	scripts/browser.sh ./kb --shots

trials: kb
	KB=./kb scripts/trials.sh >eval/trials.md.new
	mv eval/trials.md.new eval/trials.md

experiments: kb
	KB=./kb scripts/experiments.sh $(DATA) >eval/experiments.md.new
	mv eval/experiments.md.new eval/experiments.md

index: kb
	rm -f index.jsonl.zst.new
	env -u KB_EMBED_BASE_URL -u KB_EMBED_MODEL ./kb build --text --index index.jsonl.zst.new notes
	mv index.jsonl.zst.new index.jsonl.zst && rm -f index.jsonl.zst.new.lock

demo: kb
	scripts/demo.sh
