package main

import (
	"strings"
	"time"
)

// full is a node of ten cores, all used by the rich, and somebody poor who is told to wait until
// one of them is stopped: the RM, and the key of the victim.
func full(s *server) (*rm, string) {
	r := start(s, queues)
	r.create(10, "n1")
	r.submit("rich", "root.rich")
	r.submit("poor", "root.poor")
	r.ask(victim(placed("rich", "r1", 5, "n1")), victim(placed("rich", "r2", 5, "n1")))
	r.allocated(2)
	r.ask(preemptor(aged(ask("poor", "k1", 5), time.Minute)))
	answer := r.allocations.next()
	equal("victims", len(answer.Released), 1)
	one := answer.Released[0]
	equal("how", one.TerminationType, preempted)
	if !strings.Contains(one.Message, "k1") {
		fail("it is not said for whom: %v", one)
	}
	return r, one.AllocationKey
}

func victimConfirmed(s *server) {
	r, key := full(s)
	r.release("rich", key, preempted)
	r.release("rich", key, preempted)
	equal("allocated", r.allocated(1), "[k1@n1]")
	r.allocations.silent()
	equal("allocated", s.node("n1").Allocated["vcore"], 10000)
}

func victimNotConfirmed(s *server) {
	r, _ := full(s)
	for range 4 {
		r.allocations.silent()
	}
	equal("allocated", s.node("n1").Allocated["vcore"], 10000)
	// The application goes, and the victim with it.
	r.remove("rich")
	equal("released", r.released(2), "[r1:STOPPED_BY_RM r2:STOPPED_BY_RM]")
	equal("allocated", r.allocated(1), "[k1@n1]")
}

func requiredNodePreempts(s *server) {
	r := start(s, queues)
	r.create(4, "n1", "n2")
	r.submit("app", "root.a")
	r.submit("daemons", "root.a")
	r.ask(victim(placed("app", "k1", 4, "n1")), victim(placed("app", "k2", 1, "n2")))
	r.allocated(2)
	daemon := preemptor(ask("daemons", "d1", 1))
	daemon.AllocationTags[requiredNode] = "n1"
	r.ask(daemon)
	equal("stopped on its node", r.released(1), "[k1:PREEMPTED_BY_SCHEDULER]")
	r.release("app", "k1", preempted)
	equal("allocated", r.allocated(1), "[d1@n1]")
}

const quotaQueues = `
partitions:
  - name: default
    preemption: {quotapreemptionenabled: true}
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: narrow
            resources: {max: {vcore: 4}}
            properties: {quota.preemption.delay: 1s}
`

func quotaPreempts(s *server) {
	r := start(s, quotaQueues)
	r.create(20, "n1")
	r.submit("one", "root.narrow")
	r.submit("two", "root.narrow")
	for _, key := range []string{"a1", "a2", "a3"} {
		r.ask(victim(placed("one", key, 1, "n1")))
	}
	for _, key := range []string{"b1", "b2", "b3"} {
		r.ask(victim(placed("two", key, 1, "n1")))
	}
	r.allocated(6)
	// Six where four may be.
	told := 0
	for told < 2 {
		answer := r.allocations.next()
		for _, one := range answer.Released {
			equal("how", one.TerminationType, preempted)
			if !strings.Contains(one.Message, "root.narrow") {
				fail("the queue is not named: %v", one)
			}
			r.release(one.ApplicationID, one.AllocationKey, preempted)
			told++
		}
	}
	r.allocations.silent()
	equal("allocated", s.node("n1").Allocated["vcore"], 4000)
}
