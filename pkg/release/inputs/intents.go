package inputs

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// DNSCRIntent is a DNS CR intent with the path that errors about it name.
type DNSCRIntent struct {
	Path intent.Path
	Spec intent.DNSCRIntent
}

func (s *Reader) readDNSCRIntents(ctx context.Context, in *Inputs) error {
	docs, err := in.list(ctx, string(in.Owner.Path)+"/dns-cr-intents")
	if err != nil {
		return err
	}
	for _, doc := range docs {
		resource, err := note[intent.DNSCRIntent](in, doc)
		if err != nil {
			return err
		}
		in.DNSCRIntents = append(in.DNSCRIntents, DNSCRIntent{doc.Path, resource.Spec})
	}
	return nil
}

// podDNSIntent is a pod DNS intent with the path that errors about it name.
type podDNSIntent struct {
	Path intent.Path
	Spec intent.PodDNSIntent
}

func (s *Reader) readPodDNSIntents(ctx context.Context, in *Inputs, traffic intent.Path) error {
	docs, err := in.list(ctx, string(traffic)+"/pod-dns-intents")
	if err != nil {
		return err
	}
	for _, doc := range docs {
		resource, err := note[intent.PodDNSIntent](in, doc)
		if err != nil {
			return err
		}
		in.PodIntents = append(in.PodIntents, podDNSIntent{doc.Path, resource.Spec})
	}
	return nil
}

// DNSCRIntents are the DNS CR intents of a logical cloud, as they are written now.
func (s *Reader) DNSCRIntents(ctx context.Context, cloud intent.Path) ([]DNSCRIntent, error) {
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: string(cloud) + "/dns-cr-intents"})
	if err != nil {
		return nil, err
	}
	var out []DNSCRIntent
	for _, doc := range page.Items {
		resource, err := intent.Of[intent.DNSCRIntent](doc)
		if err != nil {
			return nil, err
		}
		out = append(out, DNSCRIntent{doc.Path, resource.Spec})
	}
	return out, nil
}
