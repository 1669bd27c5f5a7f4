package record

// QuestionFields are the names that a question may have where people write
// it by hand: lines of questions, requests, arguments of tools. The first is
// that of files and pipes.
func QuestionFields() []string { return []string{"q", "question", "query"} }
