package apply

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// request asks Signpost for what a document in emcoctl's form asks for, and
// answers what that did. Signpost needs no approval.
func (b batch) request(ctx context.Context, d document.Document) (string, error) {
	query := connect.Query{}
	switch d.Action {
	case "approve":
		return "unneeded", nil
	case "rollback":
		var body struct {
			Spec struct {
				Revision json.Number `json:"revision"` // a text, as EMCO has it, or a number
			} `json:"spec"`
		}
		if err := json.Unmarshal(d.Body, &body); err != nil {
			return "", errors.New("/spec/revision is not a release; the first release is 1")
		}
		query["to"] = body.Spec.Revision.String()
	}
	_, err := b.api.Do(ctx, http.MethodPost, query.Of(string(d.Path)), nil, nil)
	return "requested", err
}

// revoke takes back what a request asked for: it terminates what was
// instantiated, and waits for it, so that it can be deleted.
func (b batch) revoke(ctx context.Context, d document.Document) (string, error) {
	owner := d.Owner()
	var accepted client.Accepted
	if _, err := connect.Ask(ctx, b.api, http.MethodPost, string(owner)+"/"+string(intent.Terminate), nil, &accepted); err != nil {
		return "", err
	}
	if accepted.Revision == 0 {
		return "absent", nil // never deployed
	}
	watch := lifecycle.Waiter{API: b.api, Owner: owner, Poll: b.poll, Progress: b.err}
	return "terminated", watch.Until(ctx, lifecycle.GoalOf(intent.Terminate), accepted.Revision, longestWait)
}
