package externaldns

import (
	"cmp"
	"slices"
)

// Parameters are the external-dns-parameters of a record as decoded from JSON:
// string, bool, json.Number or float64, nil, and lists of those. A scalar is
// accepted for a list, nil and empty text are absent.
type Parameters map[string]any

// Record is what the flags of a DNS update record follow from.
type Record struct {
	// Provider is a name of external-dns' --provider, see [KnownProvider].
	Provider string
	// Parameters are what the user gave.
	Parameters Parameters
	// Environment names the variables that the record's environment and
	// credentials set, without values.
	Environment []string
	// Files are the paths of the files that the record's credentials give.
	Files []string
	// WebhookPort is where the record's webhook sidecar listens; zero without one.
	WebhookPort int
	// Pace is used where the parameters do not say how often it looks, see [PaceOf].
	Pace Pace
	// AllowUnownedDeletion consents to registry noop with policy sync.
	AllowUnownedDeletion bool
}

// Check judges a record without rendering it. Errors make a write fail: what is
// unknown, belongs to another provider, or does not parse as its flag's kind.
// Warnings are stored: what is odd, has no effect, or cannot work (the latter
// are errors of [Compile], too). All findings come at once, in stable order, and
// none quotes a secret. An unknown provider is no finding; its record may hold
// general parameters.
func Check(record Record) (errors, warnings []Finding) {
	r := understand(record)
	return inOrder(r.refused), inOrder(append(r.odd, r.stuck...))
}

// CheckFor is [Check] for the release that will run, zero for [DefaultVersion]:
// what it lacks is among the warnings.
func CheckFor(version Version, record Record) (errors, warnings []Finding) {
	r := understand(record)
	options := Options{Record: record, Version: cmp.Or(version, DefaultVersion)}
	return inOrder(r.refused), inOrder(slices.Concat(r.odd, r.stuck, options.unfit(r)))
}
