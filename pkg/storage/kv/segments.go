package kv

import (
	"context"
	"strings"
)

// Segments answers what comes between prefix, which ends in a slash, and the
// next slash, in all keys below prefix: each once, in order. It reads one key
// of each.
func Segments(ctx context.Context, store KV, prefix string) ([]string, error) {
	var segments []string
	after := ""
	for {
		items, _, err := store.Range(ctx, Range{Prefix: prefix, After: after, Limit: 1, KeysOnly: true})
		if err != nil || len(items) == 0 {
			return segments, err
		}
		segment, _, _ := strings.Cut(strings.TrimPrefix(items[0].Key, prefix), "/")
		segments = append(segments, segment)
		after = prefix + segment + "/\xff"
	}
}
