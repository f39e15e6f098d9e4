package kube

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Write is one write that a server answered.
type Write struct {
	User      string
	Verb      string // create, update, patch, delete
	Resource  string // plural, with "/status" and the like
	Namespace string
	Name      string
	Code      int       // of the answer
	Agent     string    // how the writer calls itself
	At        time.Time // when the server got it
}

// Writes lists the writes of a user so far, in order, dry runs included.
func (s *Server) Writes(user string) ([]Write, error) {
	file, err := os.Open(s.file("audit.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var writes []Write
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditEvent
		// A server that was killed may leave half a line.
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.User.Username == user {
			writes = append(writes, event.write())
		}
	}
	return writes, lines.Err()
}

// auditEvent is what matters here of a line of the audit log.
type auditEvent struct {
	Verb string
	User struct{ Username string }

	ObjectRef      struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus struct{ Code int }
	UserAgent      string

	RequestReceivedTimestamp time.Time
}

func (e auditEvent) write() Write {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return Write{
		User: e.User.Username, Verb: e.Verb, Resource: resource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name, Code: e.ResponseStatus.Code,
		Agent: e.UserAgent, At: e.RequestReceivedTimestamp,
	}
}
