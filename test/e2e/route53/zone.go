package route53

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Set is a resource record set.
type Set struct {
	Name          string
	Type          string
	SetIdentifier string    `xml:",omitempty"`
	Weight        *int64    `xml:",omitempty"`
	Region        string    `xml:",omitempty"`
	GeoLocation   *Location `xml:",omitempty"`
	TTL           int64     `xml:",omitempty"`
	Records       []Record  `xml:"ResourceRecords>ResourceRecord"`
}

// Location is whose clients a set answers.
type Location struct {
	ContinentCode   string `xml:",omitempty"`
	CountryCode     string `xml:",omitempty"`
	SubdivisionCode string `xml:",omitempty"`
}

func (l Location) String() string {
	return strings.Trim(l.ContinentCode+"/"+l.CountryCode+"/"+l.SubdivisionCode, "/")
}

// policy is what tells which clients a set answers, empty for all; the value is that of
// the policy.
func (s Set) policy() (name, value string) {
	switch {
	case s.Weight != nil:
		return "weight", strconv.FormatInt(*s.Weight, 10)
	case s.Region != "":
		return "region", s.Region
	case s.GeoLocation != nil:
		return "location", s.GeoLocation.String()
	}
	return "", ""
}

// Record is one of the records of a set.
type Record struct{ Value string }

// values are those of the set's records, ordered, for their order means nothing.
func (s Set) values() []string {
	var out []string
	for _, record := range s.Records {
		out = append(out, record.Value)
	}
	slices.Sort(out)
	return out
}

// String is the set as tests compare it.
func (s Set) String() string {
	policy, value := s.policy()
	if policy == "" {
		return strings.Join(s.values(), " ")
	}
	return fmt.Sprintf("%s %s %s", s.SetIdentifier, value, strings.Join(s.values(), " "))
}

func (s Set) key() key { return key{s.Name, s.Type, s.SetIdentifier} }

type key struct{ name, kind, id string }

func (k key) String() string {
	return fmt.Sprintf("[name='%s', type='%s', set identifier='%s']", k.name, k.kind, k.id)
}

// change is one of a batch.
type change struct {
	Action string
	Set    Set `xml:"ResourceRecordSet"`
}

// zone is what a hosted zone holds.
type zone map[key]Set

// fqdn is a name as the API writes it.
func fqdn(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.ToLower(name), ".")+".", "*", `\052`)
}

// all are the sets, ordered.
func (z zone) all() []Set {
	return slices.SortedFunc(maps.Values(z), func(a, b Set) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type), cmp.Compare(a.SetIdentifier, b.SetIdentifier))
	})
}

// of are the sets of a name and type, ordered.
func (z zone) of(name, kind string) []Set {
	return slices.DeleteFunc(z.all(), func(s Set) bool { return s.Name != name || s.Type != kind })
}

// has tells whether there is anything of a name.
func (z zone) has(name string) bool {
	for at := range z {
		if at.name == name {
			return true
		}
	}
	return false
}

func (z zone) names() []string {
	var out []string
	for _, set := range z.all() {
		out = append(out, set.Name+" "+set.Type)
	}
	return slices.Compact(out)
}

// draw chooses a set of a name and type by weight; sets of weight 0 are chosen
// where there are no others.
func (z zone) draw(name, kind string) (Set, bool) {
	sets := z.of(name, kind)
	total := int64(0)
	for _, set := range sets {
		if set.Weight != nil {
			total += *set.Weight
		}
	}
	if total == 0 {
		if len(sets) == 0 {
			return Set{}, false
		}
		return sets[rand.IntN(len(sets))], true
	}
	n := rand.Int64N(total)
	for _, set := range sets {
		if n -= *set.Weight; n < 0 {
			return set, true
		}
	}
	return Set{}, false
}

// changed is the zone after a batch, which is taken whole or not at all.
func (z zone) changed(batch []change) (zone, error) {
	after := maps.Clone(z)
	for _, action := range []string{"DELETE", "UPSERT", "CREATE"} {
		for _, c := range batch {
			if c.Action != action {
				continue
			}
			c.Set.Name = fqdn(c.Set.Name)
			if err := after.apply(c); err != nil {
				return nil, err
			}
		}
	}
	for _, set := range after {
		if err := after.conflict(set); err != nil {
			return nil, err
		}
	}
	return after, nil
}

func (z zone) apply(c change) error {
	at := c.Set.key()
	now, there := z[at]
	switch {
	case c.Action == "DELETE" && !there:
		return fmt.Errorf("tried to delete resource record set %s but it was not found", at)
	case c.Action == "DELETE" && (now.String() != c.Set.String() || now.TTL != c.Set.TTL):
		return fmt.Errorf("tried to delete resource record set %s but the values provided do not match the current values", at)
	case c.Action == "DELETE":
		delete(z, at)
		return nil
	case c.Action == "CREATE" && there:
		return fmt.Errorf("tried to create resource record set %s but it already exists", at)
	}
	if err := c.Set.check(); err != nil {
		return err
	}
	z[at] = c.Set
	return nil
}

// check is what a set has to be by itself.
func (s Set) check() error {
	const longestIdentifier, highestWeight = 128, 255
	policy, _ := s.policy()
	switch at := s.key(); {
	case s.Name != Zone+"." && !strings.HasSuffix(s.Name, "."+Zone+"."):
		return fmt.Errorf("resource record set %s is not permitted in zone %s", at, Zone)
	case len(s.Records) == 0 || s.TTL == 0:
		return fmt.Errorf("invalid request: missing field in %s", at)
	case (s.SetIdentifier == "") != (policy == ""):
		return fmt.Errorf("invalid request: of SetIdentifier and a routing policy exactly one is in %s", at)
	case s.GeoLocation != nil && s.GeoLocation.ContinentCode != "" && s.GeoLocation.CountryCode != "":
		return fmt.Errorf("invalid request: both a continent and a country are in %s", at)
	case len(s.SetIdentifier) > longestIdentifier:
		return fmt.Errorf("invalid request: the SetIdentifier of %s is too long", at)
	case s.Weight != nil && (*s.Weight < 0 || *s.Weight > highestWeight):
		return fmt.Errorf("invalid request: weight %d of %s is not between 0 and %d", *s.Weight, at, highestWeight)
	case s.Type == "CNAME" && len(s.Records) > 1:
		return fmt.Errorf("resource record set %s has several values", at)
	case s.Type == "CNAME" && s.Name == Zone+".":
		return fmt.Errorf("resource record set %s is not permitted at the apex", at)
	}
	return nil
}

// conflict is what a set may not have beside it.
func (z zone) conflict(set Set) error {
	policy, value := set.policy()
	for _, other := range z {
		otherPolicy, otherValue := other.policy()
		switch {
		case other.Name != set.Name || other.key() == set.key():
		case other.Type != set.Type && set.Type == "CNAME":
			return fmt.Errorf("resource record set %s conflicts with other records with the same DNS name", set.key())
		case other.Type == set.Type && otherPolicy != policy:
			return fmt.Errorf("resource record set %s has another routing policy than one with the same name and type", set.key())
		case other.Type == set.Type && policy != "weight" && otherValue == value:
			return fmt.Errorf("resource record set %s has the same %s as another with the same name and type", set.key(), policy)
		}
	}
	return nil
}
