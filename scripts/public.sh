# Functions about public question sets, to be sourced. A set is a folder with
# corpus.jsonl, a passage a line ({"id", "title", "text"}), and questions.jsonl
# ({"q", "passages": [ids], "must_contain": "the gold answer", …}). Needs jq.

# passages FOLDER: a document a passage; in one chunk each, a hit is judged by its id
passages() {
  jq -c '{kind: "document", id, path: .id, title, media_type: "text/plain", hash: .id, text}' "$1/corpus.jsonl"
}

# joined FOLDER N sections|plain: documents of N passages each, in their order:
# paragraphs below a heading where the title changes, or without headings
joined() {
  jq -cn --argjson n "$2" --arg layout "$3" '
    [inputs] | range(0; length; $n) as $i | .[$i:$i + $n] as $passages
    | "\($i / $n).md" as $path
    | {kind: "document", id: $path, path: $path, title: "\($i / $n)", media_type: "text/markdown", hash: $path,
       text: ([$passages | to_entries[]
         | (if $layout == "sections" and (.key == 0 or $passages[.key - 1].title != .value.title)
            then "## \(.value.title)\n\n" else "" end) + .value.text + "\n"] | join("\n"))}' "$1/corpus.jsonl"
}

# questions FOLDER: those with a text (CMRC 2018 has two without)
questions() { jq -c 'select(.q | test("\\S"))' "$1/questions.jsonl"; }

# joined_questions FOLDER N: its questions for the documents of joined; a hit
# is judged by whether it holds the gold answer, and comes from the document
joined_questions() {
  questions "$1" | jq -cn --argjson n "$2" --slurpfile corpus "$1/corpus.jsonl" '
    ($corpus | to_entries | map({key: .value.id, value: "\(.key / $n | floor).md"}) | from_entries) as $document
    | inputs | select(.must_contain != "" and (.passages | length) > 0)
    | {id, q, must_contain, source: [$document[.passages[]]]}'
}

# offline: takes away the settings that make kb use an endpoint
offline() { unset $(env | sed -n "s/^\(KB_[A-Z_]*\)=.*/\1/p"); }

# figure is a jq function: a number with so many digits behind the point
figure='
    def figure($digits): if . == null then "–" else
      (. * pow(10; $digits) | round | tostring) as $n
      | ("0" * ([$digits + 1 - ($n | length), 0] | max) // "") + $n
      | .[:-$digits] + "." + .[-$digits:] end;'
