//go:build !linux && !darwin

package pdf

import "context"

// arena leaves memory to the WebAssembly runtime.
type arena struct{}

func (a *arena) with(ctx context.Context) context.Context { return ctx }
func (a *arena) release()                                 {}
