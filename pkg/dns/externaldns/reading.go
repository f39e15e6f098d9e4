package externaldns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// value is what one flag gets.
type value struct {
	flag      *Flag
	parameter string   // as it was given; the flag's name for a default
	texts     []string // canonical; never empty
	given     bool     // by the record, not by default
	idle      bool     // has no effect: it is not rendered
}

// reading is a record's parameters as understood so far, and what was found.
// Rules add to it; Check and Compile read it.
type reading struct {
	record   Record
	table    table
	provider *providerRow
	values   map[string]value // by the flag's current name
	refused  []Finding        // make a write fail
	odd      []Finding        // warnings
	stuck    []Finding        // warnings of a write, errors of a plan
}

// understand reads all parameters and applies every rule.
func understand(record Record) *reading {
	t := loadTable()
	r := &reading{record: record, table: t, provider: t.provider(record.Provider), values: map[string]value{}}
	for _, parameter := range slices.Sorted(maps.Keys(record.Parameters)) {
		r.take(parameter, record.Parameters[parameter])
	}
	r.setDefaults()
	for _, rule := range r.provider.rules() {
		rule(r)
	}
	return r
}

func (r *reading) take(parameter string, raw any) {
	flag, negated, known := r.table.lookup(parameter)
	switch {
	case !known:
		r.refuse(about(parameter, "unknown parameter; "+r.advice(parameter)))
	case flag.Kind == Reserved:
		r.refuse(about(parameter, "is set by Signpost itself and cannot be a parameter"))
	case !r.provider.takes(flag):
		r.refuse(about(parameter, r.provider.foreign(flag)))
	default:
		if texts := r.texts(parameter, flag, raw); len(texts) > 0 {
			r.assign(value{flag: flag, parameter: parameter, texts: texts, given: true}, negated)
		}
	}
}

// advice is what may be right instead of an unknown parameter.
func (r *reading) advice(parameter string) string {
	if near := r.table.nearest(parameter); near != "" {
		return "the nearest known one is " + near
	}
	return "a flag of external-dns that Signpost does not know belongs into extraArgs"
}

// texts reads the items of one parameter.
func (r *reading) texts(parameter string, flag *Flag, raw any) []string {
	var texts []string
	all, isList := items(raw)
	for i, item := range all {
		where := about(parameter, "")
		if isList {
			where.Pointer += fmt.Sprintf("/%d", i)
		}
		result := flag.read(item)
		for _, note := range []struct {
			text string
			to   *[]Finding
		}{{result.wrong, &r.refused}, {result.stuck, &r.stuck}, {result.note, &r.odd}} {
			if note.text != "" {
				where.Detail = note.text
				*note.to = append(*note.to, where)
			}
		}
		if result.text != "" {
			texts = append(texts, result.text)
		}
	}
	if !flag.List && len(texts) > 1 {
		r.refuse(about(parameter, fmt.Sprintf("takes one value, not %d", len(texts))))
		return texts[:1]
	}
	return texts
}

// assign stores a value under the flag's current name. Of several forms of one flag, the
// new name wins over the former, and the no- form over the plain one. Parameters come
// sorted by name, so the order does not decide.
func (r *reading) assign(v value, negated bool) {
	if negated {
		v.texts = []string{map[string]string{"true": "false", "false": "true"}[v.texts[0]]}
	}
	if v.flag.Successor != "" {
		successor, _ := r.table.find(v.flag.Successor)
		r.warn(about(v.parameter, fmt.Sprintf("is called %s from %s on; with any version either name works", successor.Name, v.flag.Renamed)))
		v.flag = successor
	}
	other, taken := r.values[v.flag.Name]
	switch {
	case !taken:
		r.values[v.flag.Name] = v
	case formRank(v) > formRank(other):
		r.values[v.flag.Name] = v
		r.warn(about(other.parameter, fmt.Sprintf("is given as %s, too, which wins", v.parameter)))
	default:
		r.warn(about(v.parameter, fmt.Sprintf("is given as %s, too, which wins", other.parameter)))
	}
}

// formRank orders the ways to write one flag; the highest wins.
func formRank(v value) int {
	rank := 0
	if v.parameter == v.flag.Name || v.parameter == "no-"+v.flag.Name {
		rank += 2
	}
	if strings.HasPrefix(v.parameter, "no-") {
		rank++
	}
	return rank
}

// setDefaults fills in what Signpost sets where the record says nothing.
func (r *reading) setDefaults() {
	for i := range r.table.rows {
		flag := &r.table.rows[i]
		if _, given := r.values[flag.Name]; given || !r.provider.takes(flag) {
			continue
		}
		if texts := r.defaultOf(flag); len(texts) > 0 {
			r.values[flag.Name] = value{flag: flag, parameter: flag.Name, texts: texts}
		}
	}
}

// defaultOf is the row's default, but where another part of the record decides;
// empty when there is none.
func (r *reading) defaultOf(flag *Flag) []string {
	switch {
	case flag.Name == "registry" && r.provider.registry != "":
		return []string{r.provider.registry}
	case flag.Name == "events" && r.record.Pace.Events && !r.given(flag.Name):
		return []string{"true"}
	case flag.Name == "interval" && r.record.Pace.Interval > 0:
		return []string{r.record.Pace.Interval.String()}
	case flag.Name == "rfc2136-port" && r.on("rfc2136-use-tls"):
		return []string{"853"}
	case flag.Name == r.provider.zones:
		return r.zonesOfDomains()
	case flag.Name == "webhook-provider-url" && r.record.WebhookPort != 0:
		return []string{fmt.Sprintf("http://localhost:%d", r.record.WebhookPort)}
	case flag.Default == "":
		return nil
	default:
		return []string{flag.Default}
	}
}

func (r *reading) refuse(f Finding) { r.refused = append(r.refused, f) }
func (r *reading) warn(f Finding)   { r.odd = append(r.odd, f) }
func (r *reading) cannot(f Finding) { r.stuck = append(r.stuck, f) }

// has, one and on give a flag's value, set by the record or by default.
func (r *reading) has(name string) bool   { return len(r.values[name].texts) > 0 }
func (r *reading) one(name string) string { return strings.Join(r.values[name].texts, " ") }
func (r *reading) on(name string) bool    { return r.one(name) == "true" }

// given tells whether the record sets a flag, as a parameter or in the environment.
func (r *reading) given(name string) bool {
	flag, _ := r.table.find(name)
	return r.values[name].given || slices.Contains(r.record.Environment, flag.Environment())
}

// written is a flag's name as the record wrote it, for pointers.
func (r *reading) written(name string) string {
	if v, ok := r.values[name]; ok {
		return v.parameter
	}
	return name
}

// idle takes a value out of the rendering, saying why.
func (r *reading) idle(name, why string) {
	v, ok := r.values[name]
	if !ok || v.idle {
		return
	}
	v.idle = true
	r.values[name] = v
	if v.given {
		r.warn(about(v.parameter, why+"; it is left out"))
	}
}

// names lists the flags that have a value, sorted.
func (r *reading) names() []string {
	names := slices.AppendSeq(make([]string, 0, len(r.values)), maps.Keys(r.values))
	slices.Sort(names)
	return names
}
