// Command client lists the DNS update records of the project shop.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/signpost-dns/signpost/pkg/client"
)

func main() {
	if err := list(context.Background(), os.Getenv("SIGNPOST_SERVER"), os.Getenv("SIGNPOST_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func list(ctx context.Context, server, token string) error {
	signpost, err := client.New(server, client.Options{Token: token, Retries: 3})
	if err != nil {
		return err
	}
	page, err := signpost.ListDNSUpdateRecordsWithResponse(ctx, "shop", nil)
	var refused *client.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("the server refuses: %s", refused.Detail) // refused.Errors has each wrong field
	}
	if err != nil {
		return err
	}
	for _, record := range page.JSON200.Items {
		fmt.Println(record.Metadata.Name, record.Spec.Provider)
	}
	return nil
}
