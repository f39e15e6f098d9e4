package emco

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// Emcoctl sends files to services as EMCO's command line does: each document
// to the service that its anchor leads to.
type Emcoctl struct {
	Orchestrator, DCM, CLM string // base URLs, without "/v2"
	// DTC has the traffic group intents: the controller's own URL.
	DTC string
}

// Emcoctl is configured for this world, and for a controller at a URL.
func (w *World) Emcoctl(controller string) Emcoctl {
	return Emcoctl{Orchestrator: w.Orchestrator.URL, DCM: w.DCM.URL, CLM: w.CLM.URL, DTC: controller}
}

// resource is one document of a file, by its keys. Those with a capital are
// others, which get lost.
type resource map[string]json.RawMessage

func (r resource) anchor() string {
	var to struct{ Anchor string }
	_ = json.Unmarshal(r["resourceContext"], &to) // without one the anchor is empty
	return to.Anchor
}

// Apply posts every document of a YAML stream in its order. The first that is
// refused ends it.
func (e Emcoctl) Apply(ctx context.Context, stream string) error {
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(stream)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var r resource
		if err := yaml.Unmarshal(text, &r); err != nil {
			return err
		}
		if len(r) == 0 { // nothing but comments
			continue
		}
		if err := e.post(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.anchor(), err)
		}
	}
}

// route finds the service of an anchor. What emcoctl does not know goes
// nowhere, so "project/…" cannot be reached by it.
func (e Emcoctl) route(anchor string) (string, error) {
	segments := strings.Split(anchor, "/")
	at := func(i int, names ...string) bool { return len(segments) > i && slices.Contains(names, segments[i]) }
	switch {
	case at(0, "cluster-providers", "clm-controllers"):
		return e.CLM, nil
	case at(0, "controllers"):
		return e.Orchestrator, nil
	case at(0, "dtc-controllers"):
		return e.DTC, nil
	case !at(0, "projects"):
		return "", errors.New("emcoctl knows no service for it")
	case at(2, "logical-clouds"):
		return e.DCM, nil
	case at(digSegments, "traffic-group-intents"):
		return e.DTC, nil
	default:
		return e.Orchestrator, nil
	}
}

// digSegments are those of an anchor before what is below a deployment intent
// group.
const digSegments = 7

func (e Emcoctl) post(ctx context.Context, r resource) error {
	base, err := e.route(r.anchor())
	if err != nil {
		return err
	}
	body, kind, err := r.body()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v2/"+r.anchor(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(text)))
	}
	return err
}

// body is what emcoctl makes of a document: metadata is there even if it is
// empty, and a file makes it a form.
func (r resource) body() (body []byte, kind string, err error) {
	parts := map[string]json.RawMessage{"metadata": json.RawMessage(`{"name":""}`)}
	for _, key := range []string{"metadata", "spec", "clusterLabel"} {
		if value, exists := r[key]; exists {
			parts[key] = value
		}
	}
	var file string
	if err := json.Unmarshal(r["file"], &file); len(r["file"]) > 0 && err != nil {
		return nil, "", fmt.Errorf("file: %w", err)
	}
	body, err = json.Marshal(parts)
	if err != nil || file == "" {
		return body, "application/json", err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile("file", "filename")
	if err == nil {
		_, err = part.Write(content)
	}
	err = errors.Join(err, writer.WriteField("metadata", string(body)), writer.Close())
	return form.Bytes(), writer.FormDataContentType(), err
}
