"""The rounds of `shim`: ROUNDS OCIRUN WORK CONTAINERD-PID. Prints a table."""
import os, shutil, statistics, subprocess, sys, time

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


def read(path):
    with open(path) as file:
        return file.read()


def machine():
    """CPU time of all processes, in ms."""
    return int(read("/sys/fs/cgroup/cpuacct/cpuacct.usage")) / 1e6


def of_process(pid):
    tasks = f"/proc/{pid}/task"
    return sum(int(read(f"{tasks}/{task}/schedstat").split()[0]) for task in os.listdir(tasks)) / 1e6


def shims():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "containerd-shim" in os.path.basename(os.readlink(f"/proc/{pid}/exe")):
                found.append(pid)
        except OSError:
            pass
    return found


def until_no_shim():
    while shims():
        time.sleep(0.02)
    time.sleep(0.1)


def run(words, **more):
    """Runs a command. Returns its wall time and its own CPU time, in ms."""
    begin = time.monotonic()
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL, **more})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit(f"{words}: status {status}")
    return (time.monotonic() - begin) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


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
    memory = dict(line.split(":") for line in read(f"/proc/{pid}/smaps_rollup").splitlines()[1:])
    kib = {key: int(value.split()[0]) for key, value in memory.items()}
    threads = len(os.listdir(f"/proc/{pid}/task"))
    run(ctr("tasks", "delete", "--force", name), stderr=subprocess.DEVNULL)  # a warning tells the status 137
    run(ctr("containers", "delete", name))
    until_no_shim()
    return {"exec, ms": statistics.median(execs), "resident, KiB": kib["Rss"], "proportional, KiB": kib["Pss"],
            "private, KiB": kib["Private_Clean"] + kib["Private_Dirty"], "private dirty, KiB": kib["Private_Dirty"], "threads": threads}


results = {side: {} for side in sides}
for what, times in [(short_run, rounds), (resting, max(rounds // 6, 2)), (moved, max(rounds // 6, 2))]:
    for turn in range(times + 1):
        for side in sides:
            for row, value in what(side).items():
                if turn != 0:  # the first round fills caches
                    results[side].setdefault(row, []).append(value)
print("| |", " | ".join(sides), "|\n|---|" + "--:|" * len(sides))
for row in results["Go + runc"]:
    medians = [statistics.median(results[side][row]) for side in sides]
    print(f"| {row} |", " | ".join(f"{value:.1f}" if value < 100 else f"{value:.0f}" for value in medians), "|")
run_times = [run(ctr("version"))[0] for _ in range(rounds)]
print(f"\n`ctr version` takes {statistics.median(run_times):.1f} ms.")
