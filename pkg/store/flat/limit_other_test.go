//go:build !unix

package flat_test

import "errors"

const canLimit = false

func limitFiles(int64) error { return errors.ErrUnsupported }
