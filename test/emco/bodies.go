package emco

import (
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"regexp"
)

// What EMCO's schema says of controllers. A registration with a port above it
// is refused; one that is put in place of another is not looked at.
const (
	maxControllerPort     = 50000
	maxControllerPriority = 100
)

// nameOf is the name of a document in its path.
func nameOf(value any) string {
	switch v := value.(type) {
	case *compositeApp:
		return v.Metadata.Name + "/" + v.Spec.Version
	case *clusterLabel:
		return v.Label
	default:
		return metadataOf(value).Name
	}
}

func metadataOf(value any) metadata {
	switch v := value.(type) {
	case *named:
		return v.Metadata
	case *compositeApp:
		return v.Metadata
	case *deploymentIntentGroup:
		return v.Metadata
	case *groupIntent:
		return v.Metadata
	case *appIntent:
		return v.Metadata
	case *controller:
		return v.Metadata
	case *logicalCloud:
		return v.Metadata
	case *clusterReference:
		return v.Metadata
	case *userPermission:
		return v.Metadata
	case *kvPairs:
		return v.Metadata
	case *cluster:
		return v.Metadata
	}
	return metadata{}
}

// complete judges a body and fills in defaults.
func complete(value any) error {
	switch v := value.(type) {
	case *clusterLabel:
		if v.Label == "" {
			return errors.New("Missing label name in POST request") //nolint:staticcheck // EMCO's words
		}
		return nil
	case *logicalCloud:
		if v.Spec.Level == "" {
			v.Spec.Level = levelUser
		}
	}
	name := metadataOf(value).Name
	if !regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`).MatchString(name) {
		return fmt.Errorf("Invalid Input:\nDoes not match pattern: %q", name) //nolint:staticcheck // EMCO's words
	}
	return nil
}

// judge holds a new controller against EMCO's schema.
func (s controllerSpec) judge() error {
	switch {
	case s.Port < 0, s.Port > maxControllerPort:
		return fmt.Errorf("Invalid Input:\nMust be less than or equal to %d", maxControllerPort) //nolint:staticcheck // EMCO's words
	case s.Priority < 0, s.Priority > maxControllerPriority:
		return fmt.Errorf("Invalid Input:\nMust be less than or equal to %d", maxControllerPriority) //nolint:staticcheck // EMCO's words
	}
	return nil
}

// answerWithFile answers a document that has a file in the form that the
// request accepts. One that does not say so is turned away.
func answerWithFile(w http.ResponseWriter, r *http.Request, found document) {
	accepted, _, err := mime.ParseMediaType(r.Header.Get("Accept"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotAcceptable)
		return
	}
	switch accepted {
	case "application/json":
		answer(w, http.StatusOK, found.value)
	case "application/octet-stream":
		w.Header().Set("Content-Type", accepted)
		_, _ = w.Write(found.file) // a client that has gone misses it
	case "multipart/form-data":
		answerForm(w, found)
	default:
		http.Error(w, "set Accept: multipart/form-data, application/json or application/octet-stream", http.StatusMultipleChoices)
	}
}

func answerForm(w http.ResponseWriter, found document) {
	form := multipart.NewWriter(w)
	w.Header().Set("Content-Type", form.FormDataContentType())
	part := func(kind, disposition string) (write func([]byte)) {
		to, err := form.CreatePart(textproto.MIMEHeader{
			"Content-Type": {kind}, "Content-Disposition": {"form-data; " + disposition},
		})
		return func(content []byte) {
			if err == nil {
				_, _ = to.Write(content) // a client that has gone misses it
			}
		}
	}
	part("application/json", "name=metadata")(marshal(found.value))
	part("application/octet-stream", "name=file; filename=file")(found.file)
	_ = form.Close() // as above
}
