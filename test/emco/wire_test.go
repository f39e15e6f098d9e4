package emco

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// By hand, from the field numbers: a tag is number<<3, plus 2 for texts.
func TestMessagesAreEMCOsByteForByte(t *testing.T) {
	for _, c := range []struct {
		name string
		message
		wire string
	}{
		{"ContextUpdateRequest", message{texts: map[number]string{1: "42", 2: "dns", 3: "<nil>"}}, "0a0234321203646e731a053c6e696c3e"},
		{"ContextUpdateRequest without the last", message{texts: map[number]string{1: "42", 2: "dns", 3: ""}}, "0a0234321203646e73"},
		{"PostEventRequest UPDATE", message{texts: map[number]string{1: "42"}, numbers: map[number]uint64{2: 2}}, "0a0234321002"},
		{"PostEventRequest INSTANTIATE", message{texts: map[number]string{1: "42"}, numbers: map[number]uint64{2: 0}}, "0a023432"},
		{"TerminateRequest", message{texts: map[number]string{1: "42"}}, "0a023432"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.wire, hex.EncodeToString(c.marshal()))
		})
	}
}

func TestAnswersAreReadByFieldNumber(t *testing.T) {
	var m message
	wire, err := hex.DecodeString("08011202" + hex.EncodeToString([]byte("ok")))
	require.NoError(t, err)
	require.NoError(t, m.unmarshal(wire))
	require.Equal(t, message{texts: map[number]string{2: "ok"}, numbers: map[number]uint64{1: 1}}, m)
	require.NoError(t, m.only(2, 1))
	require.ErrorContains(t, m.only(3, 1), "field 2")
	require.ErrorContains(t, m.only(2, 3), "field 1")
}

func TestBrokenMessagesAreErrors(t *testing.T) {
	for _, wire := range []string{"0a", "0a05", "0d00000000", "ff"} {
		broken, err := hex.DecodeString(wire)
		require.NoError(t, err)
		require.Error(t, new(message).unmarshal(broken), wire)
	}
	require.Error(t, codec{}.Unmarshal(nil, new(string)))
	_, err := codec{}.Marshal("text")
	require.Error(t, err)
}
