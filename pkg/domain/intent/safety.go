package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// SafetyPath names the document with the safety rules of the installation.
const SafetyPath = Path(OperationCollection + "/safety-rules")

// SafetyRule names a safety rule.
type SafetyRule string

// The safety rules.
const (
	MinClusters SafetyRule = "minClusters"
	NeverBoth   SafetyRule = "neverBoth"
	InWindow    SafetyRule = "window"
)

// SafetyRules bound which clusters may be drained together, and when.
type SafetyRules struct {
	MinClusters int           `json:"minClusters,omitempty"` // that serve each name after a drain; 0: any number
	NeverBoth   [][]string    `json:"neverBoth,omitempty"`   // sets of "provider/cluster" of which one at least is not drained
	Window      *ChangeWindow `json:"window,omitempty"`      // nil: at any time
}

// ChangeWindow is a part of the week.
type ChangeWindow struct {
	Days     []string `json:"days,omitempty"`     // of Mon to Sun, on which it begins; none: all
	From     string   `json:"from"`               // "09:00"
	To       string   `json:"to"`                 // "17:00"; before From: on the next day
	TimeZone string   `json:"timeZone,omitempty"` // as in Europe/Berlin; none: UTC
}

// weekdays are the days of the week, as a ChangeWindow calls them.
func weekdays() []string { return []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"} }

const (
	clockFormat = "15:04"
	dayMinutes  = 24 * 60
	weekMinutes = 7 * dayMinutes
)

// Location is where the window's times are read.
func (w ChangeWindow) Location() (*time.Location, error) {
	if w.TimeZone == "" {
		return time.UTC, nil
	}
	return time.LoadLocation(w.TimeZone)
}

// Contains tells whether a time is in the window. A window whose times cannot be read
// contains none.
func (w ChangeWindow) Contains(at time.Time) bool {
	from, errFrom := minuteOf(w.From)
	to, errTo := minuteOf(w.To)
	zone, errZone := w.Location()
	if errFrom != nil || errTo != nil || errZone != nil {
		return false
	}
	local := at.In(zone)
	minute, day := local.Hour()*int(time.Hour/time.Minute)+local.Minute(), int(local.Weekday())
	if from < to {
		return w.begins(day) && from <= minute && minute < to
	}
	yesterday := (day + len(weekdays()) - 1) % len(weekdays())
	return w.begins(day) && minute >= from || w.begins(yesterday) && minute < to
}

func (w ChangeWindow) begins(day int) bool {
	return len(w.Days) == 0 || slices.Contains(w.Days, weekdays()[day])
}

// String is the window in words.
func (w ChangeWindow) String() string {
	days, zone := "every day", w.TimeZone
	if len(w.Days) > 0 {
		days = strings.Join(w.Days, ", ")
	}
	zone = cmp.Or(zone, "UTC")
	return fmt.Sprintf("%s from %s to %s (%s)", days, w.From, w.To, zone)
}

// minuteOf is the minute of the day of a time such as 09:30.
func minuteOf(text string) (int, error) {
	at, err := time.Parse(clockFormat, text)
	return at.Hour()*60 + at.Minute(), err
}

// Check returns what is wrong with rules where there are so many clusters. The pointers
// begin below the rules. Other rules, of the installation or a project, hold as well: those
// that leave no time to both are wrong.
func (r SafetyRules) Check(clusters int, others ...SafetyRules) []Field {
	var wrong []Field
	fail := func(pointer, format string, values ...any) {
		wrong = append(wrong, Field{Pointer: pointer, Detail: fmt.Sprintf(format, values...)})
	}
	if r.MinClusters > clusters {
		fail("/minClusters", "asks for %d clusters, but only %d are registered, so that every drain would be refused; lower it, or register more clusters", r.MinClusters, clusters)
	}
	for n, set := range r.NeverBoth {
		wrong = append(wrong, checkNeverBoth(fmt.Sprintf("/neverBoth/%d", n), set)...)
	}
	if r.Window == nil {
		return wrong
	}
	if faults := r.Window.check(); len(faults) > 0 {
		return append(wrong, faults...)
	}
	for _, other := range others {
		if other.Window != nil && len(other.Window.check()) == 0 && !r.Window.meets(*other.Window) {
			fail("/window", "never meets the other window that holds too, %s, so that every move would be refused; let the two overlap", other.Window)
		}
	}
	return wrong
}

func checkNeverBoth(at string, set []string) []Field {
	if len(set) < 2 {
		return []Field{{Pointer: at, Detail: "names fewer than two clusters; a single cluster could never be drained"}}
	}
	var wrong []Field
	for n, name := range set {
		provider, cluster, ok := strings.Cut(name, "/")
		pointer := fmt.Sprintf("%s/%d", at, n)
		switch {
		case !ok || provider == "" || cluster == "" || strings.Contains(cluster, "/"):
			wrong = append(wrong, Field{Pointer: pointer, Detail: fmt.Sprintf("%q is no cluster; write provider/cluster", name)})
		case slices.Contains(set[:n], name):
			wrong = append(wrong, Field{Pointer: pointer, Detail: name + " is named twice; remove one"})
		}
	}
	return wrong
}

func (w ChangeWindow) check() []Field {
	var wrong []Field
	for n, day := range w.Days {
		if !slices.Contains(weekdays(), day) {
			wrong = append(wrong, Field{Pointer: fmt.Sprintf("/window/days/%d", n), Detail: fmt.Sprintf("%q is no day; use Mon, Tue, Wed, Thu, Fri, Sat or Sun", day)})
		}
	}
	for _, side := range []struct{ field, text string }{{"from", w.From}, {"to", w.To}} {
		if _, err := minuteOf(side.text); err != nil {
			wrong = append(wrong, Field{Pointer: "/window/" + side.field, Detail: fmt.Sprintf("%q is no time of the day; write it as 09:30", side.text)})
		}
	}
	if w.From == w.To {
		wrong = append(wrong, Field{Pointer: "/window/to", Detail: "is when the window begins, so that it has no length; choose another time, or remove the window"})
	}
	if _, err := w.Location(); err != nil {
		wrong = append(wrong, Field{Pointer: "/window/timeZone", Detail: fmt.Sprintf("%q is no time zone that is known here; use a name such as Europe/Berlin", w.TimeZone)})
	}
	return wrong
}

// meets tells whether two windows have a minute of the week in common, in winter or summer.
func (w ChangeWindow) meets(other ChangeWindow) bool {
	for _, month := range []time.Month{time.January, time.July} {
		begin := time.Date(2026, month, 4, 0, 0, 0, 0, time.UTC)
		for minute := range weekMinutes {
			if at := begin.Add(time.Duration(minute) * time.Minute); w.Contains(at) && other.Contains(at) {
				return true
			}
		}
	}
	return false
}
