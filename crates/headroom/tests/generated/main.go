// A program on a client that a generator makes from the server's OpenAPI document.
//
// `client/` beside this file is generated. Each check prints a line, and the first failure ends the program.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example.org/generated/client"
)

func check(what string, holds bool, found any) {
	if !holds {
		fmt.Printf("FAILED %s: %v\n", what, found)
		os.Exit(1)
	}
	fmt.Printf("ok    %s\n", what)
}

// done reports an error, with the body where the server refused the request.
func done(what string, answer *http.Response, err error) {
	if refused, is := err.(*client.GenericOpenAPIError); is {
		check(what, false, fmt.Sprintf("%v: %s", err, refused.Body()))
	}
	check(what, err == nil && answer.StatusCode < 300, err)
}

func amounts(vcore string) map[string]client.Amount {
	return map[string]client.Amount{"vcore": client.StringAsAmount(&vcore)}
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	configuration.AddDefaultHeader("X-Headroom-Request", "1")
	server := client.NewAPIClient(configuration)
	ctx := context.Background()

	partitions, answer, err := server.PartitionsAPI.ListPartitions(ctx).Execute()
	done("partitions are listed", answer, err)
	check("the partition is default", len(partitions.Items) == 1, partitions.Items)

	tenant := client.NewTenant()
	tenant.SetId("lab")
	tenant.SetState(client.TENANT_STATE_ACTIVE)
	quota := client.NewTenantQuota()
	quota.SetResources(amounts("8"))
	tenant.SetQuota(*quota)
	made, answer, err := server.TenantsAPI.CreateTenant(ctx).Tenant(*tenant).Execute()
	done("a tenant is created", answer, err)
	check("the tenant is active", made.GetState() == client.TENANT_STATE_ACTIVE, made.GetState())

	submission := client.NewTaskSubmission(amounts("4"))
	submission.SetId("one")
	task, answer, err := server.TenantsAPI.SubmitTask(ctx, "lab").TaskSubmission(*submission).Execute()
	done("a task is submitted", answer, err)
	check("the task waits", task.State == client.TASK_STATE_WAITING, task.State)
	check("the task has four cores", task.Resources["vcore"] == 4000, task.Resources)

	tasks, answer, err := server.TenantsAPI.ListTasks(ctx, "lab").Execute()
	done("tasks are listed", answer, err)
	check("the task is listed", len(tasks.Items) == 1 && tasks.Items[0].Id == "one", tasks.Items)

	_, answer, _ = server.TenantsAPI.SubmitTask(ctx, "nobody").TaskSubmission(*submission).Execute()
	check("an unknown tenant is 404", answer != nil && answer.StatusCode == 404, answer)

	simulated, answer, err := server.UsageAPI.SimulateUserLimits(ctx, "default", "root.limited").
		UserLimitsSimulation(*client.NewUserLimitsSimulation()).Execute()
	done("limits are simulated", answer, err)
	check("the formula is smooth", simulated.Inputs.Formula == client.USER_LIMIT_FORMULA_SMOOTH, simulated.Inputs.Formula)
}
