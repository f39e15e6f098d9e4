package connect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// DefaultProject is the project of commands that name none. Commands that store documents make it as needed.
const DefaultProject = "default"

// MakeDefaultProject makes the project, and tells so on notes. The answered function removes it again. The server refuses that
// once the project has documents, or somebody has changed it.
func MakeDefaultProject(ctx context.Context, api *client.Client, notes io.Writer) (remove func(), err error) {
	project := []byte(`{"metadata":{"name":"` + DefaultProject + `"},"spec":{}}`)
	made, err := api.Do(ctx, http.MethodPost, "projects", bytes.NewReader(project), nil)
	if err != nil {
		return nil, fmt.Errorf("project %q does not exist and could not be made; name another project: %w", DefaultProject, err)
	}
	terminal.Printf(notes, "created project %q\n", DefaultProject)
	return func() {
		same := http.Header{"If-Match": made.Header["Etag"]}
		if _, err := api.Do(context.WithoutCancel(ctx), http.MethodDelete, "projects/"+DefaultProject, nil, same); err == nil {
			terminal.Printf(notes, "removed project %q, because it is empty\n", DefaultProject)
		}
	}, nil
}
