package intent

import "context"

// Itself is the subject of what Signpost does without being asked.
const Itself = "signpost"

// Actor is who asks for something, and by which request. The edges put one
// into the context of each request that they let through.
type Actor struct {
	Subject   string                    // as the edge knows it; "anonymous" without authentication
	RequestID string                    // of the request that asks
	Reads     func(project string) bool // whether the subject may read a project's documents; nil: none
	Operates  func(project string) bool // whether the subject may deploy in a project; nil: it may
	Confined  bool                      // to single projects: what bounds them is not theirs to change
	Roles     []HeldRole                // what the subject may do, as the edge was told
}

// HeldRole is a role that somebody has, in a project or in all of them.
type HeldRole struct {
	Role    string `json:"role"`
	Project string `json:"project,omitempty"` // empty: all projects
}

// Sees tells whether the actor may be told of what a project has.
func (a Actor) Sees(project string) bool { return a.Reads != nil && a.Reads(project) }

// Project is how a text for the actor calls a project: by its name, or another
// project where the actor may not know which.
func (a Actor) Project(name string) string {
	if a.Sees(name) {
		return "project " + name
	}
	return "another project"
}

// Names is what a text for the actor calls a document in a project: its path, or another
// project if the actor may not know which.
func (a Actor) Names(path Path) string {
	if a.Sees(path.Segment("projects")) {
		return string(path)
	}
	return "another project"
}

type actorKey struct{}

// As is a context in which a asks.
func As(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// By answers who asks in a context; the zero Actor, which sees nothing, where
// Signpost does something by itself.
func By(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// Within is a context with the same actor, who is told no more than every reader of the
// project may know. It is for texts that are stored where these find them.
func Within(ctx context.Context, project string) context.Context {
	a := By(ctx)
	a.Reads = func(name string) bool { return name == project }
	return As(ctx, a)
}
