package search

import (
	"slices"
	"strconv"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
)

// OptionOf is the first option with this code that a message carries, nil when
// there is none. It allocates nothing, for it sees every query.
func OptionOf(m *dns.Msg, code uint16) *dns.EDNS0_LOCAL {
	opt := m.IsEdns0()
	if opt == nil {
		return nil
	}
	for _, option := range opt.Option {
		if local, ok := option.(*dns.EDNS0_LOCAL); ok && local.Code == code {
			return local
		}
	}
	return nil
}

// WithoutOption is a copy of a message without its options of this code.
func WithoutOption(m *dns.Msg, code uint16) *dns.Msg {
	m = m.Copy()
	if opt := m.IsEdns0(); opt != nil {
		opt.Option = slices.DeleteFunc(opt.Option, func(o dns.EDNS0) bool { return o.Option() == code })
	}
	return m
}

// udpSize is how many bytes a server may send over UDP that never fragments.
const udpSize = 1232

// Ask is a copy of a query that asks for another name, with search paths in the
// option.
func Ask(r *dns.Msg, name string, code uint16, paths []string) *dns.Msg {
	m := WithoutOption(r, code)
	m.Question[0].Name = name
	if m.IsEdns0() == nil {
		m.SetEdns0(udpSize, false)
	}
	opt := m.IsEdns0()
	opt.Option = append(opt.Option, &dns.EDNS0_LOCAL{Code: code, Data: autopath.Encode(paths)})
	return m
}

// Confirm adds to the reply m to the query r how many lookups it took. The number shows
// that the server knows the option.
func Confirm(m, r *dns.Msg, code uint16, lookups int) {
	asked := r.IsEdns0()
	m.SetEdns0(asked.UDPSize(), asked.Do())
	opt := m.IsEdns0()
	opt.Option = append(opt.Option, &dns.EDNS0_LOCAL{Code: code, Data: strconv.AppendInt(nil, int64(lookups), 10)})
}

// Confirmed tells whether a reply says that the paths were searched.
func Confirmed(m *dns.Msg, code uint16) bool {
	option := OptionOf(m, code)
	if option == nil {
		return false
	}
	lookups, err := strconv.Atoi(string(option.Data))
	return err == nil && lookups > 0
}

// Received is the outcome that a server reports, which was asked for base with these
// paths. A name that was found by a path begins with the CNAME to it.
func Received(m *dns.Msg, base string, paths []string) Outcome {
	o := Outcome{Result: judge(m), Name: base, Reply: m}
	switch o.Result {
	case Failed:
		o.Reply = nil
		return o
	case Missing, NoData:
		o.TTL = negativeTTL(m)
		return o
	}
	o.TTL = shortest(m.Answer)
	if len(m.Answer) == 0 {
		return o
	}
	alias, ok := m.Answer[0].(*dns.CNAME)
	if ok && alias.Hdr.Name == base && slices.Contains(Names(base, paths), alias.Target) {
		reply := *m
		reply.Answer = m.Answer[1:]
		o.Name, o.Reply = alias.Target, &reply
		if len(reply.Answer) == 0 && !reply.Truncated {
			o.Result = NoData
		}
		o.TTL = alias.Hdr.Ttl
	}
	return o
}
