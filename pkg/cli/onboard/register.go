package onboard

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// register stores the document of the cluster, and of its provider if there is none. Other
// settings of the cluster stay.
func register(ctx context.Context, p terminal.Program, api *client.Client, path intent.Path, uses []intent.ClusterUse, kubeconfig []byte) error {
	provider := path.Parent()
	doc, etag, err := read(ctx, api, path)
	if err != nil {
		return err
	}
	done := "updated"
	if doc.Spec == nil {
		if err := ensureProvider(ctx, p, api, provider); err != nil {
			return err
		}
		done, doc.Spec = "registered", map[string]any{}
		doc.Metadata = map[string]any{"name": path.Name()}
	}
	doc.Spec["uses"], doc.Spec["kubeconfig"] = uses, base64.StdEncoding.EncodeToString(kubeconfig)
	if err := write(ctx, api, path, doc, etag); err != nil {
		return err
	}
	terminal.Printf(p.Out, "%s %s for %s\n", done, path, words(uses))
	return nil
}

func words(uses []intent.ClusterUse) string {
	var all []string
	for _, use := range uses {
		all = append(all, string(use))
	}
	return strings.Join(all, ", ")
}

func ensureProvider(ctx context.Context, p terminal.Program, api *client.Client, path intent.Path) error {
	doc, _, err := read(ctx, api, path)
	if err != nil || doc.Spec != nil {
		return err
	}
	if err := write(ctx, api, path, resource{Metadata: map[string]any{"name": path.Name()}, Spec: map[string]any{}}, ""); err != nil {
		return err
	}
	terminal.Printf(p.Out, "created %s\n", path)
	return nil
}

// resource is a document with all of its fields, those of later versions too.
type resource struct {
	Metadata map[string]any `json:"metadata"`
	Spec     map[string]any `json:"spec"`
}

// read returns a document with its ETag; one without a spec if it does not exist.
func read(ctx context.Context, api *client.Client, path intent.Path) (doc resource, etag string, err error) {
	response, err := api.Do(ctx, http.MethodGet, string(path), nil, nil)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotFound {
		return doc, "", nil
	}
	if err != nil {
		return doc, "", err
	}
	if err := json.Unmarshal(response.Body, &doc); err != nil {
		return doc, "", err
	}
	if doc.Spec == nil {
		doc.Spec = map[string]any{}
	}
	return doc, response.Header.Get("ETag"), nil
}

// write creates a document, or replaces the one that had the ETag.
func write(ctx context.Context, api *client.Client, path intent.Path, doc resource, etag string) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	condition := http.Header{"If-None-Match": {"*"}}
	if etag != "" {
		condition = http.Header{"If-Match": {etag}}
	}
	_, err = api.Do(ctx, http.MethodPut, string(path), bytes.NewReader(body), condition)
	return err
}
