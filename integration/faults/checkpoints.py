"""The sweep's checkpoints: a container that counts is saved, saved in part, and restored. The faults hit the command, criu and
ocirun-criu. Needs a kernel under which criu works.

Afterwards a container that runs counts on, and a container whose restore was refused is not there. A container whose criu was killed
may have lost its processes: criu works in them.
"""
import errno
import json
import os
import shutil
import signal
import subprocess

import bundles
import host
import tracer
from host import Wrong, wait_for

COUNTS = "i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; sleep 0.02; done"
CRIU = 1  # the second process: the first child of the command
SPEAKER = 2  # ocirun-criu, the second child

_RESTORE = ["restore", "--detach", "--bundle", "BUNDLE", "--image-path", "SAVED", "--pid-file", "PIDFILE", "NAME"]
COMMANDS = {
    "checkpoint": ["checkpoint", "--image-path", "IMAGES", "NAME"],
    "leave-running": ["checkpoint", "--leave-running", "--image-path", "IMAGES", "NAME"],
    "pre-dump": ["checkpoint", "--pre-dump", "--image-path", "IMAGES", "NAME"],
    "restore": _RESTORE,
}
_WAIT4, _PTRACE = 61, 101


def is_crius_own(fault, process, call):
    """Whether a hang is criu's alone: criu waits for ever when its wait4 or ptrace is refused, and no kernel refuses them with these errors."""
    return process == CRIU and fault in ("ENOMEM", "ENOSPC", "EMFILE") and call in (_WAIT4, _PTRACE)


class CheckpointGround:
    """A bundle, images of its container, a state root, and a snapshot of the host without a container."""

    def __init__(self, scratch, ocirun, name, mark):
        self.kind, self.name, self.mark, self.program = "checkpoint", name, mark, ocirun
        self.bundle = bundles.make(scratch / "checkpoint", "plain", name)
        self.root = scratch / "checkpoint-root"
        self.root.mkdir(mode=0o700)
        self.output = open(scratch / "checkpoint-output", "w+b", buffering=0)
        self.images, self.saved, self.pid_file = scratch / "images", scratch / "saved", scratch / "pid"
        self.number = self.bundle / "rootfs/tmp/n"
        self.places = {"NAME": name, "BUNDLE": str(self.bundle), "IMAGES": str(self.images), "SAVED": str(self.saved),
                       "PIDFILE": str(self.pid_file)}
        document = json.loads((self.bundle / "sleeps.json").read_text())
        document["process"]["args"] = ["sh", "-c", COUNTS]
        (self.bundle / "config.json").write_text(json.dumps(document))
        self.options_of_cgroups = host.options_of_cgroups()
        self.before = self.look()
        self.start()
        self.must("checkpoint", "--image-path", "SAVED", "NAME")
        self.written = self.number.read_bytes()
        self.clear()

    def words(self, words):
        return [self.program, "--root", str(self.root), *(self.places.get(word, word) for word in words)]

    def ocirun(self, *words):
        self.output.seek(0)
        self.output.truncate()
        with open(os.devnull) as nothing:  # no pipes: the container would keep them open
            return subprocess.run(self.words(words), stdin=nothing, stdout=self.output, stderr=self.output, timeout=120,
                                  check=False).returncode

    def must(self, *words):
        code = self.ocirun(*words)
        if code != 0:
            raise Wrong(f"without a fault: {words[0]} has status {code}: {self.said()}")

    def start(self):
        self.number.unlink(missing_ok=True)
        self.must("run", "--detach", "--bundle", "BUNDLE", "NAME")
        self.counts_on("without a fault")

    def prepare(self, name):
        os.chdir("/")
        shutil.rmtree(self.images, ignore_errors=True)
        if name == "restore":
            self.number.write_bytes(self.written)  # the file may be open in the images, and criu compares its size
        else:
            self.start()

    def run(self, name, process=None, number=0, fault=None):
        self.output.seek(0)
        self.output.truncate()
        error = fault if fault in (None, tracer.KILL, tracer.KILL_ALL) else getattr(errno, fault)
        return tracer.Run(self.words(COMMANDS[name]), process, number, error, self.output.fileno(), limit=120,
                          followed="criu").go()

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace").strip()

    def status(self):
        """The container's status; "none": there is no container."""
        if self.ocirun("state", "NAME") == 0:
            return json.loads(self.said())["status"]
        if "does not exist" not in self.said():
            raise Wrong(f"state fails: {self.said()}")
        return "none"

    def counted(self):
        try:
            return int(self.number.read_text() or 0)
        except (FileNotFoundError, ValueError):
            return 0

    def counts_on(self, when):
        before = self.counted()
        wait_for(lambda: self.counted() > before + 1, lambda: f"{when}: the container, {self.status()}, does not count on")

    def look(self):
        found = host.look(self.mark) | {"state " + name for name in os.listdir(self.root)}
        return found | ({"file " + str(self.pid_file)} if self.pid_file.exists() else set())

    def changes(self):
        return host.changes(self.before, self.look())

    def settle(self, when):
        wait_for(lambda: not self.changes(), lambda: f"{when}: " + "; ".join(self.changes()))

    def check(self, name, run, fault):
        """What must hold right after the command with the fault. Raises Wrong."""
        text, killed = self.said(), fault in (tracer.KILL, tracer.KILL_ALL)
        if os.WIFSIGNALED(run.status):
            if not (killed and os.WTERMSIG(run.status) == signal.SIGKILL):
                raise Wrong(f"ended by signal {os.WTERMSIG(run.status)}: {text}")
            code = None
        else:
            code = os.WEXITSTATUS(run.status)
            if code not in (0, 1):
                raise Wrong(f"status {code}: {text}")
            if code != 0 and not host.is_sentence(text):
                raise Wrong(f"status {code}, but no sentence: {text!r}")
        when = f"right after status {code} ({text})"
        if name == "restore" and code == 1:
            self.settle(when)
        elif name == "restore" and code == 0:
            self.counts_on(when)
        elif name != "restore":
            self.check_saved(name, code, fault, run.target if fault != tracer.KILL_ALL else CRIU, when)

    def check_saved(self, name, code, fault, target, when):
        if code == 0 and name == "checkpoint":
            wait_for(lambda: self.status() == "stopped", lambda: f"{when}: the container is {self.status()}")
        elif target == CRIU and fault in (tracer.KILL, tracer.KILL_ALL):
            if code is not None and self.status() == "paused":
                raise Wrong(f"{when}: the container stays frozen")
        elif code is None:  # criu works on for a moment
            wait_for(lambda: self.status() in ("running", "stopped"), lambda: f"{when}: the container is {self.status()}")
            if self.status() == "running":
                self.counts_on_or_ends(when)
        elif target == SPEAKER and fault == tracer.KILL and name == "checkpoint":  # after the last stage criu works on
            self.counts_on_or_ends(when)
            if self.status() == "stopped" and not (self.images / "inventory.img").exists():
                raise Wrong(f"{when}: the container has ended, and its images are incomplete")
        else:
            self.counts_on(when)

    def counts_on_or_ends(self, when):
        before = self.counted()
        wait_for(lambda: self.counted() > before + 1 or self.status() == "stopped",
                 lambda: f"{when}: the container, {self.status()}, does not count on")

    def clear(self):
        code = self.ocirun("delete", "--force", "NAME")
        said = self.said()
        self.pid_file.unlink(missing_ok=True)
        # criu clears the options of cgroup2 for a moment, and nobody restores them if all are killed then.
        host.set_options_of_cgroups(self.options_of_cgroups)
        if code != 0:
            raise Wrong(f"delete --force has status {code}: {said}")
        self.settle("after delete --force")

    def folders(self):
        """What a run may leave in the scratch directory."""
        return list(self.root.iterdir())

    def close(self):
        shutil.rmtree(self.saved)
