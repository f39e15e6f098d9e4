// Package packed compresses releases as they are stored: as zlib, with a dictionary of the names
// of their fields. The stored form begins with the checksum of the dictionary and ends with
// that of the content.
package packed

import (
	"bytes"
	"compress/zlib"
	"io"
	"sync"
)

// dictionary is what values are compressed with. It has the names of the fields and
// common values, the most common last, as they follow each other. Stored releases need it
// as it is: a better one is to be added beside it (ADR 0087).
const dictionary = `"orchestrated":{"appContext":"","level":"0"},"formerDNS":[{"dns":[{"intent":"","cluster":"","domain":"cluster.local","spec":{"mode":"primary","namespace":"signpost-dns"` +
	`},"image":"registry.k8s.io/coredns/coredns:v","resolverImage":""}],"podDNS":{"intent":"","spec":{"app":"","dnsPolicy":"None","dnsConfig":{"nameservers":[""],"searches":[""]}},` +
	`"autopath":[{"cluster":"","nameserver":"","search":""}]},"manifests":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"app":""},"name":"","namespace":""},` +
	`"spec":{"replicas":1,"selector":{"matchLabels":{"app":""}},"template":{"metadata":{"labels":{"app":""}},"spec":{"containers":[{"image":"","name":"","ports":[{"containerPort":80}]}]}}}},` +
	`{"apiVersion":"v1","kind":"Service","metadata":{"name":"","namespace":""},"spec":{"ports":[{"port":80,"protocol":"TCP"}],"selector":{"app":""},"type":"LoadBalancer"}}],` +
	`"directory":"","inventory":true,"records":[{"type":"TXT","values":[""]}],"types":["A","AAAA","CNAME","SRV"],"routing":{"policy":"failover","weights":{"":1}},"view":"",` +
	`"targets":["203.0.113."],"scope":"cluster","ttl":300,"ttl":60,"path":"projects//composite-apps//v1/deployment-intent-groups//logical-clouds//traffic-group-intents//dns-intents/","schema":2},` +
	`{"schema":1,"group":{"installation":"","path":"projects//names/.example","uid":"","project":{"name":"","namespace":"-dns"},"compositeApp":"","version":"","name":"",` +
	`"logicalCloud":"","logicalCloudNamespace":"","apps":null,"clusters":[{"name":"edge+"},{"name":"edge+"}],"bindings":[{"app":"name","service":"","namespace":"","record":"",` +
	`"scope":"public","cluster":"edge+","sources":["edge+"],"hosts":[{"name":"","health":{"readyEndpoints":true,"unreachableAfter":"5m","whenAllUnhealthy":"keep"}}],"prefix":"/skydns/"}]},` +
	`"inputs":[{"path":"cluster-providers//clusters/","uid":"","revision":1},{"path":"projects/","uid":"","revision":1},{"path":"projects//dns-update-records/","uid":"","revision":1},` +
	`{"path":"lifecycle/projects//dns-update-records/","uid":"","revision":2},{"path":"projects//names/","uid":"","revision":1}]}`

// Packer packs and unpacks. It keeps what compressing needs, which is nearly a megabyte, for
// the next text, unless it is nil. The zero value is ready, and several goroutines may use it.
type Packer struct {
	writers sync.Pool // of *zlib.Writer
	readers sync.Pool // of io.ReadCloser and zlib.Resetter
}

// Pack is a text as it is stored.
func (p *Packer) Pack(text []byte) ([]byte, error) {
	if p == nil {
		p = new(Packer)
	}
	var out bytes.Buffer
	zip, kept := p.writers.Get().(*zlib.Writer)
	if kept {
		zip.Reset(&out)
	} else {
		var err error
		if zip, err = zlib.NewWriterLevelDict(&out, zlib.DefaultCompression, []byte(dictionary)); err != nil {
			return nil, err
		}
	}
	if _, err := zip.Write(text); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	p.writers.Put(zip)
	return out.Bytes(), nil
}

// Unpack is the text of Pack. It fails for what is damaged, or was not packed with the
// dictionary.
func (p *Packer) Unpack(from io.Reader) ([]byte, error) {
	if p == nil {
		p = new(Packer)
	}
	unzip, kept := p.readers.Get().(io.ReadCloser)
	var err error
	if kept {
		err = unzip.(zlib.Resetter).Reset(from, []byte(dictionary)) //nolint:errcheck,forcetypeassert // each reader of zlib is one
	} else {
		unzip, err = zlib.NewReaderDict(from, []byte(dictionary))
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(unzip)
	if err == nil {
		p.readers.Put(unzip)
	}
	return text, err
}
