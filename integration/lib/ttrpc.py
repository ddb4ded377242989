"""A client of a shim's tasks service, and containerd's end of its events, by ttrpc: for what containerd never sends."""
import os
import socket
import struct
import subprocess
import threading

TASKS = "containerd.task.v2.Task"
REQUEST, RESPONSE = 1, 2
UNKNOWN, INVALID, NOT_FOUND, EXISTS, EXHAUSTED, PRECONDITION, UNIMPLEMENTED = 2, 3, 5, 6, 8, 9, 12


def number(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def message(**fields):
    """A message of protobuf: message(_1="id", _3=[…], _8=7). False, 0, "" and None are left out."""
    out = b""
    for name, values in fields.items():
        key = int(name[1:]) << 3
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, (int, bool)):
                out += number(key) + number(int(value)) if value else b""
            elif value:
                data = value.encode() if isinstance(value, str) else value
                out += number(key | 2) + number(len(data)) + data
    return out


def parse(data):
    """The fields of a message, by number: lists of integers and bytes."""
    fields, at = {}, 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = read()
        if key & 7 == 0:
            value = read()
        else:
            size = read()
            value, at = data[at:at + size], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def first(fields, key, default=None):
    return fields.get(key, [default])[0]


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


def exactly(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            raise EOFError("the peer has closed the connection")
        data += more
    return data


def read_frame(peer):
    size, stream, kind, _ = struct.unpack(">IIBB", exactly(peer, 10))
    return stream, kind, exactly(peer, size)


def frame(stream, kind, payload, size=None):
    return struct.pack(">IIBB", len(payload) if size is None else size, stream, kind, 0) + payload


class Client:
    """One connection. Answers may come in any order: begin() and end()."""

    def __init__(self, path):
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.settimeout(60)
        self.peer.connect(path)
        self.stream, self.answers = -1, {}

    def begin(self, method, payload=b"", service=TASKS):
        self.stream += 2
        self.peer.sendall(frame(self.stream, REQUEST, message(_1=service, _2=method, _3=payload)))
        return self.stream

    def end(self, stream):
        while stream not in self.answers:
            answered, _, data = read_frame(self.peer)
            self.answers[answered] = parse(data)
        answer = self.answers.pop(stream)
        status = parse(first(answer, 1, b""))
        if first(status, 1, 0):
            raise Refused(first(status, 1), first(status, 2, b"").decode())
        return parse(first(answer, 2, b""))

    def call(self, method, payload=b"", service=TASKS):
        return self.end(self.begin(method, payload, service))


def overlay(lower, scratch):
    """A root filesystem for Create: an overlay with the directory `lower` below. Its other layers are made in the directory `scratch`."""
    for layer in ("upper", "work"):
        os.makedirs(f"{scratch}/{layer}", exist_ok=True)
    return message(_1="overlay", _2="overlay", _4=[f"lowerdir={lower}", f"upperdir={scratch}/upper", f"workdir={scratch}/work"])


class Events:
    """containerd's end: keeps "topic container" of each event."""

    def __init__(self, path):
        self.path, self.told, self.lock = path, [], threading.Lock()
        self.socket = None

    def listen(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            peer, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        try:
            while True:
                stream, _, data = read_frame(peer)
                envelope = parse(first(parse(first(parse(data), 3)), 1))
                event = parse(first(parse(first(envelope, 4)), 2))
                with self.lock:
                    self.told.append(f"{first(envelope, 3).decode()} {first(event, 1).decode()}")
                peer.sendall(frame(stream, RESPONSE, b""))
        except (EOFError, OSError):
            pass


class Shim:
    """A server that `start` has started for a bundle, or found. With `beside`, the server of that Shim, without a call of `start`."""

    def __init__(self, program, runtime, root, bundle, name, events=None, beside=None):
        self.name_all(program, runtime, root, bundle, name)
        environment = {**os.environ, "TTRPC_ADDRESS": events or ""}
        if beside:
            self.path, self.client = beside.path, beside.client
            return
        answer = subprocess.run([*self.words, "start"], cwd=bundle, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.path = answer.stdout.decode().removeprefix("unix://")
        self.client = Client(self.path)

    def name_all(self, program, runtime, root, bundle, name):
        self.program, self.bundle, self.name = program, bundle, name
        above, namespace = os.path.split(root)
        self.words = [program, "-namespace", namespace, "-id", name, "-address", "/run/none.sock"]
        self.options = message(_6=runtime, _7=above)

    @classmethod
    def without_server(cls, *names):
        """For delete(): of a server that containerd never knew, or does not reach."""
        shim = cls.__new__(cls)
        shim.name_all(*names)
        return shim

    def pid(self):
        return first(self.client.call("Connect", message(_1=self.name)), 1)

    def processes(self):
        """The pids of `start` and of the server, by their command line."""
        wanted = "\0".join([*self.words, "start", ""]).encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if file.read() == wanted:
                        yield int(pid)
            except OSError:
                pass

    def server(self):
        """The pid of the server behind the end of `start`. (Connect needs a task.)"""
        for pid in self.processes():
            return pid
        raise RuntimeError("no process of the shim is found")

    def create_request(self, rootfs=None, **streams):
        any_options = message(_1="containerd.runc.v1.Options", _2=self.options)
        return message(_1=self.name, _2=self.bundle, _3=rootfs, _4=streams.get("terminal"), _5=streams.get("stdin"), _6=streams.get("stdout"),
                       _7=streams.get("stderr"), _10=any_options)

    def create(self, **given):
        return first(self.client.call("Create", self.create_request(**given)), 1)

    def ask(self, method, exec_id=""):
        return self.client.call(method, message(_1=self.name, _2=exec_id))

    def kill(self, exec_id="", signal=9):
        return self.client.call("Kill", message(_1=self.name, _2=exec_id, _3=signal))

    def exec_request(self, exec_id, process, **streams):
        spec = message(_1="types.containerd.io/opencontainers/runtime-spec/1/Process", _2=process)
        return message(_1=self.name, _2=exec_id, _4=streams.get("stdin"), _5=streams.get("stdout"), _6=streams.get("stderr"), _7=spec)

    def end(self):
        """Ends the container and the server, in containerd's way."""
        self.kill()
        self.ask("Wait")
        self.ask("Delete")
        self.client.call("Shutdown", message(_1=self.name))

    def delete(self):
        """`delete`, as containerd calls it after the end of a server. Returns the status of the container."""
        done = subprocess.run([*self.words, "-bundle", self.bundle, "delete"], stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return first(parse(done.stdout), 2)
