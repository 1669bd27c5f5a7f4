// Command pdfscore says whether kb reads a folder of PDF files as it must:
//
//	go run ./scripts/pdfscore -kb ./kb DIR
//
// Beside NAME.pdf stands NAME.json with what it holds:
//
//	{"pages": ["text of page 1", …], "lang": "en", "expect": "text"}
//
// expect is text, text1 (the text as a whole, wherever its pages break), empty
// (there is nothing to read), unreadable (the text layer is of no use, and kb
// has to say so) or error (the file has to be refused). -but sets it for single
// files. A file without companion is hostile: whatever kb makes of it, it has to
// end in time and within the memory allowed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What kb may take for a hostile file.
const (
	mostTime   = 15 * time.Second // of CPU
	mostMemory = 512 << 20
)

// wanted is a companion file.
type wanted struct {
	Pages  []string `json:"pages"`
	Lang   string   `json:"lang"`
	Expect string   `json:"expect"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("pdfscore: ")
	kb := flag.String("kb", "./kb", "the program")
	engine := flag.String("engine", "auto", "its --pdf-engine")
	but := flag.String("but", "", "what to expect of single files instead: `NAME=EXPECT,…`")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: pdfscore [-kb FILE] [-engine NAME] [-but NAME=EXPECT,…] DIR")
	}
	cache, err := os.MkdirTemp("", "pdfscore")
	if err != nil {
		log.Fatal(err)
	}
	failures, err := score(&program{path: *kb, engine: *engine, cache: cache}, flag.Arg(0), *but)
	os.RemoveAll(cache)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range failures {
		fmt.Println("FAIL", f)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
}

// score runs kb on all files at once, and again on each hostile one.
func score(kb *program, dir, but string) (failures []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.pdf"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no PDF files in %s (%v)", dir, err)
	}
	all, err := kb.load(files...)
	if err != nil {
		return nil, err
	}
	var worst run
	met, hostile := 0, 0
	for _, file := range files {
		want, known, err := companion(file, but)
		if err != nil {
			return nil, err
		}
		why := compare(all.results[filepath.ToSlash(file)], want)
		if !known {
			alone, err := kb.load(file)
			if err != nil {
				return nil, err
			}
			why = alone.excess()
			worst.cpu, worst.memory = max(worst.cpu, alone.cpu), max(worst.memory, alone.memory)
			hostile++
		}
		if why != "" {
			failures = append(failures, filepath.Base(file)+": "+why)
		} else if known {
			met++
		}
	}
	fmt.Printf("%d files as expected, %d not; %d hostile ones took at most %.1f s of CPU and %d MiB\n",
		met, len(failures), hostile, worst.cpu.Seconds(), worst.memory>>20)
	return failures, nil
}

// companion reads what is expected of a file.
func companion(file, but string) (w wanted, known bool, err error) {
	base := strings.TrimSuffix(file, ".pdf")
	data, err := os.ReadFile(base + ".json")
	if os.IsNotExist(err) {
		return w, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	for exception := range strings.SplitSeq(but, ",") {
		if name, expect, _ := strings.Cut(exception, "="); name == filepath.Base(base) {
			w.Expect = expect
		}
	}
	return w, true, err
}
