package intent

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Percent is a share of a hundred, from 0 to 100. It is written as a number.
type Percent int

// UnmarshalJSON also takes text, as in "25%".
func (p *Percent) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '"' {
		return json.Unmarshal(raw, (*int)(p))
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	number, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	*p = Percent(number)
	return err
}
