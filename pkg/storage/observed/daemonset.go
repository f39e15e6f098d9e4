package observed

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// DaemonSet is the state of the DNS pods of a DNS CR intent, or of another
// DaemonSet of ours.
type DaemonSet struct {
	Available bool      `json:"available"`
	Since     time.Time `json:"since"`             // UTC, of the last change of Available
	Message   string    `json:"message,omitempty"` // why it is not, that its pods are being replaced, and what keeps a pod from running
	Desired   int32     `json:"desired"`           // how many pods there are to be: one on each suitable node
	Ready     int32     `json:"ready"`             // how many are ready
	DNS       *DNS      `json:"dns,omitempty"`     // of DNS pods, once one was looked at
}

// DNS is what DNS pods tell of the nameservers that they forward queries to.
type DNS struct {
	Upstreams []Upstream `json:"upstreams,omitempty"` // those that were asked, ordered by address
	Unread    string     `json:"unread,omitempty"`    // why the others may be old: no pod is ready, or the metrics of one could not be read

	// Unsupported says that a nameserver did not know the EDNS0 option with search paths
	// when it was last sent one. If it is nil, none was sent, as far as is known.
	Unsupported *bool `json:"unsupported,omitempty"`
}

// Since is what is known after what was known before: what nothing new is known
// of stays. Either may be nil.
func (d *DNS) Since(before *DNS) *DNS {
	if d == nil || before == nil {
		return cmp.Or(d, before)
	}
	now := *d
	if now.Upstreams == nil {
		now.Upstreams = before.Upstreams
	}
	now.Unsupported = cmp.Or(now.Unsupported, before.Unsupported)
	return &now
}

// Upstream is one of these nameservers.
type Upstream struct {
	Address string    `json:"address"` // "IP:port"
	Failing bool      `json:"failing"` // health checks have failed between the last two looks at some pod
	Since   time.Time `json:"since"`   // UTC, of the last change of Failing
}

func daemonSetPrefix(cluster string) string { return clusterPrefix(cluster) + daemonSetFolder + "/" }

func daemonSetKey(cluster, namespace, name string) string {
	return daemonSetPrefix(cluster) + namespace + "/" + name
}

// DaemonSet answers the state of a DaemonSet, nil when it cannot be observed.
func (s *Store) DaemonSet(ctx context.Context, cluster, namespace, name string) (*DaemonSet, error) {
	return read[DaemonSet](ctx, s, daemonSetKey(cluster, namespace, name))
}

// DaemonSets lists the DaemonSets ("namespace/name") that have an observation,
// in order.
func (w *Writer) DaemonSets() []string {
	return w.below(daemonSetPrefix(w.cluster))
}

// DaemonSet is what was last written of a DaemonSet, the zero value for
// nothing.
func (w *Writer) DaemonSet(namespace, name string) DaemonSet {
	return last[DaemonSet](w, daemonSetKey(w.cluster, namespace, name))
}

// SetDaemonSet writes the state of a DaemonSet, if it changed. Since moves only
// when Available does, and an upstream's when Failing does.
func (w *Writer) SetDaemonSet(ctx context.Context, namespace, name string, d DaemonSet) error {
	before := w.DaemonSet(namespace, name)
	if before.Available == d.Available && !before.Since.IsZero() {
		d.Since = before.Since
	}
	if before.DNS != nil && d.DNS != nil {
		now := *d.DNS
		now.Upstreams = lasting(before.DNS.Upstreams, now.Upstreams)
		d.DNS = &now
	}
	return w.set(ctx, daemonSetKey(w.cluster, namespace, name), d)
}

// lasting are the upstreams, of which those that do as before do so since then.
func lasting(before, now []Upstream) []Upstream {
	out := slices.Clone(now)
	for i, u := range out {
		for _, was := range before {
			if was.Address == u.Address && was.Failing == u.Failing {
				out[i].Since = was.Since
			}
		}
	}
	return out
}

// RemoveDaemonSet forgets a DaemonSet that is none of ours any more.
func (w *Writer) RemoveDaemonSet(ctx context.Context, namespace, name string) error {
	return w.remove(ctx, daemonSetKey(w.cluster, namespace, name))
}
