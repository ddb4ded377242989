"""What the rounds of `shim` measure with: the machine's CPU time, the memory of shims, programs' times."""
import os
import statistics
import subprocess
import sys
import time


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


def memory_of(pid):
    """The memory of a process, in KiB, by the names of smaps_rollup."""
    lines = read(f"/proc/{pid}/smaps_rollup").splitlines()[1:]
    return {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}


def run(words, **more):
    """Runs a command. Returns its wall time and its own CPU time, in ms."""
    begin = time.monotonic()
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, **{"stdout": subprocess.DEVNULL, **more})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        sys.exit(f"{words}: status {status}")
    return (time.monotonic() - begin) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def medians_by_turns(sides, experiments):
    """Runs each experiment (a function of a side, and the number of rounds) on all sides by turns. Prints a table of the medians."""
    results = {side: {} for side in sides}
    for experiment, times in experiments:
        for turn in range(times + 1):
            for side in sides:
                for row, value in experiment(side).items():
                    if turn != 0 or times == 0:  # the first round fills caches
                        results[side].setdefault(row, []).append(value)
    print("| |", " | ".join(sides), "|\n|---|" + "--:|" * len(sides))
    for row in next(iter(results.values())):
        medians = [statistics.median(results[side][row]) for side in sides]
        print(f"| {row} |", " | ".join(f"{value:.1f}" if value < 100 else f"{value:.0f}" for value in medians), "|", flush=True)
