package namehistory

import (
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// log writes what the history of a host name has taken to the log that is kept for longer.
func (h *History) log(host string, turns []intent.NameTurn, heard []intent.NameHeard) {
	if h.Changes == nil {
		return
	}
	for _, turn := range turns {
		h.Changes.Info("a host name has changed", "name", host, "project", turn.Project, "owner", string(turn.Owner), "gap", turn.Gap,
			"changed", plain(turn.Time), "cause", plain(turn.Cause), "changes", plain(turn.Changes))
	}
	for _, answer := range heard {
		h.Changes.Info("the servers answer a host name", "name", host, "project", answer.Project, "type", answer.Type, "right", answer.Right,
			"since", plain(answer.Since), "answer", answer.Message)
	}
}

// plain is a value as maps and lists, which all handlers of a log can write.
func plain(value any) (out any) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return err.Error()
	}
	return out
}
