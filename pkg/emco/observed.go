package emco

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Observed is what EMCO's monitor has written of an app on a cluster: that
// which it saw last.
type Observed struct {
	App      string
	Cluster  string // "provider+cluster"
	Revision int64  // of the store, that wrote it
	Err      error  // why it cannot be read, else nil; nothing is known then

	services map[service]*address.Observation
}

type service struct{ namespace, name string }

// Service answers what a Service of the app offers: the ingress of its load balancer,
// which is all that the monitor keeps up to date. An object that is not among those that
// the monitor saw was seen to be absent. If it is nil, nothing is known.
func (o Observed) Service(namespace, name string) *address.Observation {
	if o.Err != nil {
		return nil
	}
	if seen := o.services[service{namespace, name}]; seen != nil {
		return seen
	}
	return &address.Observation{}
}

// Observed answers what the monitor saw of a context's apps, in the order of the context.
// It has nothing for an app and cluster that the monitor has not reported yet. The
// context need not have been read just now.
func (s *Store) Observed(ctx context.Context, c *Context) ([]Observed, error) {
	for {
		state, revision, err := s.kv.Get(ctx, contextKey(c.ID)+statusContextLevel)
		if err != nil {
			return nil, err
		}
		r := reading{id: c.ID}
		if state != nil {
			r.ofContext(statusContextLevel, *state)
		}
		known, err := r.state()
		if err != nil {
			return nil, err
		}
		seen, err := s.observedAt(ctx, c, known.StatusContext, revision)
		if !errors.Is(err, kv.ErrCompacted) {
			return seen, err
		}
	}
}

func (s *Store) observedAt(ctx context.Context, c *Context, statuses string, revision int64) ([]Observed, error) {
	var seen []Observed
	for _, app := range c.Apps {
		for _, on := range app.Clusters {
			take := func(_ string, item kv.Item) {
				seen = append(seen, observed(item, app.Name, on.Name, c.Meta.Namespace))
			}
			if err := s.each(ctx, revision, take, clusterKey(statuses, app.Name, on.Name), statusLevel); err != nil {
				return nil, err
			}
		}
	}
	return seen, nil
}

// bundleState is what matters of what the monitor writes.
type bundleState struct {
	ServiceStatuses []struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Status struct {
			LoadBalancer struct {
				Ingress []struct {
					IP       string `json:"ip"`
					Hostname string `json:"hostname"`
				} `json:"ingress"`
			} `json:"loadBalancer"`
		} `json:"status"`
	} `json:"serviceStatuses"`
}

func observed(item kv.Item, app, cluster, namespace string) Observed {
	o := Observed{App: app, Cluster: cluster, Revision: item.ModRevision, services: map[service]*address.Observation{}}
	var text string
	var state *bundleState
	if json.Unmarshal(item.Value, &text) != nil || json.Unmarshal([]byte(text), &state) != nil || state == nil {
		o.Err = fmt.Errorf("what the monitor says of app %s on %s cannot be read at %s", app, cluster, item.Key)
		return o
	}
	for _, one := range state.ServiceStatuses {
		at := service{cmp.Or(one.Metadata.Namespace, namespace), one.Metadata.Name}
		offers := &address.Observation{Found: true}
		for n, ingress := range one.Status.LoadBalancer.Ingress {
			if ingress.IP != "" {
				offers.Candidates = append(offers.Candidates, address.Candidate{Kind: address.LoadBalancer, Target: ingress.IP, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].ip", n)})
			}
			if ingress.Hostname != "" {
				offers.Candidates = append(offers.Candidates, address.Candidate{Kind: address.LoadBalancer, Target: ingress.Hostname, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].hostname", n)})
			}
		}
		o.services[at] = offers
	}
	return o
}
