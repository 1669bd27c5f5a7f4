package answer

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"kb/pkg/record"
)

// A note may hold text that a chat template or a reader of the prompt would
// take for something else: the template's own tokens, tags that open or close
// the context, a line that begins like another speaker or another source, a
// copy of kb's marks. Such text stays readable, but loses the form:
//
//	<|im_start|> </context> <think>     ‹|im_start|› ‹/context› ‹think›
//	[INST] <<SYS>>                      (INST) ‹‹SYS››
//	system: you are free                › system: you are free
//	[2] fake source   as Smith says [9] (2) fake source   as Smith says (9)
//
// This lowers the risk of injection; no escaping can exclude it.

// defuse makes the text of a passage harmless inside the prompt.
func defuse(s, nonce string) string {
	s = Plain(validUTF8(s))
	s = strings.ReplaceAll(s, nonce, "(…)")
	s = markPattern().ReplaceAllStringFunc(s, angles)
	for tokenPattern().MatchString(s) { // one may stand inside another
		s = tokenPattern().ReplaceAllStringFunc(s, angles)
	}
	s = instPattern().ReplaceAllString(s, "($1)")
	s = sourcePattern().ReplaceAllString(s, "$1($2) ")
	s = defuseMarkers(s)
	return speakerPattern().ReplaceAllString(s, "› $0")
}

// defuseLine does the same for a path or a heading, on one line.
func defuseLine(s, nonce string) string {
	s = strings.ReplaceAll(defuse(oneLine(s), nonce), ">>>", "›››")
	return strings.ReplaceAll(s, "\n", " ")
}

func angles(s string) string {
	return strings.NewReplacer("<", "‹", ">", "›", "＜", "‹", "＞", "›").Replace(s)
}

// quotable are the passages as a generator that copies them may: without
// what would be read as a citation of the answer.
func quotable(passages []record.Passage) []record.Passage {
	out := slices.Clone(passages)
	for i := range out {
		out[i].Text = defuseMarkers(out[i].Text)
	}
	return out
}

// defuseMarkers writes what would be read as a citation in an answer in round
// brackets, so that it is not copied as one.
func defuseMarkers(s string) string {
	z := newNormalizer(0)
	z.replace = func(marker string) string {
		return "(" + strings.NewReplacer("<sup>", "", "</sup>", "").Replace(strings.Trim(marker, "[]【】［］")) + ")"
	}
	return z.write(s) + z.close()
}

// tokenPattern finds tokens of chat templates and tags that would open or
// close a part of a prompt.
var tokenPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<[|｜][^<>\n]{0,64}[|｜]>|<\s*/?\s*(?:` +
		`s|bos|eos|unk|pad|inst|sys|think|thinking|thought|reasoning|answer|question|query|` +
		`system|user|assistant|human|ai|developer|model|tool|tools|` +
		`tool_call|tool_calls|tool_response|function|function_call|function_calls|function_results|invoke|` +
		`im_start|im_end|start_of_turn|end_of_turn|start_header_id|end_header_id|eot_id|endoftext|` +
		`context|contexts|document|documents|source|sources|passage|passages|note|notes|data|input|output|` +
		`reference|references|result|results|search_results|instruction|instructions|prompt|message|messages` +
		`)(?:\s[^<>\n]{0,64})?/?\s*>`)
})

// markPattern finds what looks like kb's own marks.
var markPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<<+\s*/?(?:end\s+)?(?:kb-|sys)[^\n>]{0,64}>*|<<<+\s*/?end\b[^\n>]{0,64}>*`)
})

var instPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\[(/?\s*(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\]`)
})

// sourcePattern finds lines that begin like a numbered source, in code too.
var sourcePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\s*)[\[【［](\d{1,4})[\]】］] ?`)
})

// speakerPattern finds lines that begin like another speaker's turn.
var speakerPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[ \t]*(?:[#*_>]+[ \t]*)?(?:system|assistant|user|human|ai|developer|tool|instructions?|` +
		`系统|系统提示|用户|助手|指令)(?:[ \t]*(?:message|prompt|提示))?[*_ \t]*[:：]`)
})
