"""Makes the bundles of the sweep, and what they refer to: a veth device to move into the container, and listening sockets
that receive a terminal and a seccomp listener."""
import fcntl
import json
import os
import pathlib
import shutil
import socket
import subprocess

LIB = pathlib.Path(__file__).resolve().parent.parent / "lib"
# A hook that goes on if the runtime is killed meanwhile: its parent is pid 1 of the sandbox then.
LASTING_HOOK = "sleep 0.03; read -r _ _ _ parent _ </proc/$$/stat; [ $parent != 1 ] || exec sleep 1002"
DEVICE, PEER = "ocidev", "ocipeer"
SIOCGIFADDR = 0x8915


def make(directory, kind, name):
    """Makes a bundle of one of these kinds. plain: the tests' document (lib/config.json). rich: everything that adds
    processes and steps to `create`: a user namespace and time offsets (which need the stage process), hooks, seccomp,
    limits, sysctls, a tmpfs with tmpcopyup, a bind, a cgroup whose parents do not exist. network: a veth that is moved
    into the container, and a hook that outlives its runtime. sockets: a terminal and a seccomp listener that are sent to
    sockets, and an ordinary user. bare: no cgroup."""
    binaries = directory / "rootfs/bin"
    binaries.mkdir(parents=True)
    for folder in ("proc", "dev", "sys", "etc", "tmp", "data"):
        (directory / "rootfs" / folder).mkdir()
    (directory / "rootfs/etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    shutil.copy(shutil.which("busybox"), binaries / "busybox")
    for applet in ("true", "sh", "sleep"):
        os.symlink("busybox", binaries / applet)
    document = json.loads((LIB / "config.json").read_text())
    linux = document["linux"]
    linux["cgroupsPath"] = "/" + name
    linux["resources"].update({"pids": {"limit": 100}, "memory": {"limit": 128 << 20}})
    if kind == "bare":
        del linux["cgroupsPath"], linux["resources"]
    if kind == "network":
        linux["netDevices"] = {DEVICE: {"name": "eth0"}}
        document["hooks"] = {"createRuntime": [{"path": "/bin/sh", "args": ["sh", "-c", LASTING_HOOK]}]}
    if kind == "sockets":
        document["process"].update({"terminal": True, "user": {"uid": 1000, "gid": 1000}})
        linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": str(directory / "agent"),
                            "syscalls": [{"names": ["kexec_load"], "action": "SCMP_ACT_NOTIFY"}]}
    if kind == "rich":
        linux["cgroupsPath"] = f"/{name}-up/mid/{name}"
        hook = [{"path": "/bin/true"}]
        document["hooks"] = {when: hook for when in ("prestart", "createRuntime", "createContainer", "startContainer",
                                                     "poststart", "poststop")}
        document["process"]["rlimits"] = [{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}]
        document["process"]["oomScoreAdj"] = 100
        document["process"]["user"] = {"uid": 1, "gid": 1, "additionalGids": [2], "umask": 63}
        document["mounts"] += [
            {"destination": "/data", "type": "bind", "source": str(directory / "rootfs/etc"), "options": ["bind", "ro"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}]
        linux["sysctl"] = {"kernel.msgmax": "9000"}
        linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
                            "syscalls": [{"names": ["kexec_load"], "action": "SCMP_ACT_ERRNO"}]}
        linux["timeOffsets"] = {"boottime": {"secs": 100}}
        linux["namespaces"] += [{"type": "user"}, {"type": "time"}]
        linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": 100000, "size": 65536}]
        for path, folders, files in os.walk(directory):
            for entry in [".", *folders, *files]:
                os.lchown(os.path.join(path, entry), 100000, 100000)
    for program, words in (("sleeps", ["sleep", "1000"]), ("ends", ["true"])):
        document["process"]["args"] = words
        (directory / (program + ".json")).write_text(json.dumps(document))
    return directory


def listen(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o666)
    listener.listen(16)
    listener.setblocking(False)
    return listener


def has_device(name):
    return any(line.split(":")[0].strip() == name for line in open("/proc/net/dev"))


def address_of(device):
    """The device's IPv4 address, or "none"."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        try:
            return socket.inet_ntoa(fcntl.ioctl(asker, SIOCGIFADDR, device.encode().ljust(40, b"\0"))[20:24])
        except OSError:
            return "none"


def make_device():
    subprocess.run(["ip", "link", "add", DEVICE, "type", "veth", "peer", "name", PEER], check=True)
    subprocess.run(["ip", "addr", "add", "10.9.8.7/24", "dev", DEVICE], check=True)


def remove_device():
    """Removes DEVICE, in whichever namespace it is, by removing PEER, which never moves."""
    subprocess.run(["ip", "link", "del", PEER], stderr=subprocess.DEVNULL, check=False)
