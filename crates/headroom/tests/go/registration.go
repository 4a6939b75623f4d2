package main

import (
	"context"
	"strings"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func refusedBeforeRegistration(s *server) {
	r := s.streams(s.context())
	equal("applications", r.applications.ended(), codes.FailedPrecondition)
	equal("allocations", r.allocations.ended(), codes.FailedPrecondition)
	equal("nodes", r.nodes.ended(), codes.FailedPrecondition)
	if reason := r.nodes.end.Error(); !strings.Contains(reason, `RmID="go" is not registered`) {
		fail("the reason does not name the RM: %s", reason)
	}
}

func faultyRegistration(s *server) {
	r := furnished(s)
	_, err := s.register("go", "partitions: [{name: default, queues: [], limits: 7}]")
	equal("a faulty queue file", status.Code(err), codes.InvalidArgument)
	if message := status.Convert(err).Message(); !strings.HasPrefix(message, "registration of RM failed: ") {
		fail("the reason is not said: %s", message)
	}
	_, err = s.register("", queues)
	equal("no name", status.Code(err), codes.InvalidArgument)
	r.submit("goes-on", "root.a")
}

func builtInQueueFile(s *server) {
	r := start(s, "")
	one := application("app", "")
	one.Tags["namespace"] = "dev"
	r.add(one)
	equal("accepted", len(r.applications.next().Accepted), 1)
	var shown struct{ QueueName string }
	s.get("/ws/v1/partition/default/queue/root.dev/application/app", &shown)
	equal("the queue", shown.QueueName, "root.dev")
}

func anotherIsRefused(s *server) {
	r := furnished(s)
	_, err := s.register("other", queues)
	equal("another RM", status.Code(err), codes.FailedPrecondition)
	r.submit("goes-on", "root.a")
}

func registeringAgainWipes(s *server) {
	before := furnished(s)
	before.ask(ask("app", "k1", 1))
	equal("allocated", before.allocated(1), "[k1@n1]")
	after := start(s, queues)
	equal("applications", before.applications.ended(), codes.Aborted)
	equal("allocations", before.allocations.ended(), codes.Aborted)
	equal("nodes", before.nodes.ended(), codes.Aborted)
	var nodes []shownNode
	s.get("/ws/v1/partition/default/nodes", &nodes)
	equal("nodes that are left", len(nodes), 0)
	after.create(10, "n1")
	after.submit("app", "root.a")
	after.release("app", "k1", stopped)
	after.allocations.silent()
}

func streamsFindTheirRm(s *server) {
	token := must(s.register("go", queues))
	withToken := metadata.AppendToOutgoingContext(s.context(), tokenKey, token)
	first := s.streams(withToken)
	first.create(10, "n1")
	// Another stream of a kind takes the place of the one before, with a token or without.
	second := s.streams(s.context())
	equal("the stream of before", first.nodes.ended(), codes.Aborted)
	second.create(10, "n2")
	// After a half-close answers go on.
	second.submit("app", "root.a")
	second.ask(ask("app", "k1", 20), ask("app", "k2", 1))
	second.allocated(1)
	if err := second.allocations.wire.CloseSend(); err != nil {
		fail("%v", err)
	}
	second.create(30, "n3")
	equal("allocated", second.allocated(1), "[k1@n3]")
	wrong := metadata.AppendToOutgoingContext(context.Background(), tokenKey, "wrong")
	third, err := s.client().UpdateNode(wrong)
	stranger := open[si.NodeRequest, si.NodeResponse](third, err)
	equal("a token that nobody has", stranger.ended(), codes.FailedPrecondition)
}
