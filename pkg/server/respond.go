package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"kb/pkg/answer"
	"kb/pkg/index"
	"kb/pkg/live"
	"kb/pkg/model"
	"kb/pkg/record"
	"kb/pkg/search"
	"kb/pkg/store"
)

// internal is all that a client is told of an error that is not about its
// request.
const internal = "something went wrong here; the log has more under the request's id"

// fault is an error as clients see it.
type fault struct {
	status  int
	message string
	retry   time.Duration  // when to try again; 0: not said
	answer  *record.Answer // what there is of one
	cause   error
}

func (f *fault) Error() string {
	if f.cause != nil {
		return f.cause.Error()
	}
	return f.message
}

func (f *fault) Unwrap() error { return f.cause }

func failf(status int, format string, args ...any) *fault {
	return &fault{status: status, message: fmt.Sprintf(format, args...)}
}

// code is the word for a status.
func code(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "bad_request"
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusMethodNotAllowed:
		return "method_not_allowed"
	case http.StatusConflict:
		return "conflict"
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnsupportedMediaType:
		return "unsupported_type"
	case http.StatusUnprocessableEntity:
		return "unprocessable"
	case http.StatusTooManyRequests:
		return "rate_limited"
	case http.StatusBadGateway:
		return "upstream"
	case http.StatusServiceUnavailable:
		return "unavailable"
	}
	return "internal"
}

// failure says how an error of any package is answered.
func failure(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	f = &fault{status: status(err), cause: err, message: err.Error()}
	if hint := hint(err); hint != "" {
		f.message += " (" + hint + ")"
	}
	switch {
	case f.status == http.StatusInternalServerError:
		f.message = internal
	case errors.Is(err, live.ErrFolder):
		f.message = live.ErrFolder.Error()
	}
	return f
}

func status(err error) int {
	var (
		endpoint model.EndpointError
		mismatch *search.MismatchError
		built    *index.MismatchError
		emptied  *index.EmptyRootError
		rejected *live.RejectedError
		name     *live.NameError
	)
	switch {
	case errors.Is(err, search.ErrEmpty), errors.As(err, &name):
		return http.StatusBadRequest
	case errors.Is(err, live.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, live.ErrConflict), errors.Is(err, store.ErrLocked), errors.As(err, &built), errors.As(err, &emptied):
		return http.StatusConflict
	case errors.Is(err, live.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, live.ErrType):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, search.ErrNoVectors), errors.Is(err, answer.ErrUnsupported), errors.As(err, &rejected):
		return http.StatusUnprocessableEntity
	case errors.As(err, &endpoint), errors.Is(err, answer.ErrIncomplete):
		return http.StatusBadGateway
	case errors.As(err, &mismatch), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrNewer), errors.Is(err, live.ErrFolder):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// hint is the next step that an error knows; those about commands are for the
// one who runs the server.
func hint(err error) string {
	var own interface{ Hint() string }
	if errors.As(err, &own) {
		return own.Hint()
	}
	return ""
}

// body is the error as JSON, without the braces around it.
func (f *fault) body() []byte {
	type inner struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	b, _ := json.Marshal(inner{code(f.status), f.message})
	return b
}

func (f *fault) write(w http.ResponseWriter) {
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.retry+time.Second-1)/time.Second)))
	}
	body := append([]byte(`{"error":`), f.body()...)
	if f.answer != nil {
		if a, err := record.Append(nil, f.answer); err == nil {
			body = append(append(body, `,"answer":`...), a...)
		}
	}
	writeBody(w, f.status, append(body, '}'))
}

// respond writes a value as JSON.
func respond(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	writeBody(w, status, body)
	return nil
}

// writeBody writes a JSON body. That the client does not take it is its affair.
func writeBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
