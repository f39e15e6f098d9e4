package architecture

// longestSentence is how many words a sentence may have.
const longestSentence = 25

// privateWords are the words that only this code base used, and the terms that
// replace them. Neither names nor texts contain them, in any case or form below.
func privateWords() map[string]string {
	return map[string]string{
		"asker":        "client, clientKey",
		"askers":       "clients",
		"bid":          "claim request",
		"bids":         "claim requests",
		"checkup":      "probe",
		"chore":        "job",
		"chores":       "jobs",
		"claimant":     "claim holder",
		"claimants":    "claim holders",
		"deed":         "operation",
		"deeds":        "operations",
		"deadhome":     "checkHomeAbandoned",
		"doubts":       "pending creates",
		"elsewhere":    "managed by another tool, externally managed",
		"giver":        "publisher",
		"givers":       "publishers",
		"giveway":      "markContested",
		"glance":       "lookup budget",
		"heed":         "sync from EMCO",
		"heeded":       "synced from EMCO",
		"heeds":        "syncs from EMCO",
		"janitor":      "gc, garbage collection",
		"leftbehind":   "orphans",
		"letgo":        "confirm the removal",
		"nudge":        "enqueue",
		"nudged":       "enqueued",
		"nudges":       "enqueues",
		"outlook":      "health cache",
		"patrol":       "resync",
		"patrols":      "resyncs",
		"peek":         "read, ReadLive",
		"prover":       "verifier",
		"putoff":       "defer",
		"rehome":       "relocate",
		"rehomed":      "relocated",
		"rouse":        "wake",
		"standing":     "cluster health, context state",
		"stepper":      "worker",
		"steppers":     "workers",
		"stir":         "wake",
		"stranger":     "existing record, object that Signpost does not manage",
		"strangers":    "existing records",
		"successor":    "replacement",
		"tenure":       "cluster worker",
		"tenures":      "cluster workers",
		"undisturbed":  "retryOnConflict",
		"vacate":       "track removed clusters",
		"whoever":      "a named person or program",
		"whatever":     "a named thing",
		"let go":       "remove, release",
		"lets go":      "removes, releases",
		"letting go":   "removing, releasing",
		"rid of":       "remove",
		"taken for":    "is treated as",
		"takes for":    "treats as",
		"knows nobody": "imports no other package",
	}
}

// starts are how no sentence begins: its subject is a named thing. Headings and
// questions may.
func starts() []string {
	return []string{"What", "Who", "Whose", "Whoever", "Whatever", "One", "Those", "That which", "Where"}
}

// behind is how many faults fewer than its exception a part may have, so that not
// every change of a text has to change the table.
const behind = 10

// unclean are the parts of the repository that are yet to be rewritten, and how
// many faults each may have until then. A number only goes down.
func unclean() map[string]int {
	return map[string]int{
		"cmd/signpost-dns": 1,
		"pkg/dns":          9,
		"pkg/domain":       20,
		"pkg/plan":         6,
		"pkg/storage":      7,
	}
}
