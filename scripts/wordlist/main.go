// Command wordlist writes and proves the word list of kb/pkg/text/gse, which
// stands for the dictionary of github.com/go-ego/gse.
//
//	wordlist write FILE            make the list
//	wordlist check FILE [TEXT…]    is FILE what write makes, and does kb cut the
//	                               Han runs of the texts (- is stdin), and random
//	                               ones, as gse does with its whole dictionary?
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/go-ego/gse"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("wordlist: ")
	if len(os.Args) < 3 {
		log.Fatal("usage: wordlist write FILE | wordlist check FILE [TEXT…]")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func run(command, file string, texts []string) error {
	full := gse.Segmenter{SkipLog: true, NotLoadHMM: true}
	if err := full.LoadDictEmbed("zh"); err != nil {
		return err
	}
	list, err := render(full.Dict)
	if err != nil {
		return err
	}
	switch command {
	case "write":
		return os.WriteFile(file, list, 0o644)
	case "check":
		have, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, list) {
			return fmt.Errorf("%s is not what gse's dictionary gives: run go generate ./pkg/text/gse", file)
		}
		return compare(&full, texts)
	}
	return fmt.Errorf("unknown command %q", command)
}
