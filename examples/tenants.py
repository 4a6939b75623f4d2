#!/usr/bin/env python3
"""Two tenants share a cluster: the scene of seven steps, played against a real server.

Tenant A may use 100 cores and 200 GB, tenant B 40 cores and 80 GB. The script starts `headroom serve` on a free
port with a journal that is thrown away, plays the scene on a cluster of 128 cores, and up to its sixth step on
one of exactly 100. It prints what it sees at each step and ends with 1 if a number is not the one expected.

It needs nothing but Python 3.9 and the program:

    cargo build --release -p headroom
    python3 examples/tenants.py --headroom target/release/headroom
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
GB = 1_000_000_000
CORE = 1_000


class Wrong(Exception):
    """A number is not the one expected."""


def expect(what, found, expected):
    mark = "ok" if found == expected else "WRONG"
    print(f"   {mark:5} {what}: {found}" + ("" if found == expected else f", expected {expected}"))
    if found != expected:
        raise Wrong(what)


class Server:
    """`headroom serve` on a free port of this machine, as long as the block lasts."""

    def __init__(self, program, cores):
        self.program, self.cores = program, cores

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="headroom-tenants-")
        log = open(Path(self.folder.name) / "log", "w+", encoding="utf-8")
        arguments = [
            "serve",
            "--listen", "127.0.0.1:0",
            "--journal-path", str(Path(self.folder.name) / "journal"),
            "--queues", str(HERE / "tenants.yaml"),
            "--demo-nodes", f"1*{{vcore: {self.cores}, memory: 256G}}",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            [self.program, *arguments], stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            line = self.process.stdout.readline()
            if "://" not in line:
                log.seek(0)
                raise SystemExit(f"the server does not start: {line}{log.read()}")
            self.url = "http://" + line.split("://")[1].split()[0].rstrip(",")
            self.until("the node is there", lambda: self.get("/ws/v1/partition/default/nodes"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def ask(self, method, path, body=None):
        """Send a request; the status and what is answered."""
        headers = {"Content-Type": "application/json", "X-Headroom-Request": "1"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            raise SystemExit(f"{method} {path}: {refused.code} {refused.read().decode()}")

    def get(self, path):
        return self.ask("GET", path)[1]

    def until(self, what, seen):
        for _ in range(500):
            found = seen()
            if found:
                return found
            time.sleep(0.02)
        raise Wrong(f"{what}: not within ten seconds")

    def submit(self, tenant, name, cores, memory=None):
        resources = {"vcore": str(cores)}
        if memory is not None:
            resources["memory"] = f"{memory}G"
        path = f"/headroom/v1/tenants/{tenant}/tasks"
        return self.ask("POST", path, {"id": name, "resources": resources})

    def end(self, task):
        return self.ask("POST", f"/headroom/v1/tasks/{task}/release", {"outcome": "succeeded"})[1]

    def usage(self, tenant):
        return self.get(f"/headroom/v1/tenants/{tenant}/usage")

    def used(self, tenant):
        """Cores and GB in use."""
        used = self.usage(tenant)["used"]
        return used.get("vcore", 0) // CORE, used.get("memory", 0) // GB


def make_tenants(server, a_cores):
    for tenant, cores, memory in (("a", a_cores, 200), ("b", 40, 80)):
        quota = {"resources": {"vcore": str(cores), "memory": f"{memory}G"}}
        status, _ = server.ask("POST", "/headroom/v1/tenants", {"id": tenant, "quota": quota})
        expect(f"tenant {tenant.upper()} is made", status, 201)
        status, task = server.submit(tenant, f"{tenant}-first", 1, 2)
        expect("its first task starts", (status, task["state"]), (201, "STARTING"))
        server.end(task["id"])
        expect("and has ended: cores and GB in use", server.used(tenant), (0, 0))


def scene(server, a_cores, tight):
    step = lambda number, text: print(f"{number}. {text}")

    step(1, "There is enough for both: tasks of both tenants start.")
    make_tenants(server, a_cores)

    step(2, "Tenant A submits nine tasks, 90 cores and 180 GB together.")
    for number in range(1, 10):
        status, task = server.submit("a", f"a-{number}", 10, 20)
        if (status, task["state"]) != (201, "STARTING"):
            expect(f"task {number} starts", (status, task["state"]), (201, "STARTING"))
    expect("cores and GB in use of A", server.used("a"), (90, 180))
    free = server.usage("a")["free"]
    expect("cores and GB that are left", (free["vcore"] // CORE, free["memory"] // GB), (10, 20))

    step(3, "Tenant A submits one more, of 20 cores: 90 + 20 = 110 are more than 100.")
    status, task = server.submit("a", "a-20", 20)
    expect("it is taken, and waits", (status, task["state"]), (202, "WAITING"))
    waits = server.get("/headroom/v1/tenants/a/waiting/a-20")
    reason = waits["reason"]
    expect("why, and whose quota it is", (reason["code"], reason["scope"]), ("TENANT_QUOTA", "a"))
    short = [{"type": "vcore", "used": 90_000, "asked": 20_000, "limit": 100_000, "short": 10_000}]
    expect("what is short, cores alone", reason["types"], short)

    step(4, "It is in the waiting list, and uses nothing there.")
    listed = server.get("/headroom/v1/tenants/a/waiting")
    expect("who waits", [one["task"] for one in listed["items"]], ["a-20"])
    expect("its place", (waits["position"], waits["of"]), (1, 1))
    expect("cores and GB in use of A", server.used("a"), (90, 180))

    step(5, "Tenant B submits a task of 10 cores: 10 are not more than 40.")
    status, task = server.submit("b", "b-1", 10)

    step(6, "It starts at once, whatever of A waits.")
    expect("the task of B", (status, task["state"]), (201, "STARTING"))
    expect("cores and GB in use of B", server.used("b"), (10, 0))
    expect("cores and GB in use of A", server.used("a"), (90, 180))
    if tight:
        print("   The cluster is full: 90 + 10 = 100. B submits another: 20 are not more than 40.")
        status, task = server.submit("b", "b-2", 10)
        expect("it waits", (status, task["state"]), (202, "WAITING"))
        reason = server.get("/headroom/v1/tenants/b/waiting/b-2")["reason"]
        expect("for room and not for its quota", reason["code"], "ROOT_CAPACITY")
        expect("no quota is short", reason.get("types", []), [])
        print(f"         {reason['sentence']}")
        expect("what of A waits does so for its quota", waiting_for(server, "a", "a-20"), "TENANT_QUOTA")
        return

    step(7, "A task of A ends: 80 + 20 = 100. What waits starts by itself.")
    ended = server.end("a-1")
    expect("the task that ended", ended["state"], "SUCCEEDED")
    task = server.until(
        "the task of 20 cores starts",
        lambda: started(server.get("/headroom/v1/tasks/a-20")),
    )
    expect("the task of 20 cores", task["state"], "STARTING")
    expect("cores and GB in use of A", server.used("a"), (100, 160))
    expect("cores and GB in use of B", server.used("b"), (10, 0))
    expect("nobody waits", server.get("/headroom/v1/tenants/a/waiting")["total"], 0)
    told = server.get("/headroom/v1/tenants/a/audit")["items"][-2:]
    types = [(one["type"], one["task"]) for one in told]
    expect("the audit", types, [("TASK_ENDED", "a-1"), ("TASK_STARTED", "a-20")])
    expect("who started it", told[1]["actor"], "scheduler")
    between = told[1]["ledgerVersion"] - told[0]["ledgerVersion"]
    expect("records from one to the other", between, 1)


def started(task):
    return task if task["state"] != "WAITING" else None


def waiting_for(server, tenant, task):
    return server.get(f"/headroom/v1/tenants/{tenant}/waiting/{task}")["reason"]["code"]


def main():
    about, _, more = __doc__.partition("\n")
    parser = argparse.ArgumentParser(
        description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--headroom", metavar="PROGRAM", default=shutil.which("headroom"))
    parser.add_argument(
        "--a-cores", metavar="CORES", type=int, default=100,
        help="give tenant A another quota: the numbers are wrong then, and the script says so",
    )  # fmt: skip
    arguments = parser.parse_args()
    if arguments.headroom is None:
        parser.error("there is no `headroom` in the path; name it with --headroom")
    for cores, tight in ((128, False), (100, True)):
        print(f"A cluster of {cores} cores and 256 GB:")
        try:
            with Server(arguments.headroom, cores) as server:
                scene(server, arguments.a_cores, tight)
        except Wrong as wrong:
            print(f"wrong: {wrong}", file=sys.stderr)
            return 1
    print("all as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
