package intent

// DraftPlan answers what documents would do that are not stored.
type DraftPlan struct {
	Changes   bool             `json:"changes"`   // whether a document or an owner would change
	Documents []DocumentChange `json:"documents"` // as they were given
	Owners    []OwnerPlan      `json:"owners"`    // that the documents belong to; none while a document would be refused
	Errors    []Field          `json:"errors"`    // why documents would be refused
}

// DocumentChange is what a write would do to a document.
type DocumentChange struct {
	Path   Path   `json:"path"`
	Action string `json:"action"` // create, update, unchanged or refused
}

// OwnerPlan is the plan to deploy a deployment intent group, a logical cloud, a provider or
// a name.
type OwnerPlan struct {
	Path    Path `json:"path"`
	Changes bool `json:"changes"`
	Plan    Plan `json:"plan"` // without a token, and without objects that stay as they are
}
