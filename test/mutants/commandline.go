package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inCommandLine are mutants of the command line.
func inCommandLine() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "always done", File: "cmd/signpost/main.go",
			Breaks:      "the program ends with exit code 0, whatever happens",
			Text:        "func main() { os.Exit(cli.Main()) }",
			Replacement: "func main() { os.Exit(min(cli.Main(), 0)) }",
		},
		{
			Name: "failure is usage", File: "pkg/cli/main.go",
			Breaks:      "a refusal of the server gets the exit code of a wrong command line",
			Text:        "	return exitFailed",
			Replacement: "	return exitUsage",
		},
		{
			Name: "JSON for YAML", File: "pkg/cli/terminal/output.go",
			Breaks:      "-o yaml prints JSON",
			Text:        "		return PrintYAML(w, body)",
			Replacement: "		return printJSON(w, body)",
		},
		{
			Name: "redirect to a stranger", File: "pkg/cli/emco/emco.go",
			Breaks:      "a redirect chooses who gets kubeconfigs",
			Text:        "return http.ErrUseLastResponse",
			Replacement: "return nil",
		},
		{
			Name: "children first", File: "pkg/cli/document/order.go",
			Breaks:      "documents are applied before those that they refer to",
			Text:        "	if kind, known := kindOf(collection); known {\n		return kind.Rank",
			Replacement: "	if kind, known := kindOf(collection); known {\n		return -kind.Rank",
		},
		{
			Name: "no name in tables", File: "pkg/cli/show/columns.go",
			Breaks:      "tables of documents have no names",
			Text:        "		[]column{{\"NAME\", func(i item) string { return i.Metadata.Name }}},",
			Replacement: "		[]column{{\"NAME\", func(i item) string { return i.Metadata.Description }}},",
		},
		{
			Name: "environment beats flags", File: "pkg/cli/serve/config.go",
			Breaks:      "a variable of the environment replaces a flag that was given",
			Text:        "!isOption(flag) || flag.Changed || ",
			Replacement: "!isOption(flag) || ",
		},
		{
			Name: "empty name looked up", File: "pkg/cli/inspect/resolvconf.go",
			Breaks:      "an empty --name is taken for none",
			Text:        "			if cmd.Flags().Changed(\"name\") && asked.name == \"\" {",
			Replacement: "			if !cmd.Flags().Changed(\"name\") && asked.name != \"\" {",
		},
		{
			Name: "changed is unchanged", File: "pkg/cli/apply/apply.go",
			Breaks:      "apply says that a document that it has changed is unchanged",
			Text:        "response.Header.Get(\"ETag\") == before.Header.Get(\"ETag\"):",
			Replacement: "response.Header.Get(\"ETag\") != \"\":",
		},
	}
}

// inPublishing are mutants of the commands on names.
func inPublishing() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "waits for nothing", File: "pkg/cli/publish/unpublish.go",
			Breaks:      "unpublish --wait returns although the name is there still",
			Text:        "return false, err",
			Replacement: "return true, err",
		},
	}
}
