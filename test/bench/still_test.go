package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// newStill has one record, which writes leave as it is.
func newStill(b *testing.B) *records {
	b.Helper()
	documents := etcd.New(kvtest.NewFake())
	write(b, documents, shop())
	doc, err := documents.Get(b.Context(), "projects/shop/dns-update-records/lab")
	require.NoError(b, err)
	view, err := admission.New(documents, review.Rules{}).View(b.Context(), doc)
	require.NoError(b, err)
	return &records{documents: stillStore{doc: doc}, admitter: stillAdmitter{doc, view}, lifecycle: lifecycle{still: true}}
}

type stillStore struct {
	intent.Store
	doc intent.Document
}

func (s stillStore) Get(context.Context, intent.Path) (intent.Document, error) { return s.doc, nil }

// stillAdmitter implements api.Admitter.
type stillAdmitter struct {
	doc  intent.Document
	view review.View
}

func (stillAdmitter) Admit(context.Context, intent.Path, []byte, *intent.Document) (*review.Write, error) {
	return &review.Write{}, nil
}

func (a stillAdmitter) Put(context.Context, *review.Write) (intent.Document, error) {
	return a.doc, nil
}

func (stillAdmitter) Delete(context.Context, intent.Path, intent.Condition) error { return nil }

func (a stillAdmitter) View(context.Context, intent.Document) (review.View, error) {
	return a.view, nil
}

func (a stillAdmitter) Views(context.Context, []intent.Document) ([]review.View, error) {
	return []review.View{a.view}, nil
}

func (stillAdmitter) PreviewPodDNS(context.Context, intent.Path, []byte) (resolvconf.Preview, error) {
	return resolvconf.Preview{}, nil
}
