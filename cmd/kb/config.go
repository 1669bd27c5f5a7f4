package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kb/pkg/jsonl"
	"kb/pkg/model"
	"kb/pkg/text"
)

const configLong = `config shows each setting, its value and where it came from: a flag, the
environment, .env in the working directory, or the default. Keys are masked.

Writes:  {"kind":"setting","key":…,"value":…,"source":…}`

func newConfig(e *env, s *settings) *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:         "config",
		Short:       "the settings in force",
		Long:        configLong,
		Args:        args(cobra.NoArgs),
		Annotations: about(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(); err != nil {
				return err
			}
			if out.human(e) {
				return s.printConfig(e)
			}
			return s.writeConfig(e)
		},
	}
	out.register(cmd)
	indexFlag(cmd, s)
	analyzerFlag(cmd, s)
	embedFlags(cmd, s)
	rerankFlags(cmd, s)
	chatFlags(cmd, s)
	return cmd
}

// shown is a value as it may be seen by anybody.
func shown(key, value string) string {
	switch {
	case strings.HasSuffix(key, "_API_KEY"), key == "KB_TOKEN":
		return mask(value)
	case strings.HasSuffix(key, "_BASE_URL") && value != "":
		return displayURL(value)
	case isURL(value):
		return shownStore(value)
	}
	return value
}

// printSettings writes a line for each setting. What it is for is left out on a
// terminal without room for it.
func (s *settings) printSettings(e *env) {
	st := e.style()
	widest := 1
	for _, k := range settingKeys {
		widest = max(widest, min(columns(shown(k.key, s.get(k.key).value)), 32))
	}
	for _, k := range settingKeys {
		v := s.get(k.key)
		value, source := shown(k.key, v.value), v.source
		if !v.set() {
			value, source = "-", "not set"
		}
		line := fmt.Sprintf("%-25s %-*s %-11s  ", k.key, widest, value, source)
		if !st.terminal || st.width-columns(line) >= 20 {
			line += st.indented(k.help, columns(line))
		}
		if !v.set() {
			line = st.dim(line)
		}
		fmt.Fprintln(e.stdout, line)
	}
	for _, key := range s.hookKeys() {
		value, _ := s.env.lookup(key)
		fmt.Fprintf(e.stdout, "%-25s %-*s %s\n", key, widest, value, fromEnv)
	}
}

func (s *settings) printConfig(e *env) error {
	s.printSettings(e)
	fmt.Fprintln(e.stdout)
	warn := e.console("kb config").warn
	analyzer, err := s.analyzer()
	if err != nil {
		return err
	}
	embedder, err := s.embedder(warn)
	if err != nil {
		return err
	}
	reranker, err := s.reranker(warn)
	if err != nil {
		return err
	}
	generator, err := s.generator(warn)
	if err != nil {
		return err
	}
	info := embedder.Info()
	fmt.Fprintf(e.stdout, "analyzer:   %s\n", cmp.Or(analyzer, "of the index; "+text.DefaultAnalyzer+" for a new one"))
	fmt.Fprintf(e.stdout, "embedding:  %s\n", model.Describe(info.Model, info.BaseURL))
	fmt.Fprintf(e.stdout, "rerank:     %s\n", reranker.Name())
	fmt.Fprintf(e.stdout, "answers:    %s\n", generator.Name())
	return nil
}

// settingRecord is a line of kb config in a pipe.
type settingRecord struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

func (*settingRecord) Kind() string { return "setting" }

func (s *settings) writeConfig(e *env) error {
	w := jsonl.NewWriter(e.stdout)
	for _, k := range settingKeys {
		v := s.get(k.key)
		if err := w.Write(&settingRecord{k.key, shown(k.key, v.value), v.source}); err != nil {
			return err
		}
	}
	for _, key := range s.hookKeys() {
		value, _ := s.env.lookup(key)
		if err := w.Write(&settingRecord{key, value, fromEnv}); err != nil {
			return err
		}
	}
	return w.Flush()
}
