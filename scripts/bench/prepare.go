package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prepare builds the Go programs and installs the others.
func (b *bencher) prepare(dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.bin+string(filepath.Separator),
		"./empty", "./f32", "./flat", "./chromem")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building: %w", err)
	}
	if err := b.install(); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	b.goroot = strings.TrimSpace(string(root))
	os.Setenv("GOROOT", b.goroot)
	b.peers = installPeers(filepath.Join(dir, "peers"), b.name == "quick")
	return nil
}

// install copies the programs, as an installation does, and measures the
// copies. What the linker wrote through a memory map lies in the page cache
// page by page, and a process that starts from it pays dearly for each page it
// touches: kb --version took 8.0 ms of CPU, and 5.5 copied.
func (b *bencher) install() error {
	built := map[string]string{"kb": b.kb}
	for _, name := range []string{"empty", "f32", "flat", "chromem"} {
		built[name] = filepath.Join(b.bin, name)
	}
	for name, path := range built {
		copied := filepath.Join(b.bin, name)
		// In a process of its own: what this one once held counts in the peak
		// memory of those that it starts.
		if out, err := exec.Command("cp", path, copied+".new").CombinedOutput(); err != nil {
			return fmt.Errorf("copying %s: %w: %s", path, err, out)
		}
		if err := os.Rename(copied+".new", copied); err != nil {
			return err
		}
	}
	b.kb = filepath.Join(b.bin, "kb")
	return nil
}

// installPeers installs the node programs at the versions of the lock file.
// That may compile SQLite for minutes, so a quick run does without what is not
// there yet.
func installPeers(dir string, quick bool) string {
	for _, name := range []string{"package.json", "package-lock.json", "sqlitevec.cjs", "usearch.cjs"} {
		content, err := os.ReadFile(filepath.Join("peers", name))
		if err == nil {
			err = os.MkdirAll(dir, 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o666)
		}
		if err != nil {
			return without(err)
		}
	}
	check := exec.Command("node", "-e", "require('better-sqlite3'); require('sqlite-vec'); require('usearch')")
	check.Dir = dir
	if check.Run() == nil {
		return dir
	}
	if quick {
		return without(fmt.Errorf("not installed in %s, which a run without quick does", dir))
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return without(fmt.Errorf("npm ci: %w: %s", err, out))
	}
	return dir
}

func without(err error) string {
	fmt.Fprintf(os.Stderr, "bench: without sqlite-vec and usearch: %v\n", err)
	return ""
}

// processor is the name of the CPU.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, "\t :\n")
		}
	}
	return "unknown processor"
}

func firstLine(path string) string {
	content, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(content), "\n")
	return line
}
