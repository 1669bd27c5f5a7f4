package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestWorkflow runs the steps of scripts/ci/kb-eval.yml, the recipe for a
// repository of notes, in a copy of ours: the questions pass, and fail when a
// note is gone; either way the table becomes a comment. Only the installation
// and gh are stood in for.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../scripts/ci/kb-eval.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	s := newExample(t, "")
	s.env = append(s.env, "GITHUB_STEP_SUMMARY="+filepath.Join(s.dir, "summary.md"))
	s.script(t, `kb build --text --index index.jsonl.zst notes && kb eval eval/questions.jsonl --json >eval/baseline.jsonl
		mkdir gh && printf '#!/bin/sh\nwhile [ "$1" != --body-file ]; do shift; done; cat "$2" >commented.md\n' >gh/gh && chmod +x gh/gh`)
	run := func(wantFailure bool) string {
		t.Helper()
		failed := false
		for _, step := range workflow.Jobs["eval"].Steps {
			if step.Run == "" || step.Name == "install kb" {
				continue
			}
			cmd := s.command("set -eo pipefail\nPATH=$PWD/gh:$PATH\n" + strings.ReplaceAll(step.Run, "${{ github.event.number }}", "7"))
			if out, err := cmd.CombinedOutput(); err != nil {
				failed = true
				if !wantFailure {
					t.Errorf("step %q: %v\n%s", step.Name, err, out)
				}
			}
		}
		if wantFailure && !failed {
			t.Error("no step failed, though a note is gone")
		}
		comment, err := os.ReadFile(filepath.Join(s.dir, "commented.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(comment)
	}
	if c := run(false); !strings.Contains(c, "| mode") || !strings.Contains(c, "passed") {
		t.Errorf("the comment is\n%s", c)
	}
	s.script(t, "rm notes/course.md")
	if c := run(true); !strings.Contains(c, "lost") || !strings.Contains(c, "notes/course.md") {
		t.Errorf("the comment on a note that is gone is\n%s", c)
	}
}
