package emco

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

type number = protowire.Number

// message is a protobuf message of texts, and of numbers, truths and
// enumerations, by field number. It stands for all of EMCO's messages.
type message struct {
	texts   map[number]string
	numbers map[number]uint64
}

// marshal writes the fields in order; empty ones are left out, as proto3 has it.
func (m *message) marshal() []byte {
	var wire []byte
	for _, field := range slices.Sorted(maps.Keys(m.texts)) {
		if m.texts[field] != "" {
			wire = protowire.AppendString(protowire.AppendTag(wire, field, protowire.BytesType), m.texts[field])
		}
	}
	for _, field := range slices.Sorted(maps.Keys(m.numbers)) {
		if m.numbers[field] != 0 {
			wire = protowire.AppendVarint(protowire.AppendTag(wire, field, protowire.VarintType), m.numbers[field])
		}
	}
	return wire
}

func (m *message) unmarshal(wire []byte) error {
	m.texts, m.numbers = map[number]string{}, map[number]uint64{}
	for len(wire) > 0 {
		field, kind, size := protowire.ConsumeTag(wire)
		if size < 0 {
			return protowire.ParseError(size)
		}
		wire = wire[size:]
		switch kind {
		case protowire.BytesType:
			m.texts[field], size = protowire.ConsumeString(wire)
		case protowire.VarintType:
			m.numbers[field], size = protowire.ConsumeVarint(wire)
		default:
			return fmt.Errorf("field %d is of wire type %d, which no field of EMCO's is", field, kind)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		wire = wire[size:]
	}
	return nil
}

// only fails if there are fields that the message does not have: a text, and a
// number.
func (m *message) only(text, value number) error {
	for field := range m.texts {
		if field != text {
			return fmt.Errorf("field %d holds the text %q, and there is no such field", field, m.texts[field])
		}
	}
	for field := range m.numbers {
		if field != value {
			return fmt.Errorf("field %d holds the number %d, and there is no such field", field, m.numbers[field])
		}
	}
	return nil
}

// codec has gRPC send and receive messages.
type codec struct{}

func (codec) Marshal(value any) ([]byte, error) {
	m, ok := value.(*message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", value)
	}
	return m.marshal(), nil
}

func (codec) Unmarshal(wire []byte, value any) error {
	m, ok := value.(*message)
	if !ok {
		return fmt.Errorf("%T is not a message", value)
	}
	return m.unmarshal(wire)
}

func (codec) Name() string { return "proto" }
