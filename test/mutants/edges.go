package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inEdges are mutants of the HTTP and gRPC edges.
func inEdges() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "weak If-Match", File: "api/operation/precondition.go",
			Breaks:      "If-Match takes a weak entity tag",
			Text:        "matches(p.match, doc, false)",
			Replacement: "matches(p.match, doc, true)",
		},
		{
			Name: "token not taken", File: "api/serve.go",
			Breaks:      "the rate limit of a subject is not applied",
			Text:        "	if err := e.limits.TakeToken(op.Kind, limits.ClientKey(r, c.Actor)); err != nil {\n		return nil, err\n	}\n",
			Replacement: "",
		},
		{
			Name: "gRPC without rights", File: "api/contextupdate/guard.go",
			Breaks:      "a call by gRPC is served although its caller is refused",
			Text:        "	actor, err := e.authorize(ctx)\n	if err != nil {\n		return nil, refuse(err, n.id)\n	}\n",
			Replacement: "	actor, _ := e.authorize(ctx)\n",
		},
		{
			Name: "retried precondition", File: "pkg/client/sender.go",
			Breaks:      "the client repeats a PUT that has a precondition",
			Text:        `request.Header.Get("If-Match") == "" && request`,
			Replacement: `request.Header.Get("If-Match") == "" || request`,
		},
		{
			Name: "share not given back", File: "pkg/access/throttle/places.go",
			Breaks:      "a caller that waited in vain is remembered for ever",
			Text:        "	if !ok {\n		s.forget(name)\n",
			Replacement: "	if !ok {\n",
		},
		{
			Name: "marks twice", File: "pkg/tracing/log.go",
			Breaks:      "a line of the log says what its context said before, too",
			Text:        "if !slices.ContainsFunc(marks, func(a slog.Attr) bool { return a.Key == at.name }) {",
			Replacement: "if true || slices.ContainsFunc(marks, func(a slog.Attr) bool { return a.Key == at.name }) {",
		},
		{
			Name: "value in an error", File: "pkg/domain/redact/redact.go",
			Breaks:      "an error quotes a value of several lines, which may be secret",
			Text:        "(?s)`.*`",
			Replacement: "`.*`",
		},
	}
}

// inHandlers are mutants of what answers the operations of the HTTP edge.
func inHandlers() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "revision ignored", File: "api/actions/lifecycle.go",
			Breaks:      "a plan ignores the revision that is given for another action than a rollback",
			Text:        `c.Query.Has("to") && action != intent.Rollback`,
			Replacement: `c.Query.Has("to") && action == intent.Terminate`,
		},
		{
			Name: "no way out of scarcity", File: "api/limits/limits.go",
			Breaks:      "a deletion is refused while memory is scarce",
			Text:        "d.Relieves || !l.Scarce()",
			Replacement: "!l.Scarce()",
		},
		{
			Name: "reasons for everybody", File: "api/probes/probes.go",
			Breaks:      "readiness tells everybody why a dependency fails",
			Text:        `Message: "does not answer"`,
			Replacement: "Message: err.Error()",
		},
		{
			Name: "request without identity", File: "api/requestinfo/requestinfo.go",
			Breaks:      "problems and the log lose the id of the request",
			Text:        "return context.WithValue(ctx, key{}, info)",
			Replacement: "return ctx",
		},
		{
			Name: "old document, new name", File: "api/names/names.go",
			Breaks:      "a name is deleted although its document is not the one that the caller has read",
			Text:        "	if asked {\n		r.Was = old\n	}\n",
			Replacement: "	_ = asked\n",
		},
		{
			Name: "replaced in a full store", File: "api/resources/write.go",
			Breaks:      "a document is replaced although the store is nearly full",
			Text:        "	if h.NearlyFull() {\n",
			Replacement: "	if h.NearlyFull() && old == nil {\n",
		},
		{
			Name: "no time to retry", File: "api/response/response.go",
			Breaks:      "an answer that asks to retry does not say when",
			Text:        "		w.Header().Set(\"Retry-After\", seconds(p.retryAfter))\n",
			Replacement: "",
		},
		{
			Name: "no nearest field", File: "api/schema/explain.go",
			Breaks:      "a misspelled field is refused without the nearest name",
			Text:        `near := nearest.Name(jsonbody.Clip(name), known); near != ""`,
			Replacement: "near := nearest.Name(jsonbody.Clip(name), known); near == name",
		},
		{
			Name: "null history", File: "api/service/service.go",
			Breaks:      "a server without a history answers null in place of a list",
			Text:        "int, string) (intent.EventPage, error) {\n	return intent.EventPage{Items: []intent.Event{}}, nil\n}\n\n// OfName",
			Replacement: "int, string) (intent.EventPage, error) {\n	return intent.EventPage{}, nil\n}\n\n// OfName",
		},
	}
}

// inRights are mutants of who may do what.
func inRights() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "any audience", File: "pkg/access/oidc.go",
			Breaks:      "a token that the issuer made for another service is taken",
			Text:        "AnyAudience: o.Audiences, ",
			Replacement: "",
		},
		{
			Name: "role of another project", File: "pkg/access/subject.go",
			Breaks:      "a role in one project counts in all of them",
			Text:        "		if g.covers(project) {\n			best = max(best, g.Role)\n		}\n",
			Replacement: "		best = max(best, g.Role)\n",
		},
		{
			Name: "bounds lifted", File: "pkg/admission/write.go",
			Breaks:      "a caller who is bounded by a project may delete it, and its bounds",
			Text:        "		if err := projects.Unbound(ctx, doc); err != nil {\n			return err\n		}\n",
			Replacement: "",
		},
		{
			Name: "reservation left", File: "pkg/admission/write.go",
			Breaks:      "the namespace of a project that could not be stored stays reserved",
			Text:        "errors.Join(putError(w.Path, err), projects.ReleaseReservation(ctx, a.Checker, reserved))",
			Replacement: "putError(w.Path, err)",
		},
		{
			Name: "readable key", File: "pkg/storage/seal/key.go",
			Breaks:      "a key file that everybody may read is taken",
			Text:        "mode&0o027 != 0",
			Replacement: "mode&0o022 != 0",
		},
		{
			Name: "digest key swept", File: "pkg/storage/vault/vault.go",
			Breaks:      "the key of all digests is removed as unused",
			Text:        " || doc.Path == at(digestKeyID)",
			Replacement: "",
		},
		{
			Name: "link-local server", File: "pkg/dns/verify/client.go",
			Breaks:      "a DNS server on the machine's own link is asked",
			Text:        " || address.IsLinkLocalUnicast()",
			Replacement: "",
		},
	}
}

// inLimits are mutants of what bounds and grants.
func inLimits() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "platform by a star", File: "pkg/domain/grant/grant.go",
			Breaks:      "a grant of all namespaces covers those of the platform",
			Text:        "	return !Platform(namespace) && slices.ContainsFunc(n,",
			Replacement: "	return slices.ContainsFunc(n,",
		},
		{
			Name: "endless answer", File: "pkg/access/bounded/transport.go",
			Breaks:      "what a cluster answers is read to its end, however much it is",
			Text:        "	if heaviest > b.most {",
			Replacement: "	if heaviest > b.most && b.budget == nil {",
		},
		{
			Name: "uncounted growth", File: "pkg/storage/documents/quota/store.go",
			Breaks:      "what a project writes anew does not count",
			Text:        "	if more := delta.growing(); more != (Usage{}) {",
			Replacement: "	if more := delta.growing(); more == (Usage{}) {",
		},
	}
}

// inCommands are mutants of the programs, and of what they are made of.
func inCommands() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "earlier release awaited", File: "pkg/cli/lifecycle/wait.go",
			Breaks:      "--wait ends when an earlier release has reached the state",
			Text:        " && status.Revision >= revision && len(",
			Replacement: " && len(",
		},
		{
			Name: "busy is failed", File: "pkg/cli/connect/exit.go",
			Breaks:      "a server that asks to try again gets the exit code of a failure",
			Text:        " || problem.Status == http.StatusTooManyRequests",
			Replacement: "",
		},
		{
			Name: "silence is a refusal", File: "pkg/app/measure/stores.go",
			Breaks:      "requests that a store did not answer are measured as refused",
			Text:        "outcome = \"unavailable\"",
			Replacement: "outcome = \"refused\"",
		},
		{
			Name: "half-restored stores", File: "pkg/app/app.go",
			Breaks:      "Signpost starts on stores whose restore was interrupted",
			Text:        "	if err := backup.Unfinished(ctx, stores.kv); err != nil {\n",
			Replacement: "	if err := backup.Unfinished(ctx, stores.kv); err != nil && ctx.Err() != nil {\n",
		},
		{
			Name: "backup of two moments", File: "pkg/storage/backup/backup.go",
			Breaks:      "a backup reads keys at several revisions",
			Text:        "eachKey(ctx, s.KV, ownPrefix, revision, ",
			Replacement: "eachKey(ctx, s.KV, ownPrefix, 0*revision, ",
		},
		{
			Name: "inherited environment", File: "pkg/dns/linter/run.go",
			Breaks:      "the linter gets the server's environment, with its secrets",
			Text:        "	cmd.Env = []string{}\n",
			Replacement: "",
		},
		{
			Name: "last name wins", File: "pkg/domain/nearest/nearest.go",
			Breaks:      "of equally near names the last one is proposed",
			Text:        "distance < bestDistance",
			Replacement: "distance <= bestDistance",
		},
		{
			Name: "dead replica lives on", File: "pkg/storage/replicas/registry.go",
			Breaks:      "a replica that ends counts as alive until its lease runs out",
			Text:        "	defer r.release(ctx, lease)\n",
			Replacement: "",
		},
	}
}
