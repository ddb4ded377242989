"""The rounds of `shim`: ROUNDS OCIRUN WORK CONTAINERD-PID. Prints a table."""
import os
import shutil
import statistics
import subprocess
import sys

from shim_measures import machine, medians_by_turns, memory_of, of_process, run, shims, until_no_shim

rounds, ocirun, work, containerd = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
own = os.path.join(os.path.dirname(ocirun), "containerd-shim-ocirun-v2")
with open(f"{work}/shim.toml", "w") as file:
    file.write(f'BinaryName = "{ocirun}"\nRoot = "/run/bench-shim"\n')


def go(name):
    program = ocirun if name == "ocirun" else shutil.which(name)
    return ["--runtime", "io.containerd.runc.v2", "--runc-binary", program, "--runc-root", f"/run/bench-{name}"]


sides = {"Go + runc": go("runc"), "Go + crun": go("crun"), "Go + ocirun": go("ocirun"),
         "ocirun's shim": ["--runtime", own, "--runtime-config-path", f"{work}/shim.toml"]}
number = 0


def ctr(*words):
    return ["ctr", *words]


def container(side, *command, detached=False):
    global number
    number += 1
    name = f"{os.environ['OCIRUN_TEST_MARK']}{number}"
    first = ["--detach"] if detached else ["--rm"]
    return name, ctr("run", *first, "--snapshotter", "overlayfs", *sides[side], "localhost/busybox:latest", name, *command)


def measured(words, **more):
    """Wall time, and CPU time without that of ctr and of containerd."""
    before, daemon = machine(), of_process(containerd)
    wall, client = run(words, **more)
    until_no_shim()
    return wall, machine() - before - client - (of_process(containerd) - daemon)


def short_run(side):
    wall, cpu = measured(container(side, "true")[1])
    return {"run, ms": wall, "run, CPU ms": cpu}


def moved(side):
    size = 1 << 30
    wall, cpu = measured(container(side, "dd", "if=/dev/zero", "bs=65536", f"count={size // 65536}")[1], stderr=subprocess.DEVNULL)
    return {"1 GiB of output, MB/s": size / wall / 1e3, "1 GiB, CPU ms": cpu}


def resting(side):
    name, words = container(side, "sleep", "1000", detached=True)
    run(words)
    execs = [run(ctr("tasks", "exec", "--exec-id", f"e{i}", name, "true"))[0] for i in range(5)]
    [pid] = shims()
    kib = memory_of(pid)
    threads = len(os.listdir(f"/proc/{pid}/task"))
    run(ctr("tasks", "delete", "--force", name), stderr=subprocess.DEVNULL)  # a warning tells the status 137
    run(ctr("containers", "delete", name))
    until_no_shim()
    return {"exec, ms": statistics.median(execs), "resident, KiB": kib["Rss"], "proportional, KiB": kib["Pss"],
            "private, KiB": kib["Private_Clean"] + kib["Private_Dirty"], "private dirty, KiB": kib["Private_Dirty"], "threads": threads}


medians_by_turns(sides, [(short_run, rounds), (resting, max(rounds // 6, 2)), (moved, max(rounds // 6, 2))])
run_times = [run(ctr("version"))[0] for _ in range(rounds)]
print(f"\n`ctr version` takes {statistics.median(run_times):.1f} ms.")
