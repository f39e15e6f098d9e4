package corefile

// MaxLinted is the size of the largest Corefile that is linted, in bytes.
const MaxLinted = 1 << 20

// Finding is something about a line of a Corefile that somebody wrote.
type Finding struct {
	Line     int      `json:"line"` // from 1; 0: about the whole
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// Severity says whether CoreDNS would start.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // CoreDNS would not start
	Warning Severity = "warning" // it would, or nobody can tell from here
)
