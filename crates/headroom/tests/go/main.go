// Command si-client is a resource manager (RM) made of nothing but the published Go module of the
// scheduler interface: whatever it sees, any client generated from that module sees.
//
// It goes through the list of scheduler interface §13 as far as such a client can, prints one line
// for each check, and ends with status 1 when one is wrong. Each check registers anew, which
// wipes what the one before has left.
//
//	si-client 127.0.0.1:9080
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// A check begins with the number of its item in scheduler interface §13.
type check struct {
	name string
	run  func(*server)
}

// The first checks want a server with which nobody has registered.
var checks = []check{
	{"1 what is served is what is published, field by field", servedIsPublished},
	{"2 requests before registration are refused", refusedBeforeRegistration},
	{"2 a faulty queue file, or no name, is refused", faultyRegistration},
	{"2 without a queue file applications go by their namespace", builtInQueueFile},
	{"2 another RM is refused while one is registered", anotherIsRefused},
	{"2 registering again wipes, and ends the streams of before", registeringAgainWipes},
	{"2 a stream belongs to its token, or to the RM that it names first", streamsFindTheirRm},
	{"3 a recovery takes in what exists, whatever the limits say", recovery},
	{"4 nodes that join are answered in one message", nodesJoin},
	{"4 changes of nodes are silent and hold", nodesChange},
	{"4 applications are accepted or rejected in one message", applications},
	{"4 allocations are echoed one by one and rejected together", allocations},
	{"4 releases are acknowledged for allocations alone", releases},
	{"4 what goes with its application or node goes in one message", goneTogether},
	{"5 a member takes the place of its placeholder, smaller or equal", swap},
	{"5 a placeholder that is too small is given up", tooSmall},
	{"5 a member may run on another node than its placeholder", swapElsewhere},
	{"5 the node of a swap may go", nodeOfSwapGoes},
	{"5 a soft gang that is late resumes", softGang},
	{"5 a hard gang that is late fails", hardGang},
	{"6 a victim that is confirmed, twice, makes room once", victimConfirmed},
	{"6 a victim that is not confirmed keeps its room", victimNotConfirmed},
	{"6 an ask that requires a node has others stopped there", requiredNodePreempts},
	{"6 what is above the maximum of its queue is asked back, once", quotaPreempts},
	{"7 what is released was new before, under load", orderUnderLoad},
	{"8 without callbacks every node suits", noCallbacks},
	{"9 states follow each other by the table", states},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: si-client HOST:PORT")
		os.Exit(2)
	}
	address := os.Args[1]
	connection, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	wrong := 0
	for _, one := range checks {
		server := &server{address: address, connection: connection}
		begin := time.Now()
		if reason := judge(one, server); reason != "" {
			wrong++
			fmt.Printf("WRONG %s: %s\n", one.name, strings.ReplaceAll(reason, "\n", " "))
		} else {
			fmt.Printf("ok    %s (%d ms)\n", one.name, time.Since(begin).Milliseconds())
		}
		server.close()
	}
	fmt.Printf("%d checks, %d wrong\n", len(checks), wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}

// failure ends a check.
type failure string

// fail ends the check, and says why.
func fail(format string, values ...any) {
	panic(failure(fmt.Sprintf(format, values...)))
}

// must is the value, if there is no error.
func must[T any](value T, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return value
}

// equal ends the check unless both print alike.
func equal(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		fail("%s: got %v, want %v", what, got, want)
	}
}

// judge runs a check; empty means that it is right.
func judge(one check, server *server) (reason string) {
	defer func() {
		switch caught := recover().(type) {
		case nil:
		case failure:
			reason = string(caught)
		default:
			panic(caught)
		}
	}()
	one.run(server)
	return ""
}
