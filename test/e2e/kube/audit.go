package kube

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
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
	var writes []Write
	err := s.eachEvent(user, func(event auditEvent) {
		if !event.reads() {
			writes = append(writes, event.write())
		}
	})
	return writes, err
}

// Used are the rights that Signpost has used so far, or has handed out by a Role, which
// nobody can do who lacks them.
func (s *Server) Used() (map[rights.Right]bool, error) {
	used := map[rights.Right]bool{}
	err := s.eachEvent(Signpost, func(event auditEvent) {
		if event.ResponseStatus.Code == http.StatusForbidden || event.ResponseStatus.Code == http.StatusUnauthorized {
			return
		}
		right := rights.Right{Verb: event.Verb, Group: event.ObjectRef.APIGroup, Resource: event.write().Resource}
		used[right] = true
		if event.Verb == "patch" && event.ResponseStatus.Code == http.StatusCreated { // server-side apply of a new object takes both rights
			right.Verb = "create"
			used[right] = true
		}
		for _, rule := range event.RequestObject.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						used[rights.Right{Verb: verb, Group: group, Resource: resource}] = true
					}
				}
			}
		}
	})
	return used, err
}

// eachEvent visits the audit log's requests of a user.
func (s *Server) eachEvent(user string, visit func(auditEvent)) error {
	file, err := os.Open(s.file("audit.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditEvent
		// A server that was killed may leave half a line.
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.User.Username == user {
			visit(event)
		}
	}
	return lines.Err()
}

// auditEvent is what matters here of a line of the audit log.
type auditEvent struct {
	Verb string
	User struct{ Username string }

	ObjectRef      struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	RequestObject  struct{ Rules []rbacv1.PolicyRule }
	ResponseStatus struct{ Code int }
	UserAgent      string

	RequestReceivedTimestamp time.Time
}

func (e auditEvent) reads() bool { return e.Verb == "get" || e.Verb == "list" || e.Verb == "watch" }

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
