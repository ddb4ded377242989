"""What the sweep's grounds have in common: waiting, processes, sentences, names of system calls."""
import glob
import os
import pathlib
import re
import subprocess
import time

PATIENCE = 5  # seconds; the kernel destroys the namespaces and cgroups of dead processes asynchronously


class Wrong(Exception):
    pass


def wait_for(condition, otherwise):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise Wrong(otherwise if isinstance(otherwise, str) else otherwise())
        time.sleep(0.01)


def command_of(pid):
    try:
        return open(f"/proc/{pid}/cmdline").read().replace("\0", " ")
    except OSError:
        return "?"


def is_alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX" and int(pid) != os.getpid()
    except OSError:
        return False


def look(mark):
    """Processes, cgroups and keyrings whose names begin with the mark, mounts and network devices, as lines of text."""
    found = {f"process {pid} {command_of(pid)}" for pid in os.listdir("/proc") if pid.isdigit() and is_alive(pid)}
    found |= {"cgroup " + path for depth in ("", "*/", "*/*/") for path in glob.glob(f"/sys/fs/cgroup/{depth}{mark}*")}
    found |= {"mount " + line.split(" ", 2)[2] for line in open("/proc/self/mountinfo")}
    found |= {"net device " + line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line}
    found |= {"keyring " + line.split("keyring", 1)[1] for line in open("/proc/keys") if mark in line}
    return found


def options_of_cgroups():
    """The mount point of the first cgroup2 filesystem and its options, as ("/sys/fs/cgroup", "rw,nsdelegate"), or None."""
    for line in open("/proc/self/mountinfo"):
        place, filesystem = line.split(" - ")
        if filesystem.startswith("cgroup2 "):
            return place.split()[4], filesystem.split()[2]
    return None


def set_options_of_cgroups(options):
    if options and options_of_cgroups() != options:
        subprocess.run(["mount", "-o", "remount," + options[1], options[0]], check=True)


def changes(before, after):
    return sorted({"left behind: " + line for line in after - before}
                  | {"gone: " + line for line in before - after if not line.startswith("process ")})


# A sentence names the command, the step and the reason: "create web: make the start socket: too many open files".
def is_sentence(text):
    return any(re.match(r"ocirun: [a-z]+ \S+: .*\S.*\S[^:]* .*", line) and " :" not in line for line in text.splitlines())


def call_names():
    names = {}
    for header in glob.glob("/usr/include/*/asm/unistd_64.h"):
        for name, number in re.findall(r"#define __NR_(\w+)\s+(\d+)", pathlib.Path(header).read_text()):
            names[int(number)] = name
    return names
