"""The sweep's pods: a workload document with an init container, two containers and a volume, without a network, is run, stopped,
replaced, adopted, deleted and exported, and its image is pulled from a registry on the loopback device. The faults hit the supervisor
and the commands; the sweep of `create` and the others has the runtime that they call."""
import dataclasses
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess

import bundles
import host
import tracer
from host import Wrong, wait_for

REGISTRY = "127.0.0.1:5001"
LIB = pathlib.Path(__file__).resolve().parent.parent / "lib"


@dataclasses.dataclass
class Command:
    words: list  # after `ocirun pod`; DOCUMENT, SLEEPS and NAME stand for what the ground has
    processes: tuple  # which get faults: 0 the command, 1 its first child
    running: bool = False  # whether the pod runs before
    orphaned: bool = False  # whether its supervisor was killed before
    data: str = "pod-data"  # the directory of --data; "": the command has no such option


_RUN = ["run", "--images", "IMAGES", "--net", "none", "--grace", "1", "--restart", "never", "--name", "NAME"]
COMMANDS = {
    "pod-run": Command([*_RUN, "ENDS"], (0,)),
    "pod-detached": Command([*_RUN, "--detach", "SLEEPS"], (0, 1)),
    "pod-network": Command([*_RUN, "--network", "NAME", "--detach", "SLEEPS"], (0, 1)),
    "pod-replace": Command([*_RUN, "--replace", "--detach", "SLEEPS-TOO"], (0, 1), True),
    "pod-adopt": Command(["start", "NAME"], (0, 1), True, True),
    "pod-export": Command(["export", "--to", "kubernetes", "--image", "base=docker://example.com/base:1", "ENDS"], (0,), data=""),
    "pod-pull": Command(["pull", "--plain-http", "REGISTRY", "REGISTRY/base:1"], (0,), data="pull-data"),
    "pod-stop": Command(["stop", "NAME"], (0,), True),
    "pod-delete": Command(["delete", "--force", "NAME"], (0,), True),
}


def document(program):
    def container(words):
        return {"image": "base", "command": words, "volumeMounts": {"w": {"mountPath": "/work", "volumeName": "work"}}}
    return {"name": "shop", "type": "Radius.Compute/containers@2025-08-01-preview",
            "properties": {"initContainers": {"first": container(["/bin/true"])}, "volumes": {"work": {"emptyDir": {}}},
                           "containers": {"one": container(program), "two": container(program)}}}


class PodGround:
    """An image in a store, two documents, a data directory, a state root, and a snapshot of the host without a pod."""

    def __init__(self, scratch, ocirun, name, mark):
        self.kind, self.name, self.mark, self.program = "pod", name, mark, ocirun
        self.bundle = bundles.make(scratch / "pod", "plain", name)
        self.root, self.data = scratch / "pod-root", scratch / "pod-data"
        self.root.mkdir(mode=0o700)
        self.output = open(scratch / "pod-output", "w+b", buffering=0)
        self.scratch, self.registry, self.exported = scratch, None, None
        self.places = {"NAME": name, "IMAGES": str(scratch / "images"), "REGISTRY": REGISTRY, "REGISTRY/base:1": f"{REGISTRY}/base:1"}
        for place, program in (("ENDS", ["/bin/true"]), ("SLEEPS", ["/bin/sleep", "1000"]), ("SLEEPS-TOO", ["/bin/sleep", "2000"])):
            path = scratch / (place.lower() + ".json")
            path.write_text(json.dumps(document(program)))
            self.places[place] = str(path)
        subprocess.run(["bash", "-c", 'source "$1/image.bash"; make_image "$2" base "{}" "$3"', "bash",
                        LIB, scratch / "images", self.bundle / "rootfs"], check=True)
        done = self.pod(*COMMANDS["pod-run"].words)  # adds the image to the store
        if done.returncode != 0:
            raise SystemExit(f"a pod without a fault: status {done.returncode}: {self.said()}")
        self.prepare("pod-stop")  # and makes the directories that stay
        if self.pod(*COMMANDS["pod-delete"].words).returncode != 0 or self.pod(*COMMANDS["pod-network"].words).returncode != 0:
            raise SystemExit(f"without a fault: {self.said()}")
        self.pod(*COMMANDS["pod-delete"].words)
        self.before = self.look()

    def words(self, words, data="pod-data"):
        options = ["--data", str(self.scratch / data)] if data else []
        return [self.program, "--root", str(self.root), "pod", words[0], *options, *(self.places.get(word, word) for word in words[1:])]

    def pod(self, *words, data="pod-data"):
        self.output.seek(0)
        self.output.truncate()
        with open(os.devnull) as nothing:  # no pipes: the supervisor would keep them open
            return subprocess.run(self.words(words, data), stdin=nothing, stdout=self.output, stderr=self.output, timeout=60,
                                  check=False)

    def prepare(self, name):
        os.chdir("/")
        if name == "pod-pull":
            self.serve()
            shutil.rmtree(self.scratch / "pull-data", ignore_errors=True)
        if name == "pod-export" and self.exported is None:
            if self.pod(*COMMANDS[name].words, data="").returncode != 0:
                raise Wrong(f"without a fault: {self.said()}")
            self.exported = self.said()
        if COMMANDS[name].running and self.pod(*COMMANDS["pod-detached"].words).returncode != 0:
            raise Wrong(f"without a fault: the pod does not start: {self.said()}")
        if COMMANDS[name].orphaned:
            os.kill(self.record()["supervisor"]["pid"], signal.SIGKILL)
            wait_for(lambda: self.status() == "failed", "the pod has a supervisor that was killed")
        self.programs = self.pids() if COMMANDS[name].running else []

    def serve(self):
        """Starts the registry, and makes skopeo take any signature."""
        if self.registry is not None:
            return
        home = self.scratch / "home"
        (home / ".config/containers").mkdir(parents=True)
        (home / ".config/containers/policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        (home / ".config/containers/registries.conf").write_text("unqualified-search-registries = []\n")
        os.environ.update(HOME=str(home), XDG_RUNTIME_DIR=str(home))
        words = [str(LIB / "hostile-registry"), REGISTRY.split(":")[1], str(self.scratch / "images"), "none"]
        # No child of this process: the tracer waits for all children.
        self.registry = int(subprocess.run(["bash", "-c", '"$@" </dev/null >/dev/null 2>&1 & echo $!', "bash", *words],
                                           stdout=subprocess.PIPE, check=True).stdout)
        wait_for(lambda: self.pod(*COMMANDS["pod-pull"].words, data="pull-data").returncode == 0, lambda: f"without a fault: {self.said()}")
        self.before = self.look()

    def pulled(self):
        """The files of the store of pod-pull that have content, and what a pull has left."""
        store = self.scratch / "pull-data/images"
        return sorted(str(path.relative_to(store)) for path in store.rglob("*")
                      if path.parent.name == "incoming" or (path.is_file() and path.stat().st_size != 0))

    def check_pull(self, code, killed):
        if killed:
            if self.pod(*COMMANDS["pod-pull"].words, data="pull-data").returncode != 0:
                raise Wrong(f"a pull after one that was killed: {self.said()}")
            code = 0
        found = self.pulled()
        if any("incoming/" in name for name in found):
            raise Wrong(f"left by the pull: {found}")
        if code != 0 and found:
            raise Wrong(f"status {code}, and the store has {found}")
        if code == 0 and f"{REGISTRY}/base:1" not in subprocess.run(
                self.words(["images"], "pull-data"), stdout=subprocess.PIPE, text=True, timeout=20, check=True).stdout:
            raise Wrong(f"status 0, and the store has {found}")

    def record(self):
        return json.loads((self.data / "pods" / self.name / "pod.json").read_text())

    def pids(self):
        """The pids of the pod's programs, by the runtime."""
        found = []
        for container in ("one", "two"):
            done = subprocess.run([self.program, "--root", str(self.root), "state", f"{self.name}.{container}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=False)
            found.append(json.loads(done.stdout).get("pid") if done.returncode == 0 else None)
        return found

    def run(self, name, process=None, number=0, fault=None):
        self.output.seek(0)
        self.output.truncate()
        error = fault if fault in (None, tracer.KILL) else getattr(errno, fault)
        return tracer.Run(self.words(COMMANDS[name].words, COMMANDS[name].data), process, number, error, self.output.fileno(), limit=60).go()

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace").strip()

    def status(self):
        """The pod's status; "none": there is no pod."""
        if self.pod("status", "--format", "json", "NAME").returncode == 0:
            return json.loads(self.said())["status"]
        if "there is no pod" not in self.said():
            raise Wrong(f"pod status fails: {self.said()}")
        return "none"

    def look(self):
        found = host.look(self.mark) | {"state " + name for name in os.listdir(self.root)}
        for path, folders, files in os.walk(self.data):
            found |= {f"file {path}/{name}" for name in folders + files}
            if os.path.basename(path) in ("layers", "pods"):
                folders.clear()  # the files of images, and of a pod that is left behind
        return found

    def changes(self):
        return host.changes(self.before, self.look())

    def settle(self, when):
        wait_for(lambda: not self.changes(), lambda: f"{when}: " + "; ".join(self.changes()))

    def check(self, name, run, fault):
        """What must hold right after the command with the fault. Raises Wrong."""
        text, killed = self.said(), fault == tracer.KILL
        if os.WIFSIGNALED(run.status):
            if not (killed and run.target == 0 and os.WTERMSIG(run.status) == signal.SIGKILL):
                raise Wrong(f"ended by signal {os.WTERMSIG(run.status)}: {text}")
            if name == "pod-pull":
                self.check_pull(None, True)
            return
        code = os.WEXITSTATUS(run.status)
        if code not in (0, 1):
            raise Wrong(f"status {code}: {text}")
        if code != 0 and not host.is_sentence(text):
            raise Wrong(f"status {code}, but no sentence: {text!r}")
        if name == "pod-pull":
            return self.check_pull(code, killed)
        if name == "pod-export":
            if code == 0 and text != self.exported:
                raise Wrong(f"status 0, and the output is not whole: {text}")
            return self.settle(f"right after status {code}")
        detached = name in ("pod-detached", "pod-network")
        if code == 0 and (detached or name == "pod-replace") and not killed:
            wait_for(lambda: self.status() == "running", lambda: f"status 0, but the pod is {self.status()}")
        elif name == "pod-adopt":
            if self.pids() != self.programs:
                raise Wrong(f"status {code}, but the programs were not let alone: {text}")
            if code == 0 and not killed and self.status() != "running":
                raise Wrong(f"status 0, but the pod is {self.status()}: {text}")
        elif code == 0 and name == "pod-stop" and self.status() != "stopped":
            raise Wrong(f"status 0, but the pod is {self.status()}")
        elif name == "pod-replace" and not killed and "that ran before is removed" not in text and self.status() == "none":
            raise Wrong(f"status {code}, and neither the old pod nor the record of the new one is there: {text}")
        elif name == "pod-run" or (detached and code != 0 and not killed) or (name == "pod-delete" and code == 0):
            self.settle(f"right after status {code} ({text})")

    def clear(self):
        done = self.pod("delete", "--force", "NAME")
        if done.returncode != 0 and "there is no pod" not in self.said():
            raise Wrong(f"delete --force has status {done.returncode}: {self.said()}")
        self.settle("after delete --force")

    def folders(self):
        """What a run may leave in the scratch directory."""
        return [*self.root.iterdir(), *(self.data / "pods").iterdir()]

    def close(self):
        if self.registry is not None:
            os.kill(self.registry, signal.SIGKILL)
        shutil.rmtree(self.data)
