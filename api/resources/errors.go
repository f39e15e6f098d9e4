package resources

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// AllErrors adds to the errors in a document's shape those in its content: the rest is
// judged without the fields that have no right shape. Nothing is stored.
func (h *Handlers) AllErrors(ctx context.Context, op *operation.Operation, c *operation.Call, sent operation.Received, cause error) error {
	var shape *intent.Error
	if !errors.As(cause, &shape) || len(shape.Fields) == 0 || !op.Stores() {
		return cause
	}
	object, body, ok := op.Without(sent, shape.Fields)
	if !ok {
		return cause
	}
	path := c.Path
	if op.Creates() {
		path = Created(c.Path, object)
	}
	old, err := h.Find(ctx, path)
	if err != nil {
		return cause
	}
	var more *intent.Error
	if _, err := h.Admitter.Admit(ctx, path, body, old); !errors.As(err, &more) {
		return cause
	}
	all := slices.Clone(shape.Fields)
	for _, field := range more.Fields {
		known := func(f intent.Field) bool {
			return field.Pointer == f.Pointer || strings.HasPrefix(field.Pointer, f.Pointer+"/")
		}
		if !slices.ContainsFunc(shape.Fields, known) {
			all = append(all, field)
		}
	}
	return jsonbody.Invalid(all)
}
