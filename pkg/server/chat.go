package server

import (
	"net/http"
	"time"

	"kb/pkg/record"
	"kb/pkg/session"
)

// chat answers a question that may refer to those of its session before.
func (s *server) chat(w http.ResponseWriter, r *http.Request) error {
	return s.reply(w, r, true, s.whole)
}

func (s *server) chatStream(w http.ResponseWriter, r *http.Request) error {
	return s.reply(w, r, true, s.stream)
}

type turnBody struct {
	Question   string           `json:"question"`
	Standalone string           `json:"standalone,omitempty"`
	Answer     string           `json:"answer"`
	Refused    bool             `json:"refused"`
	Citations  []record.Passage `json:"citations"` // without their texts
	Claims     []record.Claim   `json:"claims"`
	Time       time.Time        `json:"time"`
}

func (s *server) history(w http.ResponseWriter, r *http.Request) error {
	name, err := sessionName(r)
	if err != nil {
		return err
	}
	turns, err := s.Sessions.Turns(r.Context(), name)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return failf(http.StatusNotFound, "there is no session %q, or it was forgotten", name)
	}
	body := struct {
		Session string     `json:"session"`
		Turns   []turnBody `json:"turns"`
	}{name, make([]turnBody, len(turns))}
	for i, t := range turns {
		b := turnBody{t.Question, t.Standalone, t.Answer, t.Refused, []record.Passage{}, append([]record.Claim{}, t.Claims...), t.Time}
		for _, p := range t.Citations {
			if p.Headings == nil {
				p.Headings = []string{}
			}
			b.Citations = append(b.Citations, p)
		}
		body.Turns[i] = b
	}
	return respond(w, http.StatusOK, body)
}

func (s *server) forget(w http.ResponseWriter, r *http.Request) error {
	name, err := sessionName(r)
	if err != nil {
		return err
	}
	if err := s.Sessions.Delete(r.Context(), name); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func sessionName(r *http.Request) (string, error) {
	name := r.PathValue("session")
	if err := session.CheckName(name); err != nil {
		return "", failf(http.StatusBadRequest, "%v", err)
	}
	return name, nil
}
