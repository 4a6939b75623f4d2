package main

import (
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

// nodesJoin is the table of scheduler interface §6.1, as far as it is answered.
func nodesJoin(s *server) {
	r := furnished(s)
	elsewhere := node("n9", si.NodeInfo_CREATE, 1)
	elsewhere.Attributes = map[string]string{"si/node-partition": "none"}
	r.nodes.send(&si.NodeRequest{RmID: r.id, Nodes: []*si.NodeInfo{
		node("n2", si.NodeInfo_CREATE, 1), node("n1", si.NodeInfo_CREATE, 1),
		node("n3", si.NodeInfo_CREATE_DRAIN, 1), elsewhere, node("", si.NodeInfo_CREATE, 1),
	}})
	answer := r.nodes.next()
	var accepted, rejected []string
	for _, one := range answer.Accepted {
		accepted = append(accepted, one.NodeID)
	}
	for _, one := range answer.Rejected {
		if one.Reason == "" {
			fail("no reason: %v", one)
		}
		rejected = append(rejected, one.NodeID)
	}
	equal("accepted", accepted, "[n2 n3]")
	equal("rejected", rejected, "[n1 n9 ]")
	equal("n2 may be used", s.node("n2").Schedulable, true)
	equal("n3 may be used", s.node("n3").Schedulable, false)
}

// nodesChange is the rest of that table.
func nodesChange(s *server) {
	r := furnished(s)
	sizeless := node("n1", si.NodeInfo_UPDATE, 1)
	sizeless.SchedulableResource = nil
	r.nodes.send(&si.NodeRequest{RmID: r.id, Nodes: []*si.NodeInfo{
		node("n1", si.NodeInfo_UPDATE, 20), sizeless,
		node("n1", si.NodeInfo_ActionFromRM(99), 1), node("none", si.NodeInfo_UPDATE, 1),
	}})
	all := []si.NodeInfo_ActionFromRM{si.NodeInfo_DRAIN_NODE, si.NodeInfo_DRAIN_TO_SCHEDULABLE}
	for _, action := range all {
		for _, id := range []string{"n1", "n1", "none"} {
			r.act(id, action)
		}
	}
	r.act("none", si.NodeInfo_DECOMISSION)
	r.act("n1", si.NodeInfo_UNKNOWN_ACTION_FROM_RM)
	r.nodes.silent()
	shown := s.node("n1")
	equal("capacity", shown.Capacity["vcore"], 20000)
	equal("it may be used", shown.Schedulable, true)
	r.act("n1", si.NodeInfo_DRAIN_NODE)
	until("it takes nothing", func() bool { return !s.node("n1").Schedulable })
	r.ask(ask("app", "k1", 1))
	r.allocations.silent()
}

// applications is scheduler interface §6.2.
func applications(s *server) {
	r := furnished(s)
	elsewhere := application("partition", "root.a")
	elsewhere.PartitionName = "none"
	nobody := application("user", "root.a")
	nobody.Ugi = nil
	illegal := application("illegal", "root.a")
	illegal.Ugi.User = "1 2"
	unfit := application("fair-gang", "root.fair")
	unfit.PlaceholderAsk = cores(1)
	large := application("large-gang", "root.small")
	large.PlaceholderAsk = cores(5)
	nameless := forced("nameless", "root.none")
	nameless.Ugi = nil
	r.add(application("fine", "root.a"), elsewhere, nobody, illegal, application("app", "root.a"),
		application("missing", "root.none"), application("parent", "root.parent"), unfit, large,
		nameless)
	answer := r.applications.next()
	var accepted, rejected []string
	for _, one := range answer.Accepted {
		accepted = append(accepted, one.ApplicationID)
	}
	for _, one := range answer.Rejected {
		if one.Reason == "" {
			fail("no reason: %v", one)
		}
		rejected = append(rejected, one.ApplicationID)
	}
	equal("accepted", accepted, "[fine nameless]")
	equal("rejected", rejected,
		"[partition user illegal app missing parent fair-gang large-gang]")
	// To be removed, and not there.
	r.remove("none")
	r.applications.silent()
}

// allocations is scheduler interface §6.3.
func allocations(s *server) {
	r := furnished(s)
	r.submit("other", "root.a")
	elsewhere := ask("app", "partition", 1)
	elsewhere.PartitionName = "none"
	nothing := ask("app", "nothing", 1)
	nothing.ResourcePerAlloc = nil
	r.ask(
		placed("app", "here", 2, "n1"), ask("none", "application", 1),
		placed("app", "node", 1, "none"), nothing, ask("app", "negative", -1), elsewhere,
		foreign("foreign-nowhere", 1, ""), foreign("foreign-none", 1, "none"),
		placed("other", "here", 1, "n1"), foreign("foreign-here", 1, "n1"),
	)
	echo := r.allocations.next()
	equal("echoes", len(echo.New), 1)
	one := echo.New[0]
	equal("the echo", []any{one.AllocationKey, one.ApplicationID, one.NodeID,
		one.ResourcePerAlloc.Resources["vcore"].Value, len(one.AllocationTags), one.PartitionName},
		"[here app n1 2000 0 ]")
	var rejected []string
	for _, one := range r.allocations.next().RejectedAllocations {
		rejected = append(rejected, one.ApplicationID+"/"+one.AllocationKey)
	}
	equal("rejected", rejected, "[none/application app/node app/nothing app/negative "+
		"app/partition /foreign-nowhere /foreign-none other/here]")
	// Known already: its size changes in silence, and not to nothing.
	r.ask(ask("app", "here", 3), foreign("foreign-here", 2, "n1"))
	r.allocations.silent()
	r.ask(ask("app", "here", 0))
	equal("rejected", len(r.allocations.next().RejectedAllocations), 1)
	shown := s.node("n1")
	equal("allocated", shown.Allocated["vcore"], 3000)
	equal("occupied", shown.Occupied["vcore"], 2000)
	// An ask that waits is placed by somebody else.
	r.ask(ask("app", "large", 100))
	r.allocations.silent()
	r.ask(placed("app", "large", 100, "n1"))
	equal("placed", r.allocated(1), "[large@n1]")
}

// releases is scheduler interface §7.2.
func releases(s *server) {
	r := furnished(s)
	for _, key := range []string{"k1", "k2", "k3", "k4", "k5"} {
		r.ask(placed("app", key, 1, "n1"))
	}
	r.allocated(5)
	r.ask(ask("app", "waits", 100))
	r.release("app", "k1", stopped)
	r.release("app", "k2", si.TerminationType_UNKNOWN_TERMINATION_TYPE)
	equal("acknowledged", r.released(2), "[k1:STOPPED_BY_RM k2:STOPPED_BY_RM]")
	// An ask; nothing; what is gone; of nobody; foreign; confirmations.
	r.release("app", "waits", stopped)
	r.release("app", "none", stopped)
	r.release("app", "k1", stopped)
	r.release("none", "k3", stopped)
	r.release("", "none", stopped)
	r.release("app", "k3", timeout)
	r.release("app", "k4", preempted)
	r.allocations.silent()
	r.release("app", "", stopped)
	equal("the rest", r.released(1), "[k5:STOPPED_BY_RM]")
	equal("allocated", s.node("n1").Allocated["vcore"], 0)
}

// goneTogether is scheduler interface §7.3.
func goneTogether(s *server) {
	r := furnished(s)
	r.submit("two", "root.a")
	for _, key := range []string{"k1", "k2", "k3"} {
		r.ask(placed("app", key, 1, "n1"))
	}
	r.ask(placed("two", "l1", 1, "n1"), placed("two", "l2", 1, "n1"))
	r.allocated(5)
	r.remove("app")
	answer := r.allocations.next()
	equal("released with the application", len(answer.Released), 3)
	one := answer.Released[0]
	equal("of", []any{one.PartitionName, one.ApplicationID, one.TerminationType},
		"[[go]default app STOPPED_BY_RM]")
	r.act("n1", si.NodeInfo_DECOMISSION)
	equal("released with the node", len(r.allocations.next().Released), 2)
	r.allocations.silent()
}
