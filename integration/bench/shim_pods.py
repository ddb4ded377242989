"""The pods of `shim`: ROUNDS PODS WORK CONTAINERD-PID CRI-CLIENT SIDE…. Pods by containerd's CRI, with the handler of each side. Prints a table."""
import concurrent.futures
import importlib.machinery
import importlib.util
import os
import sys
import time

from shim_measures import machine, medians_by_turns, memory_of, of_process, shims, until_no_shim

rounds, pods, work, containerd, client_path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5]
sides = sys.argv[6:]
loader = importlib.machinery.SourceFileLoader("cri_client", client_path)
client = importlib.util.module_from_spec(importlib.util.spec_from_loader("cri_client", loader))
loader.exec_module(client)
classes = client.message_classes()
channel = client.grpc.insecure_channel("unix:///run/c8d.sock")
number = 0


def call(method, **fields):
    asked, answered = client.METHODS[method]
    request = client.json_format.ParseDict(fields, classes[asked]())
    return channel.unary_unary(f"/runtime.v1.RuntimeService/{method}", request_serializer=lambda message: message.SerializeToString(),
                               response_deserializer=classes[answered].FromString)(request, timeout=300)


def configuration():
    global number
    number += 1
    name = f"{os.environ['OCIRUN_TEST_MARK']}{number}"
    return {"metadata": {"name": name, "uid": name, "namespace": "default"}, "log_directory": f"{work}/logs",
            "linux": {"cgroup_parent": f"/{os.environ['OCIRUN_TEST_MARK']}pods",
                      "security_context": {"namespace_options": {"network": 2, "pid": 1}}}}


def start(side, pod):
    """Starts a pod with one container. Returns the ids of both."""
    sandbox = call("RunPodSandbox", config=pod, runtime_handler=handler(side)).pod_sandbox_id
    container = call("CreateContainer", pod_sandbox_id=sandbox, sandbox_config=pod,
                     config={"metadata": {"name": "one"}, "image": {"image": "localhost/busybox:latest"}, "command": ["sleep", "1000"]}).container_id
    call("StartContainer", container_id=container)
    return sandbox, container


def stop(ids):
    sandbox, container = ids
    call("StopContainer", container_id=container, timeout=0)
    call("RemoveContainer", container_id=container)
    call("StopPodSandbox", pod_sandbox_id=sandbox)
    call("RemovePodSandbox", pod_sandbox_id=sandbox)


def handler(side):
    return side.replace(" ", "").replace("+", "-").replace("'", "").lower()


def measured(act):
    """Wall time in ms, CPU time of the machine without this program and containerd, and the result of `act`."""
    before, daemon, mine, begin = machine(), of_process(containerd), time.process_time() * 1e3, time.monotonic()
    result = act()
    wall = (time.monotonic() - begin) * 1e3
    return wall, machine() - before - (of_process(containerd) - daemon) - (time.process_time() * 1e3 - mine), result


def one_pod(side):
    begun, starting, ids = measured(lambda: start(side, configuration()))
    executed = measured(lambda: call("ExecSync", container_id=ids[1], cmd=["true"], timeout=10))[0]
    ended, stopping, _ = measured(lambda: (stop(ids), until_no_shim()))
    return {"pod, start, ms": begun, "pod, ExecSync, ms": executed, "pod, stop, ms": ended - 100, "pod, CPU ms": starting + stopping}


def many(side):
    """All pods, eight at once."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        configurations = [configuration() for _ in range(pods)]
        begun, starting, all_ids = measured(lambda: list(pool.map(lambda pod: start(side, pod), configurations)))
        memory = [memory_of(pid) for pid in shims()]
        ended, stopping, _ = measured(lambda: (list(pool.map(stop, all_ids)), until_no_shim()))
    return {f"{pods} pods, start, s": begun / 1e3, f"{pods} pods, stop, s": ended / 1e3, f"{pods} pods, CPU s": (starting + stopping) / 1e3,
            f"{pods} pods, shims, proportional, MiB": sum(kib["Pss"] for kib in memory) / 1024,
            f"{pods} pods, shims, private dirty, MiB": sum(kib["Private_Dirty"] for kib in memory) / 1024}


medians_by_turns(sides, [(one_pod, rounds), (many, 0 if pods > 50 else max(rounds // 10, 2))])
