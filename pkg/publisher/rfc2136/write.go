package rfc2136

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// mostTargets of one set fit into a message with its marks and prerequisites.
const mostTargets = 500

// Write changes one name by one UPDATE. Its prerequisites are the sets and marks as they were read, so the server takes the
// update only if nobody has changed them since. It adds records before it removes others, and the server does
// all of it or nothing.
func (w *Writer) Write(ctx context.Context, change publisher.Change) error {
	change.After = w.effective(change.After)
	steps, err := change.Steps(w.marks.Owner(), externaldns.Written("rfc2136")...)
	if err != nil || len(steps) == 0 {
		return err
	}
	v, ok := change.Before.Version.(version)
	if !ok {
		return fault.Errorf(publisher.Invalid, "a change of %s was not read by this writer", change.Before.Name)
	}
	u := &update{w: w, name: change.Before.Name, message: new(dns.Msg).SetUpdate(v.zone), read: v}
	if err := u.build(change.Before, steps); err != nil {
		return err
	}
	reply, err := w.send(ctx, v.zone, u.message)
	if fault.Of(err) == fault.Refused && slices.ContainsFunc(steps, func(s publisher.Step) bool { return s.Type == "MX" && len(s.After.Targets) > 0 }) {
		return fault.Errorf(fault.Refused, "%v. BIND refuses an MX record, too, whose host in the zone has no address; give that host one first", err)
	}
	if err != nil {
		return err
	}
	switch reply.Rcode {
	case dns.RcodeSuccess:
		return nil
	case dns.RcodeNXRrset, dns.RcodeYXRrset, dns.RcodeYXDomain, dns.RcodeNameError:
		if err := u.occupied(steps); err != nil {
			return err
		}
		return fault.Errorf(fault.Stale, "%s has changed since it was read (%s)", change.Before.Name, dns.RcodeToString[reply.Rcode])
	}
	return w.explain(w.servers[w.current.Load()], v.zone, reply, nil)
}

// effective gives sets the TTL and the form that the server will show.
func (w *Writer) effective(sets []publisher.Set) []publisher.Set {
	sets = slices.Clone(sets)
	for n := range sets {
		if sets[n].TTL != 0 {
			sets[n].TTL = max(sets[n].TTL, w.minimum)
		}
		targets := slices.Clone(sets[n].Targets)
		for i, target := range targets {
			if record, err := recordOf(sets[n].Name, sets[n].Type, target, 0); err == nil {
				_, targets[i], _ = targetOf(record)
			}
		}
		sets[n].Targets = targets
	}
	return sets
}

// update is a message that is being made.
type update struct {
	w       *Writer
	name    string
	message *dns.Msg
	read    version
	insert  []dns.RR
	remove  []dns.RR
}

// occupied is the error of a refused update whose mark has no place, because its name is a CNAME. A CNAME in an answer
// may be that of a wildcard, beside which the mark has a place. So only a refusal shows which it is.
func (u *update) occupied(steps []publisher.Step) error {
	for _, step := range steps {
		if target := u.read.alias[step.Type]; target != "" && len(step.After.Targets) > 0 {
			return fault.Errorf(publisher.Foreign, "the mark of %s %s has to be at %s, which is a CNAME of %s; remove that CNAME, or give the provider another txt-prefix",
				u.name, step.Type, u.w.marks.Name(u.name, step.Type), target)
		}
	}
	return nil
}

// build fills the message. A CNAME has no place beside other records, so a change between the two removes first.
func (u *update) build(before publisher.State, steps []publisher.Step) error {
	for _, step := range steps {
		if len(step.After.Targets) > mostTargets {
			return publisher.NoTransaction(step.After, mostTargets)
		}
		if err := u.records(step); err != nil {
			return err
		}
		u.mark(step)
	}
	u.alone(before, steps)
	if changesKind(steps) {
		u.message.Remove(u.remove)
		u.message.Insert(u.insert)
		return nil
	}
	u.message.Insert(u.insert)
	u.message.Remove(u.remove)
	return nil
}

// changesKind tells whether a CNAME comes or goes while other records go or come.
func changesKind(steps []publisher.Step) bool {
	return len(steps) > 1 && slices.ContainsFunc(steps, func(s publisher.Step) bool { return s.Type == "CNAME" })
}

// records adds what one type gets, and removes what it loses.
func (u *update) records(step publisher.Step) error {
	var held []dns.RR
	for _, target := range step.Before.Targets {
		record := u.read.records[step.Type+" "+target]
		held = append(held, dns.Copy(record))
		if !slices.Contains(step.After.Targets, target) {
			u.remove = append(u.remove, dns.Copy(record))
		}
	}
	for _, target := range step.After.Targets {
		ttl := max(cmp.Or(step.After.TTL, int64(externaldns.DefaultTTL.Seconds())), u.w.minimum)
		record, err := recordOf(u.name, step.Type, target, ttl)
		if err != nil {
			return err
		}
		if step.Before.TTL != ttl || !slices.Contains(step.Before.Targets, target) {
			u.insert = append(u.insert, record)
		}
	}
	if len(held) > 0 {
		u.message.Used(held)
	} else {
		u.message.RRsetNotUsed([]dns.RR{emptyOf(u.name, step.Type)})
	}
	return nil
}

// mark adds the mark of a type, or removes it. Other texts at its name stay.
func (u *update) mark(step publisher.Step) {
	at := u.w.marks.Name(u.name, step.Type)
	wanted := ""
	if len(step.After.Targets) > 0 {
		wanted = marks.Text(step.After.Mark)
	}
	var held []dns.RR
	there := false
	for _, text := range u.read.marks[step.Type] {
		record := textOf(at, text, u.w.minimum)
		held = append(held, record)
		_, isMark := marks.Parse(text)
		if `"`+text+`"` == wanted {
			there = true
		} else if isMark {
			u.remove = append(u.remove, dns.Copy(record))
		}
	}
	if wanted != "" && !there {
		u.insert = append(u.insert, textOf(at, strings.Trim(wanted, `"`), u.w.minimum))
	}
	if len(held) > 0 {
		u.message.Used(held)
	} else {
		u.message.RRsetNotUsed([]dns.RR{emptyOf(at, "TXT")})
	}
}

// alone asks that a CNAME is alone. A server passes over a record that has no place, and says that all is well.
func (u *update) alone(before publisher.State, steps []publisher.Step) {
	touched := map[string]bool{}
	cname, others := false, false
	for _, step := range steps {
		touched[step.Type] = true
		if len(step.After.Targets) > 0 {
			cname, others = cname || step.Type == "CNAME", others || step.Type != "CNAME"
		}
	}
	absent := func(kinds ...string) {
		for _, kind := range kinds {
			if !touched[kind] {
				u.message.RRsetNotUsed([]dns.RR{emptyOf(before.Name, kind)})
			}
		}
	}
	if cname {
		absent("A", "AAAA", "TXT", "MX", "NS", "SRV", "CAA", "PTR")
	}
	if others {
		absent("CNAME")
	}
}

func recordOf(name, kind, target string, ttl int64) (dns.RR, error) {
	if kind == "TXT" {
		record, escape := textOf(name, externaldns.ReadText(target), ttl), strings.NewReplacer(`\`, `\\`, `"`, `\"`)
		for n, part := range record.Txt {
			record.Txt[n] = escape.Replace(part)
		}
		return record, nil
	}
	record, err := dns.NewRR(fmt.Sprintf("%s %d %s %s", dns.Fqdn(name), ttl, kind, target))
	if err == nil && record != nil {
		if got, _, ok := targetOf(record); ok && got == kind {
			return record, nil
		}
	}
	return nil, fault.Errorf(publisher.Invalid, "%s %s cannot have %q as a target", name, kind, target)
}

// textOf makes a TXT record; long texts are divided.
func textOf(name, text string, ttl int64) *dns.TXT {
	const most = 255 // bytes of one character-string, RFC 1035
	record := &dns.TXT{Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: uint32(ttl)}}
	for rest := text; rest != ""; {
		n := min(len(rest), most)
		record.Txt = append(record.Txt, rest[:n])
		rest = rest[n:]
	}
	if len(record.Txt) == 0 {
		record.Txt = []string{""}
	}
	return record
}

// emptyOf names a set without its records.
func emptyOf(name, kind string) dns.RR {
	return &dns.ANY{Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.StringToType[kind], Class: dns.ClassANY}}
}
