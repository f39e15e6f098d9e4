package safeyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// maxRepeated is how many bytes the aliases of a document may repeat together.
const maxRepeated = 64 << 10

// Check fails if aliases of a document of the text repeat more than they may. The
// error says in which line, and quotes nothing.
func Check(text []byte) error {
	if bytes.IndexByte(text, '*') < 0 { // without which there is no alias, in UTF-16 neither
		return nil
	}
	_, err := Documents(text)
	return err
}

// Node is a node of a document, with the place that it has in the text.
type Node = yaml.Node

// The kinds and styles of nodes that readers tell apart.
const (
	MappingNode  = yaml.MappingNode
	SequenceNode = yaml.SequenceNode
	ScalarNode   = yaml.ScalarNode
	AliasNode    = yaml.AliasNode
	FlowStyle    = yaml.FlowStyle
)

// Documents are the top nodes of the documents of a text that hold anything. Their
// aliases may be followed: they repeat little.
func Documents(text []byte) ([]*Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var found []*Node
	for {
		var document Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if document.Kind != yaml.DocumentNode || document.Content[0].Tag == "!!null" {
			continue
		}
		if _, err := (&measure{known: map[*Node]int{}}).of(document.Content[0]); err != nil {
			return nil, err
		}
		found = append(found, document.Content[0])
	}
}

// measure is how long a document becomes when each alias is what it stands for.
type measure struct {
	known    map[*Node]int // of nodes with an anchor; 0 while they are measured
	repeated int
}

// of is about how many bytes a node becomes.
func (m *measure) of(node *Node) (bytes int, err error) {
	const own = 16 // of each node, beside its text
	if node.Kind == yaml.AliasNode {
		return m.repeat(node)
	}
	if node.Anchor != "" {
		m.known[node] = 0
	}
	bytes = own + len(node.Value)
	for _, child := range node.Content {
		more, err := m.of(child)
		if err != nil {
			return 0, err
		}
		bytes += more
	}
	if node.Anchor != "" {
		m.known[node] = bytes
	}
	return bytes, nil
}

// repeat is what an alias stands for.
func (m *measure) repeat(alias *Node) (bytes int, err error) {
	bytes = m.known[alias.Alias]
	if bytes == 0 {
		return 0, fmt.Errorf("line %d: the value contains itself by an alias (*name); write it without the alias", alias.Line)
	}
	if m.repeated += bytes; m.repeated > maxRepeated {
		return 0, fmt.Errorf("line %d: aliases (*name) repeat more than %d KiB; write such values out instead", alias.Line, maxRepeated>>10)
	}
	return bytes, nil
}
