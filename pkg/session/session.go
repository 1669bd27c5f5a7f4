// Package session remembers conversations: what was asked, and what was
// answered, so that a follow-up question can be understood. A session is
// known by its name; it is forgotten some time after its last turn. The three
// stores are this process ([Memory]), files of the user ([Dir]) and Redis,
// where several processes share them ([Redis]).
//
// Package sessiontest holds the conformance suite.
package session

import (
	"context"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"kb/pkg/record"
)

const (
	// Keep is how many turns of a session are remembered.
	Keep = 50
	// Recent is how many of them a follow-up question is understood by.
	Recent = 6
	// DefaultTTL is how long after its last turn a session is forgotten.
	DefaultTTL = 24 * time.Hour
)

// Turn is one question and its answer.
type Turn struct {
	Question   string           `json:"question"`
	Standalone string           `json:"standalone,omitempty"` // the question as it was searched, where it differs
	Answer     string           `json:"answer"`
	Refused    bool             `json:"refused,omitempty"`
	Citations  []record.Passage `json:"citations,omitempty"` // without their texts
	Claims     []record.Claim   `json:"claims,omitempty"`
	Time       time.Time        `json:"time"`
}

// Asked is the question as it stands alone.
func (t Turn) Asked() string {
	if t.Standalone != "" {
		return t.Standalone
	}
	return t.Question
}

// Store keeps sessions. Implementations are safe for many goroutines, and
// those that processes share for many processes: no turn is lost when two
// append at once.
type Store interface {
	// Turns returns the last [Keep] turns, oldest first; none for a session
	// that is not known or forgotten.
	Turns(ctx context.Context, name string) ([]Turn, error)
	// Append adds a turn, and begins the session where there is none.
	Append(ctx context.Context, name string, t Turn) error
	// Delete forgets a session; one that is not known is no error.
	Delete(ctx context.Context, name string) error
}

// maxName is the greatest length of a session's name, in characters.
const maxName = 64

// CheckName says what is wrong with the name of a session: it takes letters,
// digits and . _ - : only.
func CheckName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > maxName {
		return fmt.Errorf("the name of a session has 1 to %d characters", maxName)
	}
	for _, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r), r == '.', r == '_', r == '-', r == ':':
		default:
			return fmt.Errorf("the name of a session may not hold %q: letters, digits and . _ - : only", r)
		}
	}
	return nil
}

func last(turns []Turn) []Turn { return turns[max(0, len(turns)-Keep):] }
