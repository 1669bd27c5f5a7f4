package pdf

import (
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// wasmPages caps the memory of an instance: 4,096 pages of 64 KiB.
const wasmPages = 4096

// sandbox is PDFium in a WebAssembly runtime. An instance sees no files, has
// no more than its memory, and ends when it is killed.
type sandbox struct {
	pool pdfium.Pool
	code wazero.CompilationCache // nil: none
}

// newSandbox prepares PDFium for a runtime; instances take their memory from
// the arena. The sandbox owns the code.
func newSandbox(config wazero.RuntimeConfig, code wazero.CompilationCache, memory *arena) (s *sandbox, err error) {
	defer func() {
		if err != nil && code != nil {
			code.Close(context.Background())
		}
	}()
	defer recovered(&err)
	wasm, err := module()
	if err != nil {
		return nil, err
	}
	config = config.
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(wasmPages)
	if code != nil {
		config = config.WithCompilationCache(code)
	}
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	pool, err := webassembly.InitWithWASM(webassembly.Config{
		WASM:          wasm,
		Context:       memory.with(ctx),
		MaxIdle:       1,
		MaxTotal:      2, // one may be on its way out
		RuntimeConfig: config,
		FSConfig:      wazero.NewFSConfig(), // no files: the default is all of them
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		return nil, err
	}
	return &sandbox{pool: pool, code: code}, nil
}

func (s *sandbox) close() error {
	err := s.pool.Close()
	if s.code != nil {
		err = errors.Join(err, s.code.Close(context.Background()))
	}
	return err
}
