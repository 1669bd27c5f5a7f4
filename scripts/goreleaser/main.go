// Goreleaser reads a configuration as goreleaser does, and refuses a field
// that it does not know. It is a module of its own, so that what goreleaser
// needs has no place in kb's.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	log.SetFlags(0)
	project, err := config.Load(os.Args[1])
	if err != nil {
		log.Fatalf("release: %s: %v", os.Args[1], err)
	}
	if len(project.Builds) != 1 {
		log.Fatalf("release: %s: %d builds, want one", os.Args[1], len(project.Builds))
	}
	fmt.Printf("release: goreleaser reads %s: %d systems\n", os.Args[1], len(project.Builds[0].Goos)*len(project.Builds[0].Goarch))
}
