package backup_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/backup"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// lasting are keys that a backup holds.
func lasting() map[string]string {
	keys := map[string]string{
		"/signpost/doc/projects//shop":                           `{"uid":"1"}`,
		"/signpost/doc/secrets//s1":                              `{"body":{"sealed":"sp1:0a1b2c3d:xyz"}}`,
		"/signpost/ref/projects/shop//projects/shop/kv":          "",
		"/signpost/release/77/000000":                            "\x1f\x8b\x00 no text",
		"/signpost/current/projects/shop/dig":                    `{"contextID":"4711","previous":"4710","since":"2026-11-21T12:00:00Z","clusters":{"edge+7":["8"]}}`,
		"/signpost/claim/815":                                    `{}`,
		"/context/4711/":                                         `"4711"`,
		"/context/4711/app/a/cluster/c/resource/x+ConfigMap/":    `"{}"`,
		"/context/4710/":                                         `"4710"`,
		"/context/815/":                                          `"815"`,
		"/signpost/ledger/edge+hub/v1/ConfigMap/shop/x":          `{}`,
		"/signpost/observed/edge+hub/service/shop/store":         `{}`,
		"/signpost/installation-is-no-prefix-of-members/unknown": "kept: a later program may need it",
	}
	for n := range 1200 { // several pages, and several transactions
		keys[fmt.Sprintf("/signpost/doc/projects/shop/kv//%04d", n)] = strings.Repeat("x", 1000)
	}
	return keys
}

// fleeting are keys beside them that it leaves out.
func fleeting() map[string]string {
	return map[string]string{
		"/signpost/members/a":     "{}",
		"/signpost/replicas/a":    "{}",
		"/signpost/workers/edge":  "a",
		"/signpost/nudge/shop":    "",
		"/context/99/":            `"99"`, // of EMCO's own
		"/context/47112/":         `"47112"`,
		"/context/2026/":          `"2026"`, // what looks like an id in a pointer, and is none
		"/context/7/":             `"7"`,
		"/context/8/":             `"8"`,
		"/elsewhere/not-signpost": "",
	}
}

func fill(t *testing.T, keys ...map[string]string) *kvtest.Fake {
	f := kvtest.NewFake()
	for _, some := range keys {
		for key, value := range some {
			_, _, err := f.Txn(t.Context(), nil, kv.Put(key, []byte(value)))
			require.NoError(t, err)
		}
	}
	return f
}

func content(t *testing.T, f kv.KV) map[string]string {
	items, _, err := f.Range(t.Context(), kv.Range{Prefix: "/"})
	require.NoError(t, err)
	all := map[string]string{}
	for _, item := range items {
		all[item.Key] = string(item.Value)
	}
	return all
}

func backUp(t *testing.T, s backup.Stores) []byte {
	var out bytes.Buffer
	s.Named = appcontext.Named
	_, err := backup.Write(t.Context(), s, "v1.2.3", noon, &out)
	require.NoError(t, err)
	return out.Bytes()
}

func restore(t *testing.T, s backup.Stores, file []byte) error {
	_, _, err := backup.Restore(t.Context(), s, bytes.NewReader(file), func(id string) bool { return id == "0a1b2c3d" })
	return err
}

func TestARestoreMakesEmptyStoresWhatTheyWere(t *testing.T) {
	from := fill(t, lasting(), fleeting())
	var out bytes.Buffer
	summary, err := backup.Write(t.Context(), backup.Stores{KV: from, Named: appcontext.Named}, "v1.2.3", noon, &out)
	require.NoError(t, err)
	require.Equal(t, backup.Summary{Keys: len(lasting()), Sealed: []string{"0a1b2c3d"}}, summary)
	require.Equal(t, content(t, fill(t, lasting(), fleeting())), content(t, from), "a backup changes nothing")

	to := kvtest.NewFake()
	head, again, err := backup.Restore(t.Context(), backup.Stores{KV: to}, bytes.NewReader(out.Bytes()), func(string) bool { return true })
	require.NoError(t, err)
	require.Equal(t, summary, again)
	require.Equal(t, backup.Header{Format: 1, Schema: intent.Schema, Version: "v1.2.3", Time: noon}, head)
	require.Equal(t, lasting(), content(t, to))
	require.NoError(t, backup.Unfinished(t.Context(), to))
}

// TestABackupIsOfOneMoment: what is written while it reads is not in it, and
// history that went away meanwhile ends it.
func TestABackupIsOfOneMoment(t *testing.T) {
	from := fill(t, lasting())
	writes, pages := 0, 0
	from.Before = func(op, key string) error {
		if op == "range" {
			writes++
			from.Before, from.After = nil, nil
			_, _, err := from.Txn(t.Context(), nil, kv.Put("/signpost/doc/projects//zzz", []byte("late")), kv.Delete("/context/4711/"))
			return err
		}
		return nil
	}
	to := kvtest.NewFake()
	require.NoError(t, restore(t, backup.Stores{KV: to}, backUp(t, backup.Stores{KV: from})))
	require.Equal(t, 1, writes)
	require.Equal(t, lasting(), content(t, to))

	from.Before = func(op, _ string) error {
		if op == "range" {
			pages++
			if pages == 2 {
				return kv.ErrCompacted
			}
		}
		return nil
	}
	_, err := backup.Write(t.Context(), backup.Stores{KV: from}, "", noon, io.Discard)
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "back it up again")
}

// TestAKeyThatCannotBeReadEndsABackup: of what it names, nobody would know.
func TestAKeyThatCannotBeReadEndsABackup(t *testing.T) {
	from := fill(t, lasting(), map[string]string{"/signpost/current/projects/shop/torn": `{"contextID":`})
	_, err := backup.Write(t.Context(), backup.Stores{KV: from, Named: appcontext.Named}, "", noon, io.Discard)
	require.ErrorContains(t, err, "projects/shop/torn")
}

// TestWhatIsNoWholeBackupChangesNothing: torn anywhere, or with any byte of it
// changed.
func TestWhatIsNoWholeBackupChangesNothing(t *testing.T) {
	whole := backUp(t, backup.Stores{KV: fill(t, map[string]string{"/signpost/doc/projects//shop": "{}", "/signpost/claim/1": "{}"})})
	plain := unzip(t, whole)
	bad := map[string][]byte{
		"empty": nil, "text": []byte("hello"), "two files": append(bytes.Clone(whole), whole...),
		"a line less": zip(t, bytes.Replace(plain, []byte(`{"key":"/signpost/claim/1","value":"e30="}`+"\n"), nil, 1)),
		"a value":     zip(t, bytes.Replace(plain, []byte("e30="), []byte("e31="), 1)),
		"a key":       zip(t, bytes.Replace(plain, []byte("projects//shop"), []byte("projects//shot"), 1)),
		"a count":     zip(t, bytes.Replace(plain, []byte(`"keys":2`), []byte(`"keys":3`), 1)),
		"a field":     zip(t, bytes.Replace(plain, []byte(`"mongodb"`), []byte(`"mongo"`), 1)),
		"behind it":   zip(t, append(bytes.Clone(plain), "{}\n"...)),
		"no header":   zip(t, plain[bytes.IndexByte(plain, '\n')+1:]),
	}
	for n := range whole {
		bad[fmt.Sprintf("torn at byte %d", n)] = whole[:n]
		altered := bytes.Clone(whole)
		altered[n] ^= 0x10
		if says, err := unpack(altered); err != nil || !bytes.Equal(says, plain) { // gzip has bits that say nothing
			bad[fmt.Sprintf("byte %d altered", n)] = altered
		}
	}
	to := kvtest.NewFake()
	for name, file := range bad {
		err := restore(t, backup.Stores{KV: to}, file)
		if intent.CodeOf(err) != intent.Conflict { // where the altered byte says that another program has written it
			require.Equal(t, intent.Invalid, intent.CodeOf(err), "%s: %v", name, err)
			require.ErrorContains(t, err, "this is not a whole backup of Signpost's", name)
		}
		require.Empty(t, content(t, to), name)
	}
}

func unzip(t *testing.T, file []byte) []byte {
	plain, err := unpack(file)
	require.NoError(t, err)
	return plain
}

func unpack(file []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func zip(t *testing.T, plain []byte) []byte {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write(plain)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return out.Bytes()
}

// TestRefusalsChangeNothing: another key, a newer program, stores that are not
// empty, or in use, or of another kind.
func TestRefusalsChangeNothing(t *testing.T) {
	file := backUp(t, backup.Stores{KV: fill(t, lasting())})
	newer := zip(t, bytes.Replace(unzip(t, file), fmt.Appendf(nil, `"schema":%d`, intent.Schema), fmt.Appendf(nil, `"schema":%d`, intent.Schema+1), 1))
	foreign := bytes.ReplaceAll(unzip(t, file), []byte(`["0a1b2c3d"]`), []byte(`["99999999"]`))
	for name, refused := range map[string]struct {
		file    []byte
		there   map[string]string
		records backup.Records
		want    string
	}{
		"newer":       {file: newer, want: fmt.Sprintf("the backup is of Signpost v1.2.3 (schema %d, this one knows %d): restore it with that version", intent.Schema+1, intent.Schema)},
		"another key": {file: zip(t, foreign), want: "values of the backup are sealed with key 99999999, which is not given: give it with --secret-key-file"},
		"not empty":   {file: file, there: map[string]string{"/signpost/doc/projects//x": "{}"}, want: "the stores are not empty (etcd holds /signpost/doc/projects//x)"},
		"in use":      {file: file, there: map[string]string{"/signpost/doc/projects//x": "{}", "/signpost/members/signpost-a": "{}"}, want: "a Signpost runs on these stores (signpost-a): stop it first"},
		"another one": {file: file, there: map[string]string{"/signpost/restoring": `{"sha256":"1"}`}, want: "the stores hold an unfinished restore of another backup"},
		"to MongoDB":  {file: file, records: &records{}, want: "leave --mongo-uri out"},
	} {
		to := fill(t, refused.there)
		err := restore(t, backup.Stores{KV: to, Records: refused.records}, refused.file)
		require.Equal(t, intent.Conflict, intent.CodeOf(err), name)
		require.ErrorContains(t, err, refused.want, name)
		require.Equal(t, content(t, fill(t, refused.there)), content(t, to), name)
	}
	beside := map[string]string{"/context/99/": `"99"`, "/elsewhere/not-signpost": ""}
	require.NoError(t, restore(t, backup.Stores{KV: fill(t, beside)}, file), "what EMCO has is not in the way")
}

// TestARestoreThatDiesIsFinishedByTheSameFile: at whichever request. Until then
// nobody works on the stores.
func TestARestoreThatDiesIsFinishedByTheSameFile(t *testing.T) {
	file := backUp(t, backup.Stores{KV: fill(t, lasting())})
	died := errors.New("died")
	for after := 1; ; after++ {
		to, requests := kvtest.NewFake(), 0
		to.After = func(string, string) error {
			requests++
			if requests >= after {
				return died
			}
			return nil
		}
		err := restore(t, backup.Stores{KV: to}, file)
		to.After = nil
		if err == nil {
			require.Greater(t, after, 5, "the mark, several transactions, the end")
			break
		}
		require.ErrorIs(t, err, died)
		if there := content(t, to); len(there) > 0 && !maps.Equal(there, lasting()) {
			require.Equal(t, intent.Conflict, intent.CodeOf(backup.Unfinished(t.Context(), to)), "request %d", after)
			_, err := backup.Write(t.Context(), backup.Stores{KV: to}, "", noon, io.Discard)
			require.Equal(t, intent.Conflict, intent.CodeOf(err), "a half is not backed up")
			require.NoError(t, restore(t, backup.Stores{KV: to}, file), "request %d", after)
		} else if len(there) == 0 {
			require.NoError(t, restore(t, backup.Stores{KV: to}, file), "request %d", after)
		}
		require.Equal(t, lasting(), content(t, to), "request %d", after)
	}
}

// TestOfTwoRestoresOneComesThrough, and one at which an old program was started
// does not end as if nothing were wrong.
func TestOfTwoRestoresOneComesThrough(t *testing.T) {
	file := backUp(t, backup.Stores{KV: fill(t, lasting())})
	to, txns := kvtest.NewFake(), 0
	to.Before = func(op, _ string) error {
		txns++
		if op == "txn" && txns > 2 {
			to.Before = nil
			require.NoError(t, restore(t, backup.Stores{KV: to}, file))
		}
		return nil
	}
	err := restore(t, backup.Stores{KV: to}, file)
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "another restore into these stores has begun meanwhile")
	require.Equal(t, lasting(), content(t, to))

	to = kvtest.NewFake()
	to.Before = func(op, key string) error {
		if op == "txn" && key != "/signpost/restoring" {
			to.Before = nil
			_, _, err := to.Txn(t.Context(), nil, kv.Put("/signpost/members/old", nil))
			return err
		}
		return nil
	}
	require.ErrorContains(t, restore(t, backup.Stores{KV: to}, file), "a Signpost runs on these stores (old)")
	require.Error(t, backup.Unfinished(t.Context(), to))
}

// records are documents in memory.
type records struct {
	all   map[string][]byte
	fails error
}

func (r *records) Dump(context.Context) (map[string][]byte, error) { return r.all, r.fails }

func (r *records) Load(_ context.Context, id string, raw []byte) error {
	if r.all == nil {
		r.all = map[string][]byte{}
	}
	r.all[id] = bytes.Clone(raw)
	return r.fails
}

func (r *records) Empty(context.Context) (bool, error) { return len(r.all) == 0, nil }

func TestDocumentsOfMongoDBAreRecords(t *testing.T) {
	from := &records{all: map[string][]byte{"projects/shop": []byte("bson"), "secrets/1": []byte(`x"sp1:0a1b2c3d:y`)}}
	var out bytes.Buffer
	summary, err := backup.Write(t.Context(), backup.Stores{KV: fill(t, lasting()), Records: from, Named: appcontext.Named}, "", noon, &out)
	require.NoError(t, err)
	require.Equal(t, 2, summary.Records)

	err = restore(t, backup.Stores{KV: kvtest.NewFake()}, out.Bytes())
	require.ErrorContains(t, err, "give --mongo-uri")
	to, keys := &records{fails: errors.New("away")}, kvtest.NewFake()
	require.ErrorContains(t, restore(t, backup.Stores{KV: keys, Records: to}, out.Bytes()), "away; the stores hold a part of it, and serve nobody until it was restored")
	to.fails = nil
	require.NoError(t, restore(t, backup.Stores{KV: keys, Records: to}, out.Bytes()))
	require.Equal(t, from.all, to.all)
	require.Equal(t, lasting(), content(t, keys))
	err = restore(t, backup.Stores{KV: kvtest.NewFake(), Records: to}, out.Bytes())
	require.ErrorContains(t, err, "the stores are not empty (MongoDB holds documents)")

	from.fails = errors.New("away")
	_, err = backup.Write(t.Context(), backup.Stores{KV: keys, Records: from}, "", noon, io.Discard)
	require.ErrorContains(t, err, "away")
}

// FuzzRestore: whatever a file is, it is judged, and what was judged to be no
// backup leaves the stores alone.
func FuzzRestore(f *testing.F) {
	var out bytes.Buffer
	_, err := backup.Write(context.Background(), backup.Stores{KV: kvtest.NewFake()}, "v1", noon, &out)
	require.NoError(f, err)
	f.Add(out.Bytes())
	f.Add([]byte(`{"header":{"format":1}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		to := kvtest.NewFake()
		for _, one := range [][]byte{file, zip(t, file)} {
			if err := restore(t, backup.Stores{KV: to}, one); err != nil {
				require.Contains(t, []intent.Code{intent.Invalid, intent.Conflict}, intent.CodeOf(err), "%v", err)
				require.Empty(t, content(t, to))
			}
		}
	})
}
