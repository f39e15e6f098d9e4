package document

import (
	"fmt"

	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// sendTo is the document with the service that keeps it. A document in Signpost's form
// goes to Signpost. EMCO's known services get their documents in emcoctl's form. It fails
// if only EMCO has the document and its service is not known.
func sendTo(e *emco.Services, d Document) (Document, error) {
	if !d.Emcoctl {
		return d, nil
	}
	service, collection := e.Keeper(d.Path), Kind(d.Owner())
	kind, ours := kindOf(intent.Path(collection))
	if !kind.Signposts && service.URL != "" {
		d.Service = service
		return d, nil
	}
	what := collection
	if d.Action != "" {
		what = d.Action
	}
	switch {
	case !ours, d.Action == "migrate", d.Action == "stop":
		return d, fmt.Errorf("%s (%s): only EMCO has %s; give EMCO's URL with --%s%s", d, d.Path, what, service.Flag, emco.Instead(what))
	case len(d.Uploads) > 0:
		return d.withKubeconfig()
	}
	return d, nil
}
