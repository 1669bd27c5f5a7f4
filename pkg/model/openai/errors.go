package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// APIError is a refusal by the server: an HTTP status, or an error that came
// in the body of a response with status 200.
type APIError struct {
	URL     string // of the call, without secrets
	Status  int    // of HTTP, or the number that the body names; 200 if it names none
	Message string // one line, without secrets
	Code    string // error.code
	Type    string // error.type
	Param   string // error.param: the field of the request at fault

	retryAfter time.Duration // what the server asked for; 0 if it did not
}

func (e *APIError) Error() string {
	status := ""
	if e.Status != http.StatusOK {
		status = strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	}
	parts := []string{e.URL}
	for _, s := range []string{status, e.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 1 {
		parts = append(parts, "error without a message")
	}
	return strings.Join(parts, ": ")
}

// Endpoint implements [model.EndpointError].
func (e *APIError) Endpoint() string { return e.URL }

// Hint is what to try next; "" where nothing is likely.
func (e *APIError) Hint() string {
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return "check the API key, and that it belongs to this base URL"
	case e.Status == http.StatusNotFound:
		return "check the base URL and the name of the model"
	case e.outOfQuota():
		return "the account has no quota left: look at its plan and billing"
	case e.Status == http.StatusTooManyRequests:
		return "the server limits the rate: wait a while; for embedding, kb embed --concurrency 1 or a smaller KB_EMBED_BATCH may help"
	case e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout:
		return "the server, or a proxy on the way to it, is not ready: try again later, or look into its log"
	case e.tooLong():
		return "use smaller chunks (kb chunk --size), or give the server a larger batch (llama-server -ub)"
	}
	return ""
}

// mentions says whether the error's texts contain one of the words, in any case.
func (e *APIError) mentions(words ...string) bool {
	all := strings.ToLower(e.Message + "\n" + e.Code + "\n" + e.Type + "\n" + e.Param)
	for _, w := range words {
		if strings.Contains(all, w) {
			return true
		}
	}
	return false
}

// refuses says whether the request was refused because of one of its fields.
func (e *APIError) refuses(field string) bool {
	return (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) && e.mentions(field)
}

func (e *APIError) outOfQuota() bool {
	return e.mentions("insufficient_quota", "arrearage", "insufficient balance", "insufficient_balance", "billing_hard_limit")
}

// tooLong: one text has more tokens than the model or the server takes.
func (e *APIError) tooLong() bool {
	return e.mentions("too large to process", "exceed_context", "context size", "context length", "context window",
		"maximum context", "too long", "must have less than", "input length", "maximum length", "max_model_len")
}

// notFinite: the model computed NaN or infinity for a text. Servers that write
// JSON find that out too late and answer 500.
func (e *APIError) notFinite() bool {
	return strings.Contains(e.Message, "NaN") || strings.Contains(e.Message, "unsupported value: +Inf")
}

// tooMany: there were more texts in the request than the server takes.
func (e *APIError) tooMany() bool {
	switch e.Status {
	case 400, 413, 422:
	default:
		return false
	}
	if e.mentions("too large to process") { // llama.cpp speaks of its token batch
		return false
	}
	return e.mentions("batch size", "batch_size", "batchsize", "too many inputs", "too many documents", "too many texts", "inputs in one request",
		"number of inputs", "array length", "maximum number of", "too many items", "less than or equal to", "array too long") ||
		e.Status == http.StatusRequestEntityTooLarge && !e.tooLong()
}

// limit reads the number of texts that the server takes out of its refusal of
// sent texts: the greatest number in the message that is below it, or half.
// ("batch size 33 > maximum allowed batch size 32" is 32.)
func (e *APIError) limit(sent int) int {
	best := 0
	for _, word := range strings.FieldsFunc(e.Message, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil && n < sent {
			best = max(best, n)
		}
	}
	if best == 0 {
		best = sent / 2
	}
	return max(best, 1)
}

// apiError reads the body of a refused call, whatever its shape.
func (c *client) apiError(call URL, status int, header http.Header, body []byte) *APIError {
	e := &APIError{URL: call.String(), Status: status}
	if f, ok := parseFault(body); ok {
		e.Message, e.Code, e.Type, e.Param = f.message, f.code, f.typ, f.param
		if n, err := strconv.Atoi(f.code); err == nil && status == http.StatusOK && n >= 400 && n < 600 {
			e.Status = n
		}
	}
	if e.Message == "" {
		e.Message = pageTitle(body)
	}
	e.Message = c.redact.quote(e.Message)
	e.Code, e.Type, e.Param = c.redact.quote(e.Code), c.redact.quote(e.Type), c.redact.quote(e.Param)
	e.retryAfter = retryAfter(header, time.Now())
	return e
}

// fault is an error object of any of the shapes that servers use.
type fault struct{ message, code, typ, param string }

// parseFault reads {"error":{"message"}}, {"error":"text"}, {"message"},
// {"detail":"text"}, {"detail":[{"msg"}]}, {"code","message"}, {"msg"}, a list
// of these, and a plain JSON string.
func parseFault(body []byte) (fault, bool) {
	var text string
	if json.Unmarshal(body, &text) == nil {
		return fault{message: text}, text != ""
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return parseFault(list[0])
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return fault{}, false
	}
	f := fault{code: scalar(object["code"]), typ: scalar(first(object, "type", "error_type")), param: scalar(object["param"])}
	for _, key := range []string{"error", "errors", "message", "msg", "detail", "error_message", "error_msg"} {
		inner, ok := parseFault(object[key])
		if !ok {
			continue
		}
		f.message = inner.message
		f.code, f.typ, f.param = pick(inner.code, f.code), pick(inner.typ, f.typ), pick(inner.param, f.param)
		return f, true
	}
	if inner := object["error"]; len(inner) > 2 && inner[0] == '{' { // an object without a message
		f.message = string(inner)
		return f, true
	}
	return f, false
}

func first(object map[string]json.RawMessage, keys ...string) json.RawMessage {
	for _, k := range keys {
		if v, ok := object[k]; ok {
			return v
		}
	}
	return nil
}

func pick(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// scalar is a JSON string or number as text; "" for anything else.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// pageTitle is the title of an HTML page, or the text itself.
func pageTitle(body []byte) string {
	s := string(body)
	lower := strings.ToLower(s)
	if len(lower) != len(s) || !strings.Contains(lower, "<html") {
		return s
	}
	from := strings.Index(lower, "<title>")
	to := strings.Index(lower, "</title>")
	if from < 0 || to < from {
		return s
	}
	return s[from+len("<title>") : to]
}

// callError is a call that got no usable answer: the network failed, or the
// answer was not what it must be.
type callError struct {
	url string
	msg string // without secrets
	err error  // for errors.Is
}

func (e *callError) Error() string { return e.url + ": " + e.msg }
func (e *callError) Unwrap() error { return e.err }

// Endpoint implements [model.EndpointError].
func (e *callError) Endpoint() string { return e.url }

// Hint is what to try next; "" where nothing is likely.
func (e *callError) Hint() string {
	var dns *net.DNSError
	if errors.Is(e.err, errRefused) || errors.As(e.err, &dns) {
		return "is the server running, and is the base URL right?"
	}
	return ""
}

// fail makes a callError for an answer that does not hold what was asked for.
func (c *client) fail(call URL, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &callError{call.String(), c.redact.quote(err.Error()), errors.Unwrap(err)}
}
