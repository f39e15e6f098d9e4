package draft

import "github.com/signpost-dns/signpost/pkg/domain/intent"

// MissingReference says that from may not be stored because of to.
func MissingReference(from, to intent.Path) error {
	return &intent.Error{
		Code:   intent.Conflict,
		Detail: string(from) + " cannot be stored",
		Err:    &intent.MissingReference{From: from, To: to},
	}
}

// Referenced says that path may not be deleted because of by.
func Referenced(path intent.Path, by []intent.Path) error {
	return &intent.Error{
		Code:   intent.Conflict,
		Detail: string(path) + " cannot be deleted",
		Err:    &intent.Referenced{Path: path, By: by},
	}
}

// Unknown says that the outcome of a write to path could not be found out.
func Unknown(path intent.Path, cause error) error {
	return &intent.Error{
		Code:   intent.Unavailable,
		Detail: "it is not known whether " + string(path) + " was written: read it again",
		Err:    cause,
	}
}
