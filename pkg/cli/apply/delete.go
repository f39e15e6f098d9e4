package apply

import (
	"context"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// DeleteCommand makes `signpost delete`.
func DeleteCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var from document.Source
	cmd := &cobra.Command{
		Use:   "delete PATH | -f FILE",
		Short: "Delete documents",
		Long: `Deletes the document at a path below /v2, or every document of the files in the reverse
of the order of apply. With -f, a document that is already gone is no error. Nothing is
deleted while a group among the documents is deployed, or other documents refer to one
of them.`,
		Example: "  signpost delete projects/shop/dns-update-records/lab\n  signpost delete -f examples/quickstart",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(from.Files) > 0 == (len(args) > 0) || len(args) > 1 {
				return terminal.Usagef("takes one path, or files by -f")
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return deleteOne(cmd.Context(), p, api, args[0])
			}
			documents, err := from.Read(p.In, server.Timeout)
			if err != nil {
				return err
			}
			if err := refuseInUse(cmd.Context(), api, documents); err != nil {
				return err
			}
			documents = slices.DeleteFunc(documents, isPast)
			document.Order(documents)
			slices.Reverse(documents)
			return batch{api: api, poll: p.Poll, out: p.Out, err: p.Err}.run(cmd.Context(), documents, remove)
		},
	}
	from.Flags(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompletePath
	return cmd
}

func deleteOne(ctx context.Context, p terminal.Program, api *client.Client, text string) error {
	path, err := document.AnyPath(text)
	if err != nil {
		return err
	}
	if err := deletePath(ctx, api, path); err != nil {
		return connect.OrCluster(text, path, err)
	}
	terminal.Printf(p.Out, "deleted %s\n", path)
	return nil
}

// isPast tells whether a document is a request that leaves nothing to take back.
func isPast(d document.Document) bool { return d.Action != "" && d.Action != "instantiate" }

// remove deletes one document of a file and answers what that did.
func remove(ctx context.Context, b batch, d document.Document) (string, error) {
	switch {
	case d.Service != nil:
		return removeAt(ctx, d.Service, b, d)
	case d.Action != "":
		return b.revoke(ctx, d)
	}
	err := deletePath(ctx, b.api, d.Path)
	if hasStatus(err, http.StatusNotFound) {
		return "absent", nil
	}
	return "deleted", err
}

func deletePath(ctx context.Context, api *client.Client, path intent.Path) error {
	_, err := api.Do(ctx, http.MethodDelete, string(path), nil, nil)
	return err
}
