// Command kb answers questions from your own notes, with citations that can
// be checked. It is a pipeline of small commands that read and write JSON
// Lines; root.go lists them in the order of the pipeline.
package main

import (
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], system()))
}
