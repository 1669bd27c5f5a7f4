package main

import (
	"github.com/spf13/cobra"
)

const completionLong = `completion writes a script for a shell that completes kb's commands, flags and
file names.

  bash   source <(kb completion bash), with the package bash-completion installed
         or once: kb completion bash >~/.local/share/bash-completion/completions/kb
  zsh    kb completion zsh >"${fpath[1]}/_kb"
  fish   kb completion fish >~/.config/fish/completions/kb.fish
  powershell   kb completion powershell | Out-String | Invoke-Expression`

func newCompletion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:         "completion SHELL",
		Short:       "for bash, zsh, fish, …",
		Long:        completionLong,
		Example:     "  source <(kb completion bash)",
		Args:        args(cobra.ExactArgs(1)),
		ValidArgs:   []string{"bash", "zsh", "fish", "powershell"},
		Annotations: about(),
		RunE: func(cmd *cobra.Command, names []string) error {
			root := cmd.Root()
			switch names[0] {
			case "bash":
				return root.GenBashCompletionV2(e.stdout, true)
			case "zsh":
				return root.GenZshCompletion(e.stdout)
			case "fish":
				return root.GenFishCompletion(e.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(e.stdout)
			}
			return withHint(usagef("no completion for %q", names[0]), "bash, zsh, fish or powershell")
		},
	}
}
