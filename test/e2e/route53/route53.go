// Package route53 plays Amazon Route 53 for tests: so much of its API as
// external-dns uses, with the refusals that matter to it, and a DNS server that
// answers from the hosted zone.
package route53

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// Zone is the hosted zone.
const Zone = "aws.example"

// zoneID is what the API calls it.
const zoneID = "Z0SIGNPOST"

// Server is Route 53 with one hosted zone.
type Server struct {
	// URL is where the API is.
	URL string
	// Address is the "127.0.0.1:port" of the DNS server, for UDP.
	Address string

	http *http.Server
	dns  *dns.Server

	mu      sync.Mutex
	zone    zone
	changes int       // batches that were taken
	last    time.Time // when the last one was
	refused []string  // what was wrong with the others
	keeps   []string  // names without which it takes no batch
}

// Start starts a server with an empty zone; Close ends it.
func Start(ctx context.Context, ports *process.Ports) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address, err := ports.Address(ctx)
	if err != nil {
		return nil, err
	}
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + listener.Addr().String(), Address: address, zone: zone{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2013-04-01/hostedzone", s.listZones)
	mux.HandleFunc("GET /2013-04-01/hostedzone/"+zoneID+"/rrset", s.listSets)
	mux.HandleFunc("POST /2013-04-01/hostedzone/"+zoneID+"/rrset/", s.change)
	mux.HandleFunc("POST /2013-04-01/hostedzone/"+zoneID+"/rrset", s.change)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	s.dns = &dns.Server{PacketConn: packets, Handler: s}
	go func() { _ = s.http.Serve(listener) }()
	go func() { _ = s.dns.ActivateAndServe() }()
	return s, nil
}

// Close ends the server.
func (s *Server) Close() {
	_ = s.http.Close()
	_ = s.dns.Shutdown()
}

// Sets are the sets of a name and type, as "identifier weight values", ordered.
func (s *Server) Sets(name, recordType string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, set := range s.zone.of(fqdn(name), recordType) {
		out = append(out, set.String())
	}
	return out
}

// Keep refuses from now on what would leave one of these names without an address;
// without names, nothing is refused for that.
func (s *Server) Keep(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeps = names
}

// Names are the names and types of the zone, each once, ordered.
func (s *Server) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zone.names()
}

// Quiet is for how long nothing has been changed; the error is about changes that
// were refused.
func (s *Server) Quiet() (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) > 0 {
		return 0, errors.New(strings.Join(s.refused, "; "))
	}
	return time.Since(s.last), nil
}

func (s *Server) listZones(w http.ResponseWriter, _ *http.Request) {
	type hostedZone struct {
		ID              string `xml:"Id"`
		Name            string
		CallerReference string
	}
	respond(w, http.StatusOK, struct {
		XMLName     xml.Name     `xml:"ListHostedZonesResponse"`
		HostedZones []hostedZone `xml:"HostedZones>HostedZone"`
		Marker      string
		IsTruncated bool
		MaxItems    int
	}{HostedZones: []hostedZone{{"/hostedzone/" + zoneID, Zone + ".", "test"}}, MaxItems: 100})
}

func (s *Server) listSets(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	all := s.zone.all()
	s.mu.Unlock()
	respond(w, http.StatusOK, struct {
		XMLName            xml.Name `xml:"ListResourceRecordSetsResponse"`
		ResourceRecordSets []Set    `xml:"ResourceRecordSets>ResourceRecordSet"`
		IsTruncated        bool
		MaxItems           int
	}{ResourceRecordSets: all, MaxItems: 300})
}

func (s *Server) change(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Changes []change `xml:"ChangeBatch>Changes>Change"`
	}
	if err := xml.NewDecoder(r.Body).Decode(&request); err != nil {
		refuse(w, "InvalidInput", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, err := s.zone.changed(request.Changes)
	for _, name := range s.keeps {
		if err == nil && len(changed.of(fqdn(name), "A")) == 0 {
			err = fmt.Errorf("%s was to be kept", name)
		}
	}
	if err != nil {
		s.refused = append(s.refused, err.Error())
		refuse(w, "InvalidChangeBatch", err)
		return
	}
	s.zone = changed
	s.changes++
	s.last = time.Now()
	respond(w, http.StatusOK, struct {
		XMLName     xml.Name `xml:"ChangeResourceRecordSetsResponse"`
		ID          string   `xml:"ChangeInfo>Id"`
		Status      string   `xml:"ChangeInfo>Status"`
		SubmittedAt string   `xml:"ChangeInfo>SubmittedAt"`
	}{ID: fmt.Sprintf("/change/C%d", s.changes), Status: "INSYNC", SubmittedAt: time.Now().UTC().Format(time.RFC3339)})
}

func refuse(w http.ResponseWriter, code string, err error) {
	respond(w, http.StatusBadRequest, struct {
		XMLName xml.Name `xml:"ErrorResponse"`
		Type    string   `xml:"Error>Type"`
		Code    string   `xml:"Error>Code"`
		Message string   `xml:"Error>Message"`
	}{Type: "Sender", Code: code, Message: err.Error()})
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(body) // who is gone needs no answer
}

// ServeDNS implements dns.Handler: of several sets of a name and type it answers
// one, by weight.
func (s *Server) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	answer := new(dns.Msg).SetRcode(question, dns.RcodeSuccess)
	answer.Authoritative = true
	asked := question.Question[0]
	s.mu.Lock()
	set, _ := s.zone.draw(strings.ToLower(asked.Name), dns.TypeToString[asked.Qtype])
	exists := s.zone.has(strings.ToLower(asked.Name))
	s.mu.Unlock()
	if !exists {
		answer.Rcode = dns.RcodeNameError
	}
	for _, value := range set.values() {
		if record, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", asked.Name, set.TTL, set.Type, value)); err == nil {
			answer.Answer = append(answer.Answer, record)
		}
	}
	_ = w.WriteMsg(answer)
}
