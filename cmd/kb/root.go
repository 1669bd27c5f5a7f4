package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kb/pkg/load"
)

// version is set when a release is built.
var version = "0.1.0"

const rootLong = `kb answers questions from your own notes (Markdown, text, HTML, Word, PDF), with
citations that can be checked, and says so when they do not have the answer.

  kb build notes     read, cut, embed and index a folder
  kb ask "…"         a cited answer, or an honest refusal`

const rootExitStatus = `EXIT STATUS
  0 done, 1 failed, 2 usage, 3 index mismatch, 4 below the gate,
  5 index damaged, 6 partial, 7 nothing found (--exit-status), 130 interrupted`

// command is one of kb's commands, made when it is needed: all of them with
// their flags take 0.3 to 0.6 ms of every start.
type command struct {
	group, name string
	make        func() *cobra.Command
}

// commands lists them in the order of the pipeline.
func commands(e *env, s *settings) []command {
	own := func(f func(*env) *cobra.Command) func() *cobra.Command { return func() *cobra.Command { return f(e) } }
	set := func(f func(*env, *settings) *cobra.Command) func() *cobra.Command {
		return func() *cobra.Command { return f(e, s) }
	}
	return []command{
		{"pipeline", "load", set(newLoad)},
		{"pipeline", "chunk", own(newChunk)},
		{"pipeline", "embed", set(newEmbed)},
		{"pipeline", "index", set(newIndex)},
		{"pipeline", "search", set(newSearch)},
		{"pipeline", "rerank", set(newRerank)},
		{"pipeline", "answer", set(newAnswer)},
		{"whole", "build", set(newBuild)},
		{"whole", "ask", set(newAsk)},
		{"whole", "chat", set(newChat)},
		{"whole", "serve", set(newServe)},
		{"whole", "mcp", set(newMCP)},
		{"whole", "watch", set(newWatch)},
		{"whole", "eval", set(newEval)},
		{"care", "status", set(newStatus)},
		{"care", "docs", set(newDocs)},
		{"care", "rm", set(newRm)},
		{"care", "export", set(newExport)},
		{"care", "config", set(newConfig)},
		{"care", "doctor", set(newDoctor)},
		{"care", "completion", own(newCompletion)},
		{"care", "man", own(newMan)},
		{"care", "version", own(newVersion)},
		{"", load.PDFWorkerCommand, own(newPDFWorker)},
	}
}

// wanted are the commands that the arguments are about: the one whose name they
// begin with, unless that is about all of them.
func wanted(all []command, args []string) []command {
	for i, c := range all {
		if len(args) > 0 && args[0] == c.name && c.name != "completion" && c.name != "man" {
			return all[i : i+1]
		}
	}
	return all
}

// newRoot is kb with the commands that the arguments are about.
func newRoot(e *env, args []string) *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:           "kb",
		Short:         "cited answers from your own notes",
		Long:          rootLong,
		Version:       version,
		Annotations:   map[string]string{"exit": rootExitStatus},
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.SetVersionTemplate("kb {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == root {
			return withHint(flagError(err), `flags go behind their command: kb search --top-k 2 "…"`)
		}
		return flagError(err)
	})
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageFunc(e.usage)
	commandHelp := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			commandHelp(cmd, args)
			return
		}
		fmt.Fprint(e.stdout, rootHelp(root))
	})
	root.AddGroup(
		&cobra.Group{ID: "pipeline", Title: "The pipeline, filters over JSON Lines:"},
		&cobra.Group{ID: "whole", Title: "In one step:"},
		&cobra.Group{ID: "care", Title: "Looking after it:"},
	)
	root.CompletionOptions.DisableDefaultCmd = true // kb has its own
	for _, c := range wanted(commands(e, newSettings(e)), args) {
		cmd := c.make()
		cmd.GroupID = c.group
		root.AddCommand(cmd)
	}
	root.SetHelpCommand(&cobra.Command{Use: "help [command]", Short: "help about a command", RunE: func(cmd *cobra.Command, args []string) error {
		target, _, err := root.Find(args)
		if err != nil || target == root && len(args) > 0 {
			return unknownCommand(root, strings.Join(args, " "))
		}
		return target.Help()
	}})
	root.SetHelpCommandGroupID("care")
	return root
}

// flagError says what is wrong with a flag's value without the words of the
// parser.
func flagError(err error) error {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return &usageError{err}
	}
	want := "not a value that it takes"
	switch f := value.GetFlag(); f.Value.Type() {
	case "int":
		want = "not a whole number"
	case "float64":
		want = "not a number"
	case "bool":
		want = "neither true nor false"
	}
	return usagef("--%s %q: %s", value.GetFlag().Name, value.GetValue(), want)
}

// exclusive says which flags do not go together where cobra, whose error has
// no type, says it at length.
func exclusive(err error) error {
	const before, behind = "if any flags in the group [", "] were all set"
	if err == nil || !strings.HasPrefix(err.Error(), before) || !strings.HasSuffix(err.Error(), behind) {
		return err
	}
	_, list, _ := strings.Cut(strings.TrimSuffix(err.Error(), behind), "none of the others can be; [")
	return usagef("--%s do not go together", strings.Join(strings.Fields(list), " and --"))
}

// misspelled is the argument that --help stands behind where no command has
// its name; cobra would show the help of kb itself.
func misspelled(root *cobra.Command, args []string) string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd != root || !slices.ContainsFunc(args, func(a string) bool { return a == "--help" || a == "-h" }) {
		return ""
	}
	if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && rest[0] != "help" {
		return rest[0]
	}
	return ""
}

func unknownCommand(root *cobra.Command, name string) error {
	err := usagef("there is no command %q", name)
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return withHint(err, "did you mean \"kb %s\"?", near[0])
	}
	return withHint(err, `"kb --help" lists the commands; to ask a question: kb ask %q`, name)
}

// helpTemplate puts the records and the exit codes, which commands keep in
// their annotations, behind the flags.
const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}{{with .Annotations.exit}}
{{.}}
{{end}}`

// usage is the middle of a command's help: how it is called, with flags whose
// descriptions keep to the width of a terminal.
func (e *env) usage(cmd *cobra.Command) error {
	width := 0 // no limit
	if st := e.style(); st.terminal {
		width = st.width
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	fmt.Fprintf(&b, "\nFlags:\n%s\n", strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(width), " \n"))
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// rootHelp is one screen: what kb does, and its commands, each group in two
// columns that are read downwards.
func rootHelp(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(strings.Replace(rootLong, "\n\n", "\n", 1) + "\n") // 24 lines, with the next prompt
	for _, g := range root.Groups() {
		var cells []string
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && c.IsAvailableCommand() {
				cells = append(cells, fmt.Sprintf("  %-10s %s", c.Name(), c.Short))
			}
		}
		b.WriteString(g.Title + "\n" + twoColumns(cells))
	}
	b.WriteString("\"kb COMMAND --help\" shows its records, flags and examples.\n")
	b.WriteString(strings.Replace(rootExitStatus, "\n", "", 1) + "\n")
	return b.String()
}

func twoColumns(cells []string) string {
	var b strings.Builder
	half := (len(cells) + 1) / 2
	for i, line := range cells[:half] {
		if i+half < len(cells) {
			line += strings.Repeat(" ", max(0, 41-columns(line))) + cells[i+half]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// about annotates a command with its exit codes.
func about(codes ...int) map[string]string {
	return map[string]string{"exit": exitStatus(codes...)}
}

// args wraps a check of positional arguments so that a failure is a usage
// error that says what the command takes.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, a []string) error {
		if check(cmd, a) == nil {
			return nil
		}
		takes := "takes no argument"
		if _, names, ok := strings.Cut(cmd.Use, " "); ok {
			takes = "takes " + names
		}
		if len(a) == 0 {
			return usagef("it %s, and nothing was given", takes)
		}
		return usagef("it %s, but was given %s", takes, strings.Join(a, " "))
	}
}
