package main

import (
	"strings"
	"time"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

// held is a gang whose two placeholders have their places on n1.
func held(s *server) *rm {
	r := start(s, queues)
	r.create(4, "n1")
	r.add(gang("Soft", time.Minute))
	equal("accepted", len(r.applications.next().Accepted), 1)
	r.ask(placeholder("p1", 2), placeholder("p2", 2))
	equal("placeholders", r.allocated(2), "[p1@n1 p2@n1]")
	equal("states", r.states(1), "[Accepted runApplication]")
	return r
}

func swap(s *server) {
	for _, size := range []int64{2, 1} {
		r := held(s)
		r.ask(member("m1", size))
		told := r.released(1)[0]
		key, kind, _ := strings.Cut(told, ":")
		equal("how", kind, replaced)
		// The member comes when the placeholder is stopped, and not before.
		r.allocations.silent()
		equal("allocated meanwhile", s.node("n1").Allocated["vcore"], 4000)
		r.release("gang", key, replaced)
		answer := r.allocations.next()
		equal("in its place", answer.New[0].AllocationKey, "m1")
		equal("its group", answer.New[0].TaskGroupName, "workers")
		equal("it is none itself", answer.New[0].Placeholder, false)
		equal("states", r.states(1), "[Running runApplication]")
		// Twice is harmless.
		r.release("gang", key, replaced)
		r.allocations.silent()
		equal("allocated", s.node("n1").Allocated["vcore"], 2000+1000*size)
	}
}

func tooSmall(s *server) {
	r := held(s)
	r.ask(member("m1", 3))
	equal("given up", r.released(2), "[p1:TIMEOUT p2:TIMEOUT]")
	r.release("gang", "p1", timeout)
	r.release("gang", "p2", timeout)
	equal("allocated", r.allocated(1), "[m1@n1]")
}

func swapElsewhere(s *server) {
	r := held(s)
	r.create(4, "n2")
	one := member("m1", 2)
	one.AllocationTags[requiredNode] = "n2"
	r.ask(one)
	key, kind, _ := strings.Cut(r.released(1)[0], ":")
	equal("how", kind, replaced)
	r.release("gang", key, replaced)
	equal("allocated", r.allocated(1), "[m1@n2]")
}

func nodeOfSwapGoes(s *server) {
	r := held(s)
	r.ask(member("m1", 2))
	r.released(1)
	r.act("n1", si.NodeInfo_DECOMISSION)
	equal("released", r.released(2), "[p1:STOPPED_BY_RM p2:STOPPED_BY_RM]")
	// The member waits again.
	r.create(4, "n2")
	equal("allocated", r.allocated(1), "[m1@n2]")
}

func softGang(s *server) {
	late(s, "Soft", "Resuming", "Accepted runApplication")
}

func hardGang(s *server) {
	late(s, "Hard", "Failing", "Failed failApplication")
}

// late is a gang for which there is not room enough in time.
func late(s *server, style, first, second string) {
	r := start(s, queues)
	r.create(3, "n1")
	r.add(gang(style, time.Second))
	equal("accepted", len(r.applications.next().Accepted), 1)
	r.ask(placeholder("p1", 2), placeholder("p2", 2))
	r.allocated(1)
	r.states(1)
	equal("late", r.states(1), "["+first+" ResourceReservationTimeout]")
	equal("given up", r.released(2), "[p1:TIMEOUT p2:TIMEOUT]")
	// What was held counts until the RM has stopped it.
	equal("allocated meanwhile", s.node("n1").Allocated["vcore"], 2000)
	r.release("gang", "p1", timeout)
	r.release("gang", "p2", timeout)
	equal("then", r.states(1), "["+second+"]")
	equal("allocated", s.node("n1").Allocated["vcore"], 0)
}
