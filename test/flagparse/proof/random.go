package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	upstream "sigs.k8s.io/external-dns/pkg/apis/externaldns"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// Fuzz feeds random records to a version, made of the fuzzer's bytes.
func Fuzz(f *testing.F, version externaldns.Version) {
	const corpus = 50
	f.Add([]byte{})
	for seed := range uint64(corpus) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { prover{version}.holds(t, &choices{data}) })
}

// randomRecords feeds a bounded number of random records, the same each time.
func (p prover) randomRecords(t *testing.T) {
	const records, fewest = 3000, 300
	accepted := 0
	for seed := range uint64(records) {
		if p.holds(t, &choices{randomBytes(seed)}) {
			accepted++
		}
	}
	t.Logf("%d of %d random records were accepted and rendered", accepted, records)
	if accepted < fewest {
		t.Errorf("only %d of %d random records were accepted: little is proven", accepted, records)
	}
}

func randomBytes(seed uint64) []byte {
	source := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, source.IntN(64))
	for i := range data {
		data[i] = byte(source.Uint32())
	}
	return data
}

// holds checks the promise for one record: what a write accepts and a plan does
// not refuse is a command line that external-dns takes, and that stays in its
// place. It tells whether the record came so far.
func (p prover) holds(t *testing.T, c *choices) bool {
	t.Helper()
	record, extra := c.record()
	options := p.options(record)
	refused, _ := externaldns.Check(record)
	arguments, findings := externaldns.Compile(options)
	if len(refused) > 0 || len(findings) > 0 {
		if len(findings) == 0 {
			t.Errorf("%+v: a plan takes what a write refuses: %v", record, refused)
		}
		return false
	}
	_, secrets := externaldns.TakeSecrets(record.Parameters)
	line := slices.Clone(arguments.Args)
	for _, secret := range secrets {
		line = append(line, "--"+secret.Parameter+"="+secret.Value)
	}
	config, err := parse(line)
	if err != nil {
		t.Fatalf("%+v\n%q: %v", record, line, err)
	}
	stays(t, record, config)
	if len(options.CheckExtraArgs(extra, arguments.Args)) == 0 {
		line = append(line, extra...)
		config := upstream.NewConfig()
		if err := config.ParseFlags(line); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		stays(t, record, config)
	}
	return true
}

// stays checks what no parameter may change.
func stays(t *testing.T, record externaldns.Record, config *upstream.Config) {
	t.Helper()
	if config.Provider != record.Provider || config.Namespace != namespace || config.LabelFilter != labelFilter ||
		!slices.Equal(config.Sources, []string{"crd"}) || config.APIServerURL != "" || config.KubeConfig != "" ||
		config.Once || config.WebhookServer || config.TXTOwnerID == "" || config.Policy == "" {
		t.Errorf("%+v leaves its place: %+v", record, config)
	}
}

// choices draws a record from bytes; without any left it draws the first of each.
type choices struct{ data []byte }

func (c *choices) below(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	next := c.data[0]
	c.data = c.data[1:]
	return int(next) % n
}

// rarely is true one time in four.
func (c *choices) rarely() bool { return c.below(4) == 3 } //nolint:mnd // as the comment says

func pick[T any](c *choices, list []T) T { return list[c.below(len(list))] }

// record draws a provider with parameters, and extra arguments.
func (c *choices) record() (externaldns.Record, []string) {
	const parameters = 8 // fewer than that
	record := working(pick(c, externaldns.Providers()))
	record.AllowUnownedDeletion = c.below(2) == 1
	var rows []externaldns.Flag
	for _, flag := range externaldns.Flags() {
		if flag.Kind != externaldns.Reserved && (flag.Family == "" || flag.Family == familyOf(record.Provider)) {
			rows = append(rows, flag)
		}
	}
	for range c.below(parameters) {
		flag := pick(c, rows)
		name := flag.Name
		if flag.Kind == externaldns.Bool && c.rarely() {
			name = "no-" + name
		}
		record.Parameters[name] = c.value(flag)
	}
	var extra []string
	for range c.below(3) {
		flag := pick(c, externaldns.Flags())
		extra = append(extra, pick(c, []string{"--" + flag.Name, "--no-" + flag.Name, fmt.Sprintf("--%s=%v", flag.Name, c.value(flag))}))
	}
	return record, extra
}

// value draws a right value more often than an odd one, and lists of them.
func (c *choices) value(flag externaldns.Flag) any {
	const items = 4 // fewer than that
	odd := []any{
		"", " ", "axfr", "two words", "a,b", "-1", "0", "1e3", "--source=service", "$(HOME)", "@/etc/passwd", "=", "'\"", "münchen.example",
		true, false, 0.0, 1.0, 5.5, -3.0, nil, "true", "1h1m1s", "*.example", ".example", "%{record_type}-", "{{.Name}}", "10.0.0.0/8", ":8888",
	}
	one := func() any {
		if c.rarely() {
			return pick(c, odd)
		}
		return pick(c, samples(flag))
	}
	if !c.rarely() {
		return one()
	}
	list := make([]any, c.below(items))
	for i := range list {
		list[i] = one()
	}
	return list
}
