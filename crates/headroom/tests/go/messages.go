package main

import (
	"strconv"
	"time"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/common"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

const (
	stopped   = si.TerminationType_STOPPED_BY_RM
	timeout   = si.TerminationType_TIMEOUT
	preempted = si.TerminationType_PREEMPTED_BY_SCHEDULER
	replaced  = si.TerminationType_PLACEHOLDER_REPLACED
)

// requiredNode is the tag by which an ask may have one node only.
const requiredNode = common.DomainYuniKorn + common.KeyRequiredNode

// cores is an amount of cores, which the wire has in thousandths.
func cores(count int64) *si.Resource {
	return &si.Resource{Resources: map[string]*si.Quantity{common.CPU: {Value: count * 1000}}}
}

func node(id string, action si.NodeInfo_ActionFromRM, count int64) *si.NodeInfo {
	return &si.NodeInfo{NodeID: id, Action: action, SchedulableResource: cores(count)}
}

func application(id, queue string) *si.AddApplicationRequest {
	return &si.AddApplicationRequest{
		ApplicationID: id, QueueName: queue, Tags: map[string]string{},
		Ugi: &si.UserGroupInformation{User: "ann", Groups: []string{"dev"}},
	}
}

// forced is an application that is taken in whatever is missing.
func forced(id, queue string) *si.AddApplicationRequest {
	one := application(id, queue)
	one.Tags[common.AppTagCreateForce] = "true"
	return one
}

// gang is an application of four cores in all, whose placeholders have this long.
func gang(style string, limit time.Duration) *si.AddApplicationRequest {
	one := application("gang", "root.a")
	one.PlaceholderAsk = cores(4)
	one.GangSchedulingStyle = style
	one.ExecutionTimeoutMilliSeconds = limit.Milliseconds()
	return one
}

func ask(application, key string, count int64) *si.Allocation {
	return &si.Allocation{
		ApplicationID: application, AllocationKey: key, ResourcePerAlloc: cores(count),
		AllocationTags: map[string]string{},
	}
}

func placed(application, key string, count int64, node string) *si.Allocation {
	one := ask(application, key, count)
	one.NodeID = node
	return one
}

func foreign(key string, count int64, node string) *si.Allocation {
	one := placed("", key, count, node)
	one.AllocationTags[common.Foreign] = common.AllocTypeStatic
	return one
}

func placeholder(key string, count int64) *si.Allocation {
	one := member(key, count)
	one.Placeholder = true
	return one
}

func member(key string, count int64) *si.Allocation {
	one := ask("gang", key, count)
	one.TaskGroupName = "workers"
	return one
}

// aged has something be older than it is.
func aged(one *si.Allocation, age time.Duration) *si.Allocation {
	one.AllocationTags[common.CreationTime] = seconds(age)
	return one
}

// seconds is the time this long ago, as tags have it.
func seconds(age time.Duration) string {
	return strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
}

// victim offers itself to be stopped; others are not stopped for it.
func victim(one *si.Allocation) *si.Allocation {
	one.PreemptionPolicy = &si.PreemptionPolicy{AllowPreemptSelf: true}
	return one
}

// preemptor may have others stopped.
func preemptor(one *si.Allocation) *si.Allocation {
	one.PreemptionPolicy = &si.PreemptionPolicy{AllowPreemptOther: true}
	return one
}
