package noderesolver

import (
	"bytes"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Owner tells the lines of one node resolver from others, by the namespace that it runs
// in; it has no spaces, and may be empty.
type Owner string

// mark ends every line of the owner.
func (o Owner) mark() string {
	return strings.TrimSpace("# signpost-node-resolver " + string(o))
}

// Entry is a line of the hosts file.
type Entry struct {
	Address netip.Addr
	Names   []string // the canonical one last
}

// line is an entry with the owner's mark.
func (o Owner) line(e Entry) string {
	return e.Address.String() + " " + strings.Join(e.Names, " ") + " " + o.mark()
}

// Entries reads the owner's lines of a hosts file. A line that is no entry,
// since somebody has cut it, is not among them.
func (o Owner) Entries(content []byte) []Entry {
	var entries []Entry
	for line := range bytes.Lines(content) {
		if e, ok := o.parse(line); ok {
			entries = append(entries, e)
		}
	}
	return entries
}

// Replace gives a hosts file these lines of the owner, in an order of their own, and
// leaves every other line unchanged. Equal lines stay where they are; new ones are added
// at the end.
func (o Owner) Replace(content []byte, entries []Entry) []byte {
	missing := map[string]bool{}
	for _, e := range entries {
		missing[o.line(e)] = true
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(content) {
		text := strings.TrimRight(string(line), "\r\n")
		if !o.marked(line) || missing[text] {
			kept.Write(line)
			delete(missing, text)
		}
	}
	added := slices.Sorted(maps.Keys(missing))
	if len(added) > 0 && kept.Len() > 0 && !bytes.HasSuffix(kept.Bytes(), []byte("\n")) {
		kept.WriteByte('\n')
	}
	for _, text := range added {
		kept.WriteString(text + "\n")
	}
	return kept.Bytes()
}

func (o Owner) marked(line []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n"), []byte(" "+o.mark()))
}

func (o Owner) parse(line []byte) (Entry, bool) {
	if !o.marked(line) {
		return Entry{}, false
	}
	fields := strings.Fields(strings.TrimSuffix(strings.TrimRight(string(line), " \t\r\n"), o.mark()))
	if len(fields) < 2 {
		return Entry{}, false
	}
	address, err := netip.ParseAddr(fields[0])
	return Entry{Address: address, Names: fields[1:]}, err == nil
}
