package main

import (
	"time"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

const narrowQueues = `
partitions:
  - name: default
    placementrules: [{name: provided}]
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: a
            resources: {max: {vcore: 3}}
            limits: [{limit: all, users: ['*'], maxresources: {vcore: 2}}]
`

// recovery is the script of scheduler interface §5.3.
func recovery(s *server) {
	r := start(s, narrowQueues)
	r.nodes.send(&si.NodeRequest{RmID: r.id, Nodes: []*si.NodeInfo{
		node("n1", si.NodeInfo_CREATE_DRAIN, 8), node("n2", si.NodeInfo_CREATE_DRAIN, 8),
	}})
	equal("accepted nodes", len(r.nodes.next().Accepted), 2)

	age := 10 * time.Minute
	late := gang("Soft", time.Second)
	late.PlaceholderAsk = cores(1)
	late.Tags["application.create.force"] = "true"
	late.Tags["yunikorn.apache.org/creationTime"] = seconds(age)
	r.add(forced("runs", "root.a"), forced("lost", "root.gone"), late)
	equal("accepted applications", len(r.applications.next().Accepted), 3)

	held := placeholder("p1", 1)
	held.NodeID = "n1"
	r.ask(
		// More than the queue and the user may have.
		aged(placed("runs", "k1", 4, "n1"), age),
		aged(placed("lost", "k2", 2, "n2"), age),
		aged(held, age),
		foreign("system", 2, "n2"),
		ask("runs", "waits", 1),
		ask("lost", "next", 1),
	)
	equal("echoes", r.allocated(3), "[k1@n1 k2@n2 p1@n1]")
	// The time of the gang was over before.
	equal("given up", r.released(1), "[p1:TIMEOUT]")
	r.allocations.silent()
	equal("occupied", s.node("n2").Occupied["vcore"], 2000)

	// The roomier node comes first: what is asked goes there, whether or not a cycle lies between the two.
	r.act("n2", si.NodeInfo_DRAIN_TO_SCHEDULABLE)
	r.act("n1", si.NodeInfo_DRAIN_TO_SCHEDULABLE)
	answer := r.allocations.next()
	equal("what has no limits goes on", answer.New[0].AllocationKey, "next")
	r.allocations.silent()
	var shown struct{ QueueName string }
	s.get("/ws/v1/partition/default/application/lost", &shown)
	equal("where it went", shown.QueueName, "root.@recovery@")

	// What is sent again is there already.
	r.ask(aged(placed("runs", "k1", 4, "n1"), age), ask("runs", "waits", 1))
	r.allocations.silent()
	equal("allocated", s.node("n1").Allocated["vcore"], 5000)
}
