package route53

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
)

func records(values []string) []Record {
	var out []Record
	for _, value := range values {
		out = append(out, Record{value})
	}
	return out
}

func simple(name, kind string, values ...string) Set {
	return Set{Name: name, Type: kind, TTL: 5, Records: records(values)}
}

func weighted(name, id string, weight int64, values ...string) Set {
	return Set{Name: name, Type: "A", SetIdentifier: id, Weight: &weight, TTL: 5, Records: records(values)}
}

func located(name, id string, at Location) Set {
	return Set{Name: name, Type: "A", SetIdentifier: id, GeoLocation: &at, TTL: 5, Records: records([]string{"192.0.2.1"})}
}

// TestABatchIsTakenWholeOrRefusedAsAWSDoes: what Signpost must not ask for is
// refused, and what is right is taken in one batch.
func TestABatchIsTakenWholeOrRefusedAsAWSDoes(t *testing.T) {
	before := zone{}
	for _, set := range []Set{simple("plain.aws.example.", "A", "192.0.2.1"), simple("two.aws.example.", "A", "192.0.2.1", "192.0.2.2"), weighted("www.aws.example.", "a", 90, "192.0.2.1")} {
		before[set.key()] = set
	}
	for _, c := range []struct {
		what    string
		batch   []change
		refusal string
	}{
		{"another set", []change{{"CREATE", weighted("www.aws.example", "b", 10, "192.0.2.2")}}, ""},
		{"from simple to weighted", []change{
			{"CREATE", weighted("plain.aws.example", "a", 1, "192.0.2.1")}, {"DELETE", simple("plain.aws.example", "A", "192.0.2.1")}}, ""},
		{"one in another order", []change{{"DELETE", simple("two.aws.example", "A", "192.0.2.2", "192.0.2.1")}}, ""},
		{"the same again", []change{{"CREATE", weighted("www.aws.example", "a", 90, "192.0.2.1")}}, "already exists"},
		{"one that is not there", []change{{"DELETE", simple("x.aws.example", "A", "192.0.2.1")}}, "not found"},
		{"one that is another", []change{{"DELETE", simple("plain.aws.example", "A", "192.0.2.9")}}, "do not match"},
		{"simple beside weighted", []change{{"CREATE", simple("www.aws.example", "A", "192.0.2.1")}}, "another routing policy"},
		{"a region beside a weight", []change{{"CREATE", Set{Name: "www.aws.example", Type: "A", SetIdentifier: "b", Region: "eu-west-3", TTL: 5, Records: records([]string{"192.0.2.2"})}}}, "another routing policy"},
		{"one location twice", []change{
			{"CREATE", located("x.aws.example", "a", Location{CountryCode: "DE"})}, {"CREATE", located("x.aws.example", "b", Location{CountryCode: "DE"})}}, "the same location"},
		{"two locations", []change{
			{"CREATE", located("x.aws.example", "a", Location{CountryCode: "DE"})}, {"CREATE", located("x.aws.example", "b", Location{ContinentCode: "EU"})}}, ""},
		{"a country and a continent", []change{{"CREATE", located("x.aws.example", "a", Location{CountryCode: "DE", ContinentCode: "EU"})}}, "both"},
		{"a CNAME beside an address", []change{{"CREATE", simple("plain.aws.example", "CNAME", "lb.example")}}, "conflicts"},
		{"a CNAME at the apex", []change{{"CREATE", simple("aws.example", "CNAME", "lb.example")}}, "apex"},
		{"two CNAMEs", []change{{"CREATE", simple("x.aws.example", "CNAME", "a.example", "b.example")}}, "several"},
		{"too much weight", []change{{"UPSERT", weighted("www.aws.example", "a", 256, "192.0.2.1")}}, "between 0 and 255"},
		{"a name elsewhere", []change{{"CREATE", simple("www.example", "A", "192.0.2.1")}}, "not permitted in zone"},
		{"a long identifier", []change{{"CREATE", weighted("www.aws.example", strings.Repeat("x", 129), 1, "192.0.2.1")}}, "too long"},
		{"no TTL", []change{{"CREATE", Set{Name: "x.aws.example", Type: "A", Records: records([]string{"192.0.2.1"})}}}, "missing field"},
	} {
		size := len(before)
		_, err := before.changed(c.batch)
		if (err == nil) != (c.refusal == "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: %v, want %q", c.what, err, c.refusal)
		}
		if len(before) != size {
			t.Fatalf("%s changed the zone", c.what)
		}
	}
}

// TestASetIsWrittenAsItIsRead: each value is a record of its own.
func TestASetIsWrittenAsItIsRead(t *testing.T) {
	text, err := xml.Marshal(simple("two.aws.example.", "A", "192.0.2.1", "192.0.2.2"))
	if err != nil || strings.Count(string(text), "<ResourceRecord>") != 2 {
		t.Fatalf("%s: %v", text, err)
	}
	var read Set
	if err := xml.Unmarshal(text, &read); err != nil || read.String() != "192.0.2.1 192.0.2.2" {
		t.Errorf("it is read as %v: %v", read, err)
	}
}

func TestAnswersAreDrawnByWeight(t *testing.T) {
	z := zone{}
	for _, set := range []Set{weighted("www.aws.example.", "a", 90, "192.0.2.1"), weighted("www.aws.example.", "b", 0, "192.0.2.2")} {
		z[set.key()] = set
	}
	for range 100 {
		if set, _ := z.draw("www.aws.example.", "A"); !slices.Equal(set.values(), []string{"192.0.2.1"}) {
			t.Fatalf("a set of weight 0 is drawn: %v", set)
		}
	}
	if set, there := z.draw("nobody.aws.example.", "A"); there {
		t.Errorf("nobody is %v", set)
	}
}
