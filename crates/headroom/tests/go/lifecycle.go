package main

import (
	"fmt"
	"strings"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

// orderUnderLoad holds guarantee 2 of scheduler interface §10 for a client that sends as fast as
// it can: a key is new once, and released once and behind that.
func orderUnderLoad(s *server) {
	const requests, each = 60, 50
	r := furnished(s)
	r.create(500, "n2", "n3")
	for request := range requests {
		var all []*si.Allocation
		for number := range each {
			all = append(all, ask("app", fmt.Sprintf("k%d-%d", request, number), 1))
		}
		r.ask(all...)
	}
	fresh, gone := map[string]bool{}, map[string]bool{}
	for len(gone) < requests*each {
		answer := r.allocations.next()
		equal("rejected", len(answer.RejectedAllocations), 0)
		for _, one := range answer.Released {
			if !fresh[one.AllocationKey] || gone[one.AllocationKey] {
				fail("%s is released twice, or before it was new", one.AllocationKey)
			}
			gone[one.AllocationKey] = true
		}
		for _, one := range answer.New {
			if fresh[one.AllocationKey] {
				fail("%s is new twice", one.AllocationKey)
			}
			fresh[one.AllocationKey] = true
			r.release("app", one.AllocationKey, stopped)
		}
	}
	for _, id := range []string{"n1", "n2", "n3"} {
		equal(id+" is empty", s.node(id).Allocated["vcore"], 0)
	}
}

// noCallbacks: a client of the published service answers no questions.
func noCallbacks(s *server) {
	r := furnished(s)
	r.create(10, "n2")
	r.ask(ask("app", "k1", 10), ask("app", "k2", 10))
	equal("allocated", len(r.allocated(2)), 2)
}

// mayFollow is the table of scheduler interface §8: the states that may follow one, each with its
// message.
var mayFollow = map[string]string{
	"New":        "Accepted runApplication",
	"Accepted":   "Running runApplication, Completing completeApplication",
	"Running":    "Completing completeApplication",
	"Completing": "Running runApplication, Completed completeApplication",
}

func states(s *server) {
	r := furnished(s)
	for _, id := range []string{"done", "again", "unplaced", "cancelled", "unused"} {
		r.submit(id, "root.a")
	}
	r.ask(ask("done", "d1", 1), ask("again", "a1", 1))
	r.allocated(2)
	r.release("done", "d1", stopped)
	r.release("again", "a1", stopped)
	r.released(2)
	r.ask(ask("again", "a2", 1), ask("unplaced", "u1", 100), ask("cancelled", "c1", 100))
	r.allocated(1)
	r.release("cancelled", "c1", stopped)
	r.remove("again")
	r.released(1)
	r.remove("unplaced")
	r.remove("unused")

	// Those that are not removed complete after half a minute, for which nobody waits here.
	want := map[string]string{
		"done":      "[Accepted Running Completing]",
		"cancelled": "[Accepted Completing]",
		"again":     "[Accepted Running Completing Running Completing]",
		"unplaced":  "[Accepted Completing Completed]",
		"unused":    "[]",
	}
	path := map[string][]string{}
	for !equals(path, want) {
		for _, one := range r.applications.next().Updated {
			id, from := one.ApplicationID, "New"
			if before := path[id]; len(before) > 0 {
				from = before[len(before)-1]
			}
			if !strings.Contains(mayFollow[from], one.State+" "+one.Message) {
				fail("%s goes from %s to %s (%s)", id, from, one.State, one.Message)
			}
			path[id] = append(path[id], one.State)
			if !strings.HasPrefix(want[id], strings.TrimSuffix(fmt.Sprint(path[id]), "]")) {
				fail("%s goes %v, not %s", id, path[id], want[id])
			}
		}
	}
	r.applications.silent()
}

// equals says whether every application has gone its way to the end.
func equals(path map[string][]string, want map[string]string) bool {
	for id, way := range want {
		if fmt.Sprint(path[id]) != way {
			return false
		}
	}
	return true
}
