package autopath

import (
	"math/rand/v2"
	"strings"
)

// DrawName draws a name that a pod may look up: of Services, in all the forms in
// which one is called, of hosts of the nodes' search domains, of names outside,
// of names that are missing at any place, and with a dot at the end or in other
// letters.
func DrawName(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	service := func() string {
		return pick("service123", "dual", "six", "only-there", "db", "db-0.db", "db-1.db", "empty", "alias", "many", "www", "intranet", "nobody")
	}
	namespace := func() string { return pick("shop", "ns2", "example", "nowhere") }
	missing := func() string { return pick("missing", "no.such.name", "gone", "x") + pick("", "1", "2", "3", "4", "5") }
	name := ""
	switch r.IntN(8) {
	case 0:
		name = service()
	case 1:
		name = service() + "." + namespace()
	case 2:
		name = service() + "." + namespace() + ".svc" + pick("", ".cluster.local")
	case 3:
		name = pick("intranet", "six", "both", "text", "empty", "fails", "down", "split", "alias", "printer") + pick("", "", ".corp.example", ".lab.example")
	case 4:
		name = pick("www", "four", "six", "text", "alias", "chain", "dangling", "half", "many", "fails", "a.b.c.d.e") + pick(".example", ".example.org", ".example.org", ".example.net")
	case 5:
		name = missing() + pick("", ".shop", ".ns2.svc", ".ns2.svc.cluster.local", ".corp.example", ".example.org")
	case 6: // more dots than ndots
		name = "a.b.c.d." + pick("e.example.org", service()+"."+namespace(), missing())
	case 7: // parts of search paths and of search domains
		name = pick("svc", "cluster.local", "shop", "shop.svc", "ns2.svc.cluster.local", "search", "search.shop", "ap.k8s.io", "search.shop.cluster.local.ap.k8s.io", "corp.example", "local", "_http._tcp.service123")
	}
	if r.IntN(10) == 0 {
		name += "."
	}
	if r.IntN(5) == 0 {
		name = otherLetters(r, name)
	}
	return name
}

// otherLetters makes some letters capitals.
func otherLetters(r *rand.Rand, name string) string {
	return strings.Map(func(letter rune) rune {
		if 'a' <= letter && letter <= 'z' && r.IntN(2) == 0 {
			return letter - 'a' + 'A'
		}
		return letter
	}, name)
}
