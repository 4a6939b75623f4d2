package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	// patience is how long something is waited for that is to come.
	patience = 40 * time.Second
	// silence is how long nothing may come where nothing is to come.
	silence = 500 * time.Millisecond
	// tokenKey is the metadata that holds the token of a registration.
	tokenKey = "headroom-session"
)

// queues has a leaf for each kind of check.
const queues = `
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: a
          - name: small
            resources: {max: {vcore: 4}}
          - name: fair
            properties: {application.sort.policy: fair}
          - name: parent
            parent: true
          - name: rich
          - name: poor
            resources: {guaranteed: {vcore: 6}}
            properties: {preemption.delay: 1s}
`

// server is what a check talks to.
type server struct {
	address    string
	connection *grpc.ClientConn
	ends       []context.CancelFunc
}

// close ends the streams that the check has opened.
func (s *server) close() {
	for _, end := range s.ends {
		end()
	}
}

func (s *server) client() si.SchedulerClient {
	return si.NewSchedulerClient(s.connection)
}

// context lasts until the check ends.
func (s *server) context() context.Context {
	context, cancel := context.WithCancel(context.Background())
	s.ends = append(s.ends, cancel)
	return context
}

func registration(id, config string) *si.RegisterResourceManagerRequest {
	return &si.RegisterResourceManagerRequest{
		RmID: id, Version: "1", PolicyGroup: "queues", Config: config,
		BuildInfo: map[string]string{"client": "go"},
	}
}

// register gives the token of the registration.
func (s *server) register(id, config string) (string, error) {
	var header metadata.MD
	context, cancel := context.WithTimeout(s.context(), patience)
	defer cancel()
	request := registration(id, config)
	_, err := s.client().RegisterResourceManager(context, request, grpc.Header(&header))
	if err != nil {
		return "", err
	}
	if tokens := header.Get(tokenKey); len(tokens) == 1 {
		return tokens[0], nil
	}
	return "", fmt.Errorf("no token in %v", header)
}

// wire is one stream of the client, as the module has it.
type wire[Q, A any] interface {
	Send(*Q) error
	Recv() (*A, error)
	grpc.ClientStream
}

// pipe is a stream whose answers are read as they come.
type pipe[Q, A any] struct {
	wire    wire[Q, A]
	answers chan *A
	// end is why the stream has ended; to be read once answers is closed.
	end error
}

func open[Q, A any](wire wire[Q, A], err error) *pipe[Q, A] {
	one := &pipe[Q, A]{wire: must(wire, err), answers: make(chan *A, 1<<16)}
	go func() {
		defer close(one.answers)
		for {
			answer, err := wire.Recv()
			if err != nil {
				one.end = err
				return
			}
			one.answers <- answer
		}
	}()
	return one
}

func (p *pipe[Q, A]) send(request *Q) {
	if err := p.wire.Send(request); err != nil {
		fail("cannot send %v: %v", request, err)
	}
}

// next is the next answer, which is to come.
func (p *pipe[Q, A]) next() *A {
	select {
	case answer, ok := <-p.answers:
		if !ok {
			fail("the stream has ended: %v", p.end)
		}
		return answer
	case <-time.After(patience):
		fail("no answer in %v", patience)
	}
	return nil
}

// silent holds that nothing comes.
func (p *pipe[Q, A]) silent() {
	select {
	case answer := <-p.answers:
		fail("nothing was to come, but: %v (%v)", answer, p.end)
	case <-time.After(silence):
	}
}

// ended waits for the end of the stream, and gives its status.
func (p *pipe[Q, A]) ended() codes.Code {
	limit := time.After(patience)
	for {
		select {
		case _, ok := <-p.answers:
			if !ok {
				return status.Code(p.end)
			}
		case <-limit:
			fail("the stream goes on")
		}
	}
}

// rm is a resource manager with its three streams.
type rm struct {
	*server
	id           string
	applications *pipe[si.ApplicationRequest, si.ApplicationResponse]
	allocations  *pipe[si.AllocationRequest, si.AllocationResponse]
	nodes        *pipe[si.NodeRequest, si.NodeResponse]
}

// start registers, and opens streams as one does who knows nothing of tokens: the first message
// names the RM.
func start(s *server, config string) *rm {
	must(s.register("go", config))
	return s.streams(s.context())
}

// streams opens the three streams and has each name the RM.
func (s *server) streams(context context.Context) *rm {
	r := &rm{server: s, id: "go"}
	client := s.client()
	applications, err := client.UpdateApplication(context)
	r.applications = open[si.ApplicationRequest, si.ApplicationResponse](applications, err)
	allocations, err := client.UpdateAllocation(context)
	r.allocations = open[si.AllocationRequest, si.AllocationResponse](allocations, err)
	nodes, err := client.UpdateNode(context)
	r.nodes = open[si.NodeRequest, si.NodeResponse](nodes, err)
	r.applications.send(&si.ApplicationRequest{RmID: r.id})
	r.allocations.send(&si.AllocationRequest{RmID: r.id})
	r.nodes.send(&si.NodeRequest{RmID: r.id})
	return r
}

// furnished has a node n1 of ten cores and an application app in root.a.
func furnished(s *server) *rm {
	r := start(s, queues)
	r.create(10, "n1")
	r.submit("app", "root.a")
	return r
}

// create has nodes of this many cores come, and sees them accepted.
func (r *rm) create(cores int64, ids ...string) {
	request := &si.NodeRequest{RmID: r.id}
	for _, id := range ids {
		request.Nodes = append(request.Nodes, node(id, si.NodeInfo_CREATE, cores))
	}
	r.nodes.send(request)
	answer := r.nodes.next()
	equal("accepted nodes", len(answer.Accepted), len(ids))
}

// act changes a node.
func (r *rm) act(id string, action si.NodeInfo_ActionFromRM) {
	nodes := []*si.NodeInfo{{NodeID: id, Action: action}}
	r.nodes.send(&si.NodeRequest{RmID: r.id, Nodes: nodes})
}

// add sends applications.
func (r *rm) add(all ...*si.AddApplicationRequest) {
	r.applications.send(&si.ApplicationRequest{RmID: r.id, New: all})
}

// submit sends an application, and sees it accepted.
func (r *rm) submit(id, queue string) {
	r.add(application(id, queue))
	equal("accepted applications", len(r.applications.next().Accepted), 1)
}

func (r *rm) remove(application string) {
	remove := []*si.RemoveApplicationRequest{{ApplicationID: application}}
	r.applications.send(&si.ApplicationRequest{RmID: r.id, Remove: remove})
}

// ask sends asks and allocations.
func (r *rm) ask(all ...*si.Allocation) {
	r.allocations.send(&si.AllocationRequest{RmID: r.id, Allocations: all})
}

// release releases or confirms.
func (r *rm) release(application, key string, kind si.TerminationType) {
	releases := &si.AllocationReleasesRequest{AllocationsToRelease: []*si.AllocationRelease{{
		ApplicationID: application, AllocationKey: key, TerminationType: kind,
	}}}
	r.allocations.send(&si.AllocationRequest{RmID: r.id, Releases: releases})
}

// allocated is what is allocated next, as key@node, sorted.
func (r *rm) allocated(count int) []string {
	var found []string
	for len(found) < count {
		answer := r.allocations.next()
		if len(answer.Released)+len(answer.RejectedAllocations) > 0 {
			fail("new allocations were to come, but: %v", answer)
		}
		for _, one := range answer.New {
			found = append(found, one.AllocationKey+"@"+one.NodeID)
		}
	}
	slices.Sort(found)
	return found
}

// released is what is released next, as key:TYPE, sorted.
func (r *rm) released(count int) []string {
	var found []string
	for len(found) < count {
		answer := r.allocations.next()
		if len(answer.New)+len(answer.RejectedAllocations) > 0 {
			fail("releases were to come, but: %v", answer)
		}
		for _, one := range answer.Released {
			found = append(found, one.AllocationKey+":"+one.TerminationType.String())
		}
	}
	slices.Sort(found)
	return found
}

// states is what is told next of states, each with its message.
func (r *rm) states(count int) []string {
	var found []string
	for len(found) < count {
		for _, one := range r.applications.next().Updated {
			if one.StateTransitionTimestamp < time.Now().Add(-time.Hour).UnixNano() {
				fail("the time of %v is none", one)
			}
			found = append(found, one.State+" "+one.Message)
		}
	}
	return found
}

// get reads what REST shows.
func (s *server) get(path string, into any) {
	answer := must(http.Get("http://" + s.address + path))
	defer answer.Body.Close()
	body := must(io.ReadAll(answer.Body))
	if answer.StatusCode != http.StatusOK {
		fail("%s: %d %s", path, answer.StatusCode, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		fail("%s: %v", path, err)
	}
}

// shownNode is what REST shows of a node.
type shownNode struct {
	NodeID      string
	Capacity    map[string]int64
	Allocated   map[string]int64
	Occupied    map[string]int64
	Schedulable bool
}

// node is what REST shows of one.
func (s *server) node(id string) shownNode {
	var one shownNode
	s.get("/ws/v1/partition/default/node/"+id, &one)
	return one
}

// until waits until this is so.
func until(what string, isSo func() bool) {
	limit := time.Now().Add(patience)
	for !isSo() {
		if time.Now().After(limit) {
			fail("it is to be so that %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
