"""The sweep's shim: containerd-shim-ocirun-v2 starts, answers the calls of a container's life, and removes what is left. This file plays
containerd, by lib/ttrpc.py. The faults hit the command `start`, the server, the children in which it mounts, the runtime that it executes,
and the command `delete`. With the fault KILLCLIENT containerd dies when the process is at the call."""
import dataclasses
import errno
import json
import mmap
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import bundles
import host
import tracer
from host import Wrong, wait_for

LIB = pathlib.Path(__file__).resolve().parent.parent / "lib"
sys.path.insert(0, str(LIB))
from ttrpc import NOT_FOUND, PRECONDITION, Client, Refused, Shim, first, message, overlay  # noqa: E402

CREATED, RUNNING, STOPPED = 1, 2, 3
SOCKETS = "/run/containerd/s"
PATIENCE = 15  # seconds, for an answer
ENDED = ["Create", "Start", "Kill", "Wait"]


@dataclasses.dataclass
class Command:
    before: list  # the calls that were answered before; None: `start` was not called
    calls: list  # the calls that are sent, none waits for the answer to another
    after: object  # the status of the container, or of the exec, behind them; None: there is none
    exec_id: str = ""


COMMANDS = {
    "shim-start": Command(None, [], None),
    "shim-create": Command([], ["Create"], CREATED),
    "shim-terminal": Command([], ["Create-terminal"], CREATED),
    "shim-task": Command(["Create"], ["Start"], RUNNING),
    "shim-exec": Command(["Create", "Start"], ["Exec", "Start-exec"], RUNNING, "e"),
    "shim-kill": Command(["Create", "Start"], ["Kill"], STOPPED),
    "shim-delete": Command(ENDED, ["Delete"], None),
    "shim-end": Command([*ENDED, "Delete"], ["Shutdown"], None),
    "shim-remove": Command(["Create", "Start"], [], None),  # the server was killed: the command `delete`
}


def is_starter(change):
    """Whether the line tells of a process that is `start`, or will execute it: a server leads a session."""
    words = change.removeprefix("left behind: ").split()
    try:
        return words[0] == "process" and os.getsid(int(words[1])) != int(words[1])
    except ProcessLookupError:
        return False


class ShimGround:
    """A bundle whose root filesystem Create mounts, a state root, and a snapshot of the host without a shim."""

    def __init__(self, scratch, ocirun, name, mark):
        self.kind, self.name, self.mark, self.runtime = "shim", name, mark, ocirun
        self.program = os.path.join(os.path.dirname(ocirun), "containerd-shim-ocirun-v2")
        if not os.path.exists(self.program):
            raise SystemExit("this build has no shim: --bundle names the others")
        self.bundle = bundles.make(scratch / "shim", "plain", name)
        self.image = scratch / "shim-image"
        os.rename(self.bundle / "rootfs", self.image)
        (self.bundle / "rootfs").mkdir()
        self.root = scratch / "shim-root"
        self.root.mkdir(mode=0o700)
        self.rootfs = [overlay(self.image, scratch / "shim-layers")]
        self.output = open(scratch / "shim-output", "w+b", buffering=0)
        self.sent = mmap.mmap(-1, 1)  # shared with the process that plays containerd: 1 when the calls are sent
        os.makedirs(SOCKETS, mode=0o700, exist_ok=True)
        self.shim, self.server, self.command = None, None, None
        self.before = self.look()

    def prepare(self, name):
        os.chdir("/")
        self.command = COMMANDS[name]
        self.shim, self.server = None, None
        config = json.loads((self.bundle / "sleeps.json").read_text())
        config["process"]["terminal"] = "Create-terminal" in self.command.calls
        (self.bundle / "config.json").write_text(json.dumps(config))
        for left in ("address", "init.pid", "shim.json"):
            (self.bundle / left).unlink(missing_ok=True)
        if self.command.before is None:
            return
        self.start()
        for call in self.command.before:
            self.shim.client.call(*self.request(call))
        if name == "shim-remove":
            os.kill(self.server, signal.SIGKILL)
            wait_for(lambda: not host.is_alive(self.server), "the server does not die")

    def start(self):
        self.shim = Shim(self.program, self.runtime, str(self.root), str(self.bundle), self.name)
        self.shim.client.peer.settimeout(PATIENCE)
        self.server = self.shim.server()

    def request(self, call):
        """The method and the message of a call."""
        shim = self.shim
        if call.startswith("Create"):
            return "Create", shim.create_request(rootfs=self.rootfs, terminal=call == "Create-terminal")
        if call == "Exec":
            words = {"args": ["sleep", "1001"], "cwd": "/", "user": {"uid": 0, "gid": 0}, "env": ["PATH=/bin"]}
            return call, shim.exec_request("e", json.dumps(words))
        if call == "Kill":
            return call, message(_1=self.name, _3=int(signal.SIGKILL))
        return call.removesuffix("-exec"), message(_1=self.name, _2="e" if call == "Start-exec" else "")

    def play(self, name):
        """What containerd does, in a process of its own. Returns its exit status: 1 if a call was refused, 2 if the shim was gone."""
        try:
            if name == "shim-start":
                self.start()
                self.shim.client.call(*self.request("State"))
            elif name == "shim-remove":
                self.shim.delete()
            else:
                client = Client(self.shim.path)
                streams = [client.begin(*self.request(call)) for call in self.command.calls]
                self.sent[0] = 1
                for stream in streams:
                    client.end(stream)
                if name == "shim-end":
                    wait_for(lambda: not host.is_alive(self.server), "the server does not end")
        except Refused as refused:
            print(refused, flush=True)
            return 0 if name == "shim-start" and refused.code == NOT_FOUND else 1
        except (OSError, EOFError, RuntimeError, subprocess.CalledProcessError) as error:
            print(repr(error), flush=True)
            return 2
        return 0

    def run(self, name, process=None, number=0, fault=None):
        self.output.seek(0)
        self.output.truncate()
        self.sent[0] = 0
        error = fault if fault in (None, tracer.KILL, tracer.KILL_COMMAND) else getattr(errno, fault)
        attached = None if name in ("shim-start", "shim-remove") else self.server
        done = tracer.Run(lambda: self.play(name), process, number, error, self.output.fileno(), attached=attached).go()
        if name == "shim-start" and (fault == tracer.KILL_COMMAND or done.status == 0):
            self.find_server()
        return done

    def find_server(self):
        """Connects as containerd does that was begun anew: by the address in the bundle, when `start` has ended."""
        shim = self.without_server()
        wait_for(lambda: not any(map(is_starter, self.changes())), "`start` does not end")
        try:
            shim.path = (self.bundle / "address").read_text().removeprefix("unix://")
            shim.client = Client(shim.path)
            self.shim, self.server = shim, shim.server()
        except (OSError, RuntimeError):
            pass

    def without_server(self):
        return Shim.without_server(self.program, self.runtime, str(self.root), str(self.bundle), self.name)

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace").strip()

    def look(self):
        return (host.look(self.mark) | {"state " + name for name in os.listdir(self.root)}
                | {f"file {SOCKETS}/{name}" for name in os.listdir(SOCKETS)})

    def changes(self):
        return host.changes(self.before, self.look())

    def settle(self, when):
        wait_for(lambda: not self.changes(), lambda: f"{when}: " + "; ".join(self.changes()))

    def is_served(self):
        return self.server is not None and host.is_alive(self.server)

    def connect(self):
        client = Client(self.shim.path)
        client.peer.settimeout(PATIENCE)
        return client

    def status(self, exec_id=""):
        """The status that a client finds which connects now; None: there is no such container or process. Until the pid is known, the
        server is making the process: 0."""
        try:
            state = self.connect().call("State", message(_1=self.name, _2=exec_id))
        except Refused as refused:
            if refused.code != NOT_FOUND:
                raise
            return None
        return first(state, 4, 0) if first(state, 3, 0) else 0

    def check(self, name, run, fault):
        """What must hold right after the calls. Raises Wrong."""
        if fault == tracer.KILL_COMMAND:
            return self.check_left_alone(name)
        text = self.said()
        if os.WIFSIGNALED(run.status) or os.WEXITSTATUS(run.status) not in (0, 1, 2):
            raise Wrong(f"containerd's end has status {run.status}: {text}")
        if name in ("shim-start", "shim-remove", "shim-end"):
            return None
        if run.target == 1 and fault == tracer.KILL and run.call is not None:
            return wait_for(lambda: not self.is_served(), "the server was killed, and lives")
        if not self.is_served() and (run.target != 1 or fault == tracer.KILL):
            raise Wrong(f"the server has ended: {text}")
        if name in ("shim-create", "shim-terminal") and os.WEXITSTATUS(run.status) == 1:
            # A runtime that was killed may leave a container, which stays until `delete`.
            kept = [f"process {self.server} ", f"file {self.shim.path}"]
            kept += ["cgroup ", "state ", r"process \d+ ocirun: init"] if run.target != 1 else []
            others = lambda: [line for line in self.changes() if not re.match("left behind: (" + "|".join(kept) + ")", line)]  # noqa: E731
            wait_for(lambda: not others(), lambda: f"Create was refused ({text}): " + "; ".join(others()))
        return None

    def check_left_alone(self, name):
        """containerd has died: the server works on, and a new client finds the container as before the calls or behind them."""
        if name in ("shim-start", "shim-remove"):
            return
        if name == "shim-end":
            if self.sent[0]:
                wait_for(lambda: not self.is_served(), "Shutdown was sent, and the server does not end")
            return
        if not self.is_served():
            raise Wrong("the client has died, and the server has ended")
        command, found = self.command, None

        def is_done():
            nonlocal found
            found = self.status(command.exec_id)
            return found == command.after
        if self.sent[0]:
            wait_for(is_done, lambda: f"the calls were sent, and a new client finds the status {found} instead of {command.after}")

    def clear(self):
        """Ends the container as containerd does: by the server, if there is one, and always by the command `delete`."""
        try:
            if self.is_served():
                self.end()
            if self.shim is None:  # `start` was killed, or has failed
                self.shim = self.without_server()
            self.shim.delete()
        except (Refused, RuntimeError, EOFError) as error:
            raise Wrong(f"the container is not ended: {error!r}") from error
        self.settle("after delete")

    def end(self):
        client = self.connect()

        def attempt(method, payload, *codes):
            try:
                return client.call(method, payload)
            except Refused as refused:
                if refused.code not in codes:
                    raise
                return None
        wait_for(lambda: self.status() != 0, "the server makes the container for ever")
        if self.status() is not None:
            attempt(*self.request("Kill"), NOT_FOUND)
            client.call(*self.request("Wait"))
            attempt(*self.request("Delete"), NOT_FOUND, PRECONDITION)
        if self.status() is not None:
            raise Wrong(f"Delete has left the container: status {self.status()}")
        client.call(*self.request("Shutdown"))
        client.peer.close()
        wait_for(lambda: not self.is_served(), "the server does not end")

    def folders(self):
        """What a run may leave in directories."""
        return [*self.root.iterdir(), *pathlib.Path(SOCKETS).iterdir()]

    def close(self):
        shutil.rmtree(self.image)
