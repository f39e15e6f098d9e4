package grant

// MadeBy says who has made a namespace of a cluster.
type MadeBy string

// The possible makers of a namespace.
const (
	NotKnown MadeBy = ""       // the cluster does not tell
	Nobody   MadeBy = "nobody" // it is not there
	Us       MadeBy = "us"     // this installation of Signpost
	Others   MadeBy = "others"
)
