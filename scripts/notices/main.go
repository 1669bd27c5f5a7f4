// Notices writes the licences of all that is linked into kb, for every system
// that it is released for: those of the Go modules and of the standard library
// as the module cache and GOROOT have them, and those that lie beside data in
// the repository (PDFium, the word list). A module without a licence ends it
// with an error.
//
//	go run ./scripts/notices >NOTICES.txt
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

var systems = []string{"linux", "darwin", "windows"}

// beside are licences of data in the repository.
var beside = []string{"pkg/load/pdf/LICENSE.pdfium", "pkg/text/gse/LICENSE", "pkg/text/gse/NOTICE"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("notices: ")
	if err := write(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func write(w io.Writer) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "kb is linked with the following software, under the licences that are given.")
	for _, m := range modules {
		files, err := licences(m.Dir)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s has no licence in %s", m.Path, m.Dir)
		}
		for _, f := range files {
			if err := section(w, strings.TrimSpace(m.Path+" "+m.Version), f); err != nil {
				return err
			}
		}
	}
	for _, f := range beside {
		if err := section(w, f, f); err != nil {
			return err
		}
	}
	return nil
}

type module struct{ Path, Version, Dir string }

// linked are the modules with a package in the binary, by path, and Go itself.
func linked() ([]module, error) {
	seen := map[string]module{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=Module,Standard", "./cmd/kb")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module != nil && p.Module.Version != "" {
				seen[p.Module.Path] = *p.Module
			}
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules := []module{{Path: "Go", Dir: strings.TrimSpace(string(root))}}
	for _, m := range seen {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// licences are the files of a module that state its licence.
func licences(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		for _, begin := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE"} {
			if !e.IsDir() && strings.HasPrefix(name, begin) {
				files = append(files, filepath.Join(dir, e.Name()))
				break
			}
		}
	}
	return files, nil
}

func section(w io.Writer, title, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\n%s (%s)\n%s\n\n%s\n", strings.Repeat("=", 78), title, filepath.Base(file),
		strings.Repeat("=", 78), strings.TrimSpace(string(text)))
	return err
}
