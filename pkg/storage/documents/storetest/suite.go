// Package storetest holds the conformance suite of intent.Store: the promises of every
// store, with any server.
package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

// Options say how the suite gets at a store. All stores of one test work on
// the same data, which is empty when the test begins.
type Options struct {
	// New prepares empty data and opens a store on it.
	New func(t *testing.T) Data
}

// Data is one set of data and the ways to it.
type Data struct {
	// Open opens a store on the data, as a process that starts does. Leftovers of a
	// crashed writer are old enough at once for its Sweep.
	Open func(t *testing.T) intent.Store

	// Crashing opens a store which calls step ahead of and behind each
	// external write; after an error from it, the store does nothing more.
	// RunCrashes needs it.
	Crashing func(t *testing.T, step func(name string) error) intent.Store

	// Kill ends the server without warning, Restart brings it back on the
	// data it had. Stores that are open live through both. RunKills needs
	// them.
	Kill, Restart func(t *testing.T)
}

// Run runs what every store promises.
func Run(t *testing.T, options Options) {
	run(t, options, map[string]func(*testing.T, Data){
		"DocumentComesBackAsItWasWritten":                documentComesBack,
		"RevisionsAndTimes":                              revisionsAndTimes,
		"IdenticalPutChangesNothing":                     identicalPut,
		"ConditionsAreChecked":                           conditions,
		"RecreatedDocumentIsAnother":                     recreated,
		"OfManyCreatorsOneWins":                          manyCreators,
		"OfManySwapsOneWinsEach":                         manySwaps,
		"BadInputIsRefusedAndLeavesNothing":              badInput,
		"NewerSchemaIsReadAndNotChanged":                 newerSchema,
		"LargeBody":                                      largeBody,
		"ManyDocumentsAreReadAtOnce":                     manyAtOnce,
		"ListIsOrderedAndComplete":                       listOrdered,
		"ListPages":                                      listPages,
		"ListBytes":                                      listBytes,
		"ListContinueIsValidated":                        listContinue,
		"ListKeepsCollectionsApart":                      listApart,
		"MissingReferenceIsNamed":                        missingReference,
		"ReferencedDocumentStays":                        referencedStays,
		"ReferencesFollowReplacement":                    referencesFollow,
		"SelfReferenceIsRefused":                         selfReference,
		"ManyAreDeletedAtOnce":                           manyDeleted,
		"ManyReferences":                                 manyReferences,
		"ConcurrentWritersLeaveNoDanglingReference":      concurrentWriters,
		"ConcurrentReplacementsLeaveNoDanglingReference": concurrentReplacements,
		"SweeperDisturbsNoLiveWriter":                    sweeperDisturbsNobody,
	})
}

// RunCrashes runs what a store promises of writers that die or are halted at a
// step.
func RunCrashes(t *testing.T, options Options) {
	run(t, options, map[string]func(*testing.T, Data){
		"CrashAtEveryStepOfCreate":                        crashOfCreate,
		"CrashAtEveryStepOfReplace":                       crashOfReplace,
		"CrashAtEveryStepOfDelete":                        crashOfDelete,
		"CrashAtEveryStepOfDeletingMany":                  crashOfDeleteAll,
		"CrashAtEveryStepOfRefusals":                      crashOfRefusals,
		"LostAnswersAreFoundOut":                          lostAnswers,
		"WritesThatMeetAtAnyStepLeaveNoDanglingReference": interleavedAtEveryStep,
	})
}

// RunKills runs what a store promises of a server that dies and comes back.
func RunKills(t *testing.T, options Options) {
	run(t, options, map[string]func(*testing.T, Data){
		"AcknowledgedWriteSurvivesKill9": survivesKill,
		"UnavailableWhileServerIsAway":   serverAway,
	})
}

func run(t *testing.T, options Options, tests map[string]func(*testing.T, Data)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, options.New(t)) })
	}
}

const project = intent.Path("projects/shop")

func body(text string) []byte { return []byte(`{"spec":{"text":"` + text + `"}}`) }

func put(t *testing.T, s intent.Store, path intent.Path, text string, refs ...intent.Path) intent.Document {
	t.Helper()
	doc, err := s.Put(t.Context(), intent.Write{Path: path, Body: body(text), Refs: refs})
	require.NoError(t, err)
	return doc
}

func get(t *testing.T, s intent.Store, path intent.Path) intent.Document {
	t.Helper()
	doc, err := s.Get(t.Context(), path)
	require.NoError(t, err)
	return doc
}

func requireCode(t *testing.T, want intent.Code, err error, reason ...any) {
	t.Helper()
	require.Error(t, err, reason...)
	require.Equal(t, want, intent.CodeOf(err), "%v: %v", reason, err)
}

func requireMissing(t *testing.T, err error, from, to intent.Path) {
	t.Helper()
	requireCode(t, intent.Conflict, err)
	var missing *intent.MissingReference
	require.ErrorAs(t, err, &missing)
	require.Equal(t, intent.MissingReference{From: from, To: to}, *missing)
}

func requireReferenced(t *testing.T, err error, path intent.Path, by ...intent.Path) {
	t.Helper()
	requireCode(t, intent.Conflict, err)
	var referenced *intent.Referenced
	require.ErrorAs(t, err, &referenced)
	require.Equal(t, path, referenced.Path)
	require.Equal(t, by, referenced.By)
}

func names(page intent.Page) []string {
	list := []string{}
	for _, doc := range page.Items {
		list = append(list, doc.Path.Name())
	}
	return list
}
