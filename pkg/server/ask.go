package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"kb/pkg/answer"
	"kb/pkg/ask"
	"kb/pkg/live"
	"kb/pkg/record"
	"kb/pkg/session"
)

// maxBody is how many bytes a question may have with all that goes with it.
const maxBody = 256 << 10

// ask answers a question, as one record.
func (s *server) ask(w http.ResponseWriter, r *http.Request) error {
	return s.reply(w, r, false, s.whole)
}

// askStream answers a question as it is written.
func (s *server) askStream(w http.ResponseWriter, r *http.Request) error {
	return s.reply(w, r, false, s.stream)
}

// whole waits for the answer and writes it.
func (s *server) whole(w http.ResponseWriter, r *http.Request, f *flight) error {
	a, err := f.wait(r.Context())
	if err != nil {
		if a == nil {
			return err
		}
		fault := *failure(err)
		fault.answer = a
		return &fault
	}
	body, err := record.Append(nil, a)
	if err != nil {
		return err
	}
	writeBody(w, http.StatusOK, body)
	return nil
}

// reply reads a question and has it answered. Questions that are the same, of
// the same version of the index, are answered once at a time; those of a
// conversation never are.
func (s *server) reply(w http.ResponseWriter, r *http.Request, talk bool, write func(http.ResponseWriter, *http.Request, *flight) error) error {
	q, err := readQuestion(w, r, talk)
	if err != nil {
		return err
	}
	if talk && q.Session == "" {
		q.Session = randomID() + randomID()
	}
	opt := s.Ask
	if opt.Search, err = q.params(s.Ask.Search); err != nil {
		return err
	}
	opt.Answer.Strict = opt.Answer.Strict || q.Strict
	lease, err := s.Index.Acquire(r.Context())
	if err != nil {
		return unreadable(err)
	}
	opt.Searcher = lease.Searcher()
	key := randomID()
	if !talk {
		if key, err = flightKey(q, lease); err != nil {
			lease.Release()
			return err
		}
	}
	f, leave, joined := s.flights.join(key, s.work(q, opt, lease))
	defer leave()
	if joined {
		lease.Release() // the flight has one of its own
		s.metrics.shared.Add(1)
	}
	return write(w, r, f)
}

// flightKey is the same for questions that have the same answer.
func flightKey(q *question, l *live.Lease) (string, error) {
	body, err := json.Marshal(q)
	return l.Stamp() + "\n" + string(body), err
}

// work answers a question. The lease is given back at its end.
func (s *server) work(q *question, opt ask.Options, lease *live.Lease) work {
	return func(ctx context.Context, tell func(event)) (*record.Answer, error) {
		defer lease.Release()
		encode := func(name string, v any) {
			if data, err := json.Marshal(v); err == nil {
				tell(event{name, data})
			}
		}
		opt.Answer.Found = func(found *record.Query, passages []record.Passage) {
			encode("citations", citations(q, found, passages))
		}
		var by ask.Answerer = opt
		if q.Session != "" {
			by = &ask.Conversation{Options: opt, Sessions: s.Sessions, Name: q.Session}
		}
		a, err := by.Reply(ctx, &record.Query{ID: record.QueryID(q.Question), Text: q.Question}, func(delta string) {
			encode("delta", map[string]string{"text": delta})
		})
		s.outcome(a, err)
		if a != nil && q.Session != "" {
			session, _ := json.Marshal(q.Session)
			a.Extra = append(a.Extra, record.Field{Key: "session", Value: session})
		}
		return a, err
	}
}

type citationsBody struct {
	Query      string           `json:"query"`
	Question   string           `json:"question"`
	Rewritten  string           `json:"rewritten,omitempty"`
	Passages   []record.Passage `json:"passages"`
	Legs       []record.Leg     `json:"legs"`
	Confidence *float64         `json:"confidence,omitempty"`
	Session    string           `json:"session,omitempty"`
}

func citations(q *question, found *record.Query, passages []record.Passage) citationsBody {
	b := citationsBody{Query: found.ID, Question: q.Question, Passages: make([]record.Passage, len(passages)),
		Legs: append([]record.Leg{}, found.Legs...), Confidence: found.Confidence, Session: q.Session}
	for i, p := range passages {
		if p.Headings == nil {
			p.Headings = []string{}
		}
		b.Passages[i] = p
	}
	if found.Text != q.Question {
		b.Rewritten = found.Text
	}
	return b
}

// outcome counts what became of a question.
func (s *server) outcome(a *record.Answer, err error) {
	switch {
	case errors.Is(err, context.Canceled):
		s.metrics.answered("left")
	case errors.Is(err, answer.ErrIncomplete):
		s.metrics.answered("incomplete")
	case errors.Is(err, answer.ErrUnsupported):
		s.metrics.answered("unsupported")
	case err != nil:
		s.metrics.answered("failed")
	case a.Refused:
		s.metrics.answered("refused")
	default:
		s.metrics.answered("answered")
	}
	if a != nil && a.Cached {
		s.metrics.cached.Add(1)
	}
}

// readQuestion reads the body of a request.
func readQuestion(w http.ResponseWriter, r *http.Request, talk bool) (*question, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, failf(http.StatusUnsupportedMediaType, `the question is JSON: {"question":"…"}`)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, failf(http.StatusRequestEntityTooLarge, "the request has more than %d bytes", maxBody)
	case err != nil:
		return nil, failf(http.StatusBadRequest, "the request did not come whole")
	}
	q := new(question)
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(q); err != nil {
		return nil, failf(http.StatusBadRequest, "%s", whyNotJSON(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, failf(http.StatusBadRequest, "there is something behind the JSON object")
	}
	q.settle()
	if q.Session != "" && !talk {
		return nil, failf(http.StatusBadRequest, "a session belongs to /chat")
	}
	if q.Session != "" {
		if err := session.CheckName(q.Session); err != nil {
			return nil, failf(http.StatusBadRequest, "%v", err)
		}
	}
	return q, q.check()
}

// isJSON lets through what says that it is JSON, what says nothing, and what
// curl says of any data.
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return contentType == "" || err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "application/x-www-form-urlencoded")
}

// whyNotJSON says what is wrong with a body without Go's names.
func whyNotJSON(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("%s is a %s, which it may not be", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Sprintf("the body is a %s and not an object", kind.Value)
	case strings.Contains(err.Error(), "unknown field"):
		return strings.TrimPrefix(err.Error(), "json: ") + "; there are question, mode, top_k, candidates, min_score, path, tag, since, until, strict and, for /chat, session"
	case err == io.EOF:
		return `the body is empty; it is {"question":"…"}`
	}
	return "the body is not JSON: " + err.Error()
}
