package hostname

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// subjects are what a template speaks of.
type subjects struct {
	fields []string // of Values
	labels []string // keys of Labels
}

// list notes which fields and labels a template speaks of, and refuses what it
// may not have: what chooses, repeats, defines, or calls other functions.
func (s *subjects) list(root *parse.ListNode) error {
	for _, node := range root.Nodes {
		switch node := node.(type) {
		case *parse.TextNode:
		case *parse.ActionNode:
			if err := s.pipe(node.Pipe); err != nil {
				return err
			}
		default:
			return fmt.Errorf("has %s; %s", node, templateAdvice)
		}
	}
	return nil
}

func (s *subjects) pipe(pipe *parse.PipeNode) error {
	if len(pipe.Decl) > 0 {
		return errors.New("sets a variable; " + templateAdvice)
	}
	for n, command := range pipe.Cmds {
		if err := s.command(command, n > 0); err != nil {
			return err
		}
	}
	return nil
}

// command checks one step of a pipeline. piped says that it gets the result of
// the step before.
func (s *subjects) command(command *parse.CommandNode, piped bool) error {
	name, called := command.Args[0].(*parse.IdentifierNode)
	args := command.Args
	if called {
		args = args[1:]
	}
	switch {
	case !called && (piped || len(args) > 1):
		return fmt.Errorf("has {{%s}}, which is no function; %s", command, templateAdvice)
	case called && name.Ident == "index":
		return s.index(args, piped)
	case called && name.Ident != "lower" && name.Ident != "replace":
		return fmt.Errorf("has function %s; %s", name.Ident, templateAdvice)
	}
	for _, arg := range args {
		if err := s.argument(arg); err != nil {
			return err
		}
	}
	return nil
}

// index checks a look at a label whose key is no identifier.
func (s *subjects) index(args []parse.Node, piped bool) error {
	if !piped && len(args) == 2 {
		field, isField := args[0].(*parse.FieldNode)
		key, isText := args[1].(*parse.StringNode)
		if isField && isText && slices.Equal(field.Ident, []string{"Labels"}) {
			s.labels = append(s.labels, key.Text)
			return nil
		}
	}
	return errors.New(`has another index than index .Labels "key"; ` + templateAdvice)
}

func (s *subjects) argument(arg parse.Node) error {
	switch arg := arg.(type) {
	case *parse.StringNode:
		return nil
	case *parse.PipeNode:
		return s.pipe(arg)
	case *parse.FieldNode:
		return s.field(arg)
	}
	return fmt.Errorf("has %s; %s", arg, templateAdvice)
}

func (s *subjects) field(field *parse.FieldNode) error {
	kind, known := reflect.TypeFor[Values]().FieldByName(field.Ident[0])
	label := known && kind.Type.Kind() == reflect.Map
	switch {
	case label && len(field.Ident) == 2:
		s.labels = append(s.labels, field.Ident[1])
	case known && !label && len(field.Ident) == 1:
		s.fields = append(s.fields, field.Ident[0])
	default:
		return fmt.Errorf("has %s; %s", field, templateAdvice)
	}
	return nil
}
