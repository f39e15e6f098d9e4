package documents

import (
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// wire is a document as EMCO answers it. It leaves no field out: what was not
// given is an empty text.
type wire[Spec any] struct {
	Metadata wireMetadata `json:"metadata"`
	Spec     Spec         `json:"spec"`
}

type wireMetadata struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	UserData1   string `json:"userData1"`
	UserData2   string `json:"userData2"`
}

// document is what Signpost makes of it.
func (m wireMetadata) document(spec any) (name string, body []byte, err error) {
	body, err = json.Marshal(intent.Resource[any]{
		Metadata: intent.Metadata{Name: m.Name, Description: m.Description, UserData1: m.UserData1, UserData2: m.UserData2},
		Spec:     spec,
	})
	return m.Name, body, err
}

type wireCompositeApp struct {
	CompositeAppVersion string `json:"compositeAppVersion"`
}

type wireGroup struct {
	LogicalCloud string `json:"logicalCloud"`
}

// wireCloud is a logical cloud. Its level is "1" if it has a namespace and a user of its
// own, and "0" if it is the clusters as they are.
type wireCloud struct {
	Namespace string `json:"namespace"`
	Level     string `json:"level"`
}

// privileged is the level of a logical cloud whose apps run in namespace default, even if
// its document names another one.
const privileged = "0"

func (c wireCloud) namespace(name string) string {
	switch {
	case c.Level == privileged:
		return "default"
	case c.Namespace == "":
		return name
	}
	return c.Namespace
}

type wireCluster struct {
	GitOps struct {
		Type string `json:"gitOpsType"`
	} `json:"gitOps"`
}

// wireLabel is a plain word; it has no value.
type wireLabel struct {
	Label string `json:"clusterLabel"`
}

// nothing is the spec of a document that has none that matters here.
type nothing struct{}
