package intent

// GroupSummary is what a list of deployment intent groups tells of one.
type GroupSummary struct {
	Path       Path   `json:"path"`
	State      State  `json:"state"`
	Release    int64  `json:"release"`           // the number of the current release, 0 before the first
	Names      int    `json:"names"`             // host names that the release publishes
	Undeployed int    `json:"undeployed"`        // documents that differ from the release
	Message    string `json:"message,omitempty"` // what stands in the way of the whole group
}

// GroupSummaryPage is a page of the deployment intent groups of a project.
type GroupSummaryPage struct {
	Items    []GroupSummary `json:"items"` // never nil; ordered by composite app and name
	Continue string         `json:"continue,omitempty"`
}
