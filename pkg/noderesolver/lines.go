package noderesolver

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
)

// Mark ends every line that the node resolver owns.
const Mark = "# signpost-node-resolver"

// Entry is a line of the hosts file.
type Entry struct {
	Address netip.Addr
	Names   []string // the canonical one last
}

// text is the line with its mark.
func (e Entry) text() string {
	return e.Address.String() + " " + strings.Join(e.Names, " ") + " " + Mark
}

// Entries reads the marked lines of a hosts file. A marked line that is no
// entry, since somebody has cut it, is not among them.
func Entries(content []byte) []Entry {
	var entries []Entry
	for line := range bytes.Lines(content) {
		if e, ok := parse(line); ok {
			entries = append(entries, e)
		}
	}
	return entries
}

// Replace gives a hosts file these marked lines, in an order of their own, and
// leaves every other line as it is, byte for byte. Marked lines that are the
// same stay where they are; new ones are added at the end.
func Replace(content []byte, entries []Entry) []byte {
	missing := map[string]bool{}
	for _, e := range entries {
		missing[e.text()] = true
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(content) {
		text := strings.TrimRight(string(line), "\r\n")
		if !marked(line) || missing[text] {
			kept.Write(line)
			delete(missing, text)
		}
	}
	var added []string
	for text := range missing {
		added = append(added, text)
	}
	if len(added) > 0 && kept.Len() > 0 && !bytes.HasSuffix(kept.Bytes(), []byte("\n")) {
		kept.WriteByte('\n')
	}
	slices.Sort(added)
	for _, text := range added {
		kept.WriteString(text + "\n")
	}
	return kept.Bytes()
}

func marked(line []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n"), []byte(" "+Mark))
}

func parse(line []byte) (Entry, bool) {
	if !marked(line) {
		return Entry{}, false
	}
	fields := strings.Fields(strings.TrimSuffix(strings.TrimRight(string(line), " \t\r\n"), Mark))
	if len(fields) < 2 {
		return Entry{}, false
	}
	address, err := netip.ParseAddr(fields[0])
	return Entry{Address: address, Names: fields[1:]}, err == nil
}
