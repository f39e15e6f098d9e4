package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// DefaultProject is the project of commands that name none. To apply documents of it makes it as needed.
const DefaultProject = "default"

// DefaultProjectDocument is the document of the default project, as a command makes it.
const DefaultProjectDocument = `{"metadata":{"name":"` + DefaultProject + `"},"spec":{}}`

// ProjectFlag adds --project. Its default is SIGNPOST_PROJECT, else the default project.
func ProjectFlag(flags *pflag.FlagSet, project *string, usage string) {
	flags.StringVar(project, "project", "", usage+" (SIGNPOST_PROJECT; default \""+DefaultProject+"\")")
}

// Project is the project of a command: that of the flag, else of the environment, else the default one.
func Project(flag string) string {
	return cmp.Or(flag, os.Getenv("SIGNPOST_PROJECT"), DefaultProject)
}

// MakeDefaultProject makes the project, and tells so on notes. The answered function removes it again. The server refuses that
// once the project has documents, or somebody has changed it.
func MakeDefaultProject(ctx context.Context, api *client.Client, notes io.Writer) (remove func(), err error) {
	made, err := api.Do(ctx, http.MethodPost, "projects", strings.NewReader(DefaultProjectDocument), nil)
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

// IsMissing tells whether the server does not have what was asked for.
func IsMissing(err error) bool {
	problem, is := errors.AsType[*client.Error](err)
	return is && problem.Status == http.StatusNotFound
}

// InProject adds to a refusal where a host name is published, if the project does not have it.
func InProject(ctx context.Context, api *client.Client, project, host string, err error) error {
	problem, is := errors.AsType[*client.Error](err)
	if !is || problem.Status != http.StatusNotFound {
		return err
	}
	var found client.FoundNamePage
	if _, unknown := Ask(ctx, api, http.MethodGet, Query{"name": host, "limit": "10"}.Of("names"), nil, &found); unknown == nil {
		for _, name := range found.Items {
			switch owner := intent.Path(name.Owner); {
			case !intent.IsName(owner):
				problem.Detail += fmt.Sprintf("; %s publishes %s, so change its DNS intents", document.ShortOwner(owner), host)
				return err
			case name.Project != project:
				problem.Detail += fmt.Sprintf("; it is a name of project %q, so add --project %s", name.Project, name.Project)
				return err
			}
		}
	}
	return OfProject(project, err)
}

// OtherProjects has a refusal say which projects there are, if it is about the default project, which does not exist.
func OtherProjects(ctx context.Context, api *client.Client, project string, err error) error {
	problem, is := errors.AsType[*client.Error](err)
	if !is || problem.Status != http.StatusNotFound || project != DefaultProject {
		return err
	}
	const few = 5
	var page client.ProjectList
	if _, unknown := Ask(ctx, api, http.MethodGet, Query{"limit": strconv.Itoa(few)}.Of("projects"), nil, &page); unknown != nil || len(page.Items) == 0 {
		return err
	}
	var names []string
	for _, other := range page.Items {
		names = append(names, other.Metadata.Name)
	}
	if page.Continue != "" {
		names = append(names, "...")
	}
	problem.Detail = fmt.Sprintf("project %q does not exist; give another one by --project or SIGNPOST_PROJECT: %s", project, strings.Join(names, ", "))
	return err
}

// OfProject adds to a refusal what to do if the default project was asked and does not have it.
func OfProject(project string, err error) error {
	problem, is := errors.AsType[*client.Error](err)
	if is && project == DefaultProject && problem.Status == http.StatusNotFound {
		problem.Detail += "; give its project by --project or SIGNPOST_PROJECT"
	}
	return err
}
