package inputs

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Intent is an intent with the path that errors about it name.
type Intent[Spec any] struct {
	Path intent.Path
	Spec Spec
}

// DNSIntent is an intent that gives names to the Services of an app.
type DNSIntent = Intent[intent.DNSIntent]

// DNSCRIntent is an intent for the DNS of a logical cloud.
type DNSCRIntent = Intent[intent.DNSCRIntent]

// IntentsOf are the group's intents of a kind that is for apps, ordered by path.
func IntentsOf[Spec any](in *Inputs, kind string) ([]Intent[Spec], error) {
	return decoded[Spec](in.intents[kind])
}

func decoded[Spec any](docs []intent.Document) ([]Intent[Spec], error) {
	var out []Intent[Spec]
	for _, doc := range docs {
		resource, err := intent.Of[Spec](doc)
		if err != nil {
			return nil, err
		}
		out = append(out, Intent[Spec]{doc.Path, resource.Spec})
	}
	return out, nil
}

// readIntents reads the intents of all kinds that are for apps.
func (s *Reader) readIntents(ctx context.Context, in *Inputs) error {
	groups, err := in.list(ctx, string(in.Owner.Path)+"/traffic-group-intents")
	if err != nil {
		return err
	}
	for _, group := range groups {
		if !in.Orchestration.counts(group.Path) {
			continue
		}
		for _, kind := range intent.Kinds() {
			if !kind.NamesApp {
				continue
			}
			docs, err := in.noted(ctx, string(group.Path)+"/"+kind.Collection())
			if err != nil {
				return err
			}
			in.intents[kind.One] = append(in.intents[kind.One], docs...)
		}
	}
	return nil
}

// asked are the names of the apps that intents are for.
func (in *Inputs) asked() (map[string]bool, error) {
	asked := map[string]bool{}
	for kind := range in.intents {
		intents, err := IntentsOf[struct{ App string }](in, kind)
		if err != nil {
			return nil, err
		}
		for _, i := range intents {
			asked[i.Spec.App] = true
		}
	}
	return asked, nil
}

func (s *Reader) readDNSCRIntents(ctx context.Context, in *Inputs) error {
	docs, err := in.noted(ctx, string(in.Owner.Path)+"/dns-cr-intents")
	if err != nil {
		return err
	}
	in.DNSCRIntents, err = decoded[intent.DNSCRIntent](docs)
	return err
}

// DNSCRIntents are the DNS CR intents of a logical cloud, as they are written now.
func (s *Reader) DNSCRIntents(ctx context.Context, cloud intent.Path) ([]DNSCRIntent, error) {
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: string(cloud) + "/dns-cr-intents"})
	if err != nil {
		return nil, err
	}
	return decoded[intent.DNSCRIntent](page.Items)
}
