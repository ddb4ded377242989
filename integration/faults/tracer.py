"""Runs a command under ptrace(2) and injects one fault at one system call: kills the process, or makes the call fail.

strace(1) cannot do this: it cannot select a process by its place in the order of birth, and it waits for all processes that
the command leaves behind. This tracer detaches from these. x86-64 only.
"""
import ctypes
import os
import signal

KILL = "KILL"
KILL_COMMAND = "KILLCLIENT"  # the command dies, when another process is at its call
KILL_ALL = "KILLALL"  # as the end of the command's cgroup: the command, and the processes below it that are in its cgroup

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_CONT, _GETREGS, _SETREGS, _DETACH, _SYSCALL = 7, 12, 13, 17, 24
_SETOPTIONS, _GETEVENTMSG, _SEIZE, _INTERRUPT = 0x4200, 0x4201, 0x4206, 0x4207
_OPTIONS = 0x01 | 0x02 | 0x04 | 0x08 | 0x10  # TRACESYSGOOD, FORK, VFORK, CLONE, EXEC
_OPTIONS_ALONE = 0x01 | 0x10  # without its children: criu traces some of them itself
_EVENT_EXEC, _EVENT_STOP = 4, 128
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_WALL = 0x40000000
_PRCTL, _CAPBSET_READ = 157, 23  # PR_CAPBSET_READ fails only for an unknown capability

# Calls that cannot fail, and brk(2), which returns no errno: no error is injected.
INFALLIBLE = {12, 13, 14, 24, 39, 60, 95, 102, 104, 107, 108, 110, 158, 186, 218, 228, 231, 273, 334, 15}
# close, munmap, close_range: the call is executed, and its result is replaced by the error.
FAILS_AFTERWARDS = {3, 11, 436}


class _Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulong) for name in
                "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
                "fs_base gs_base ds es fs gs".split()]


class Hang(Exception):
    """The command did not end in time. The argument is the system call that was hit, or None."""


class Run:
    """A run of a traced command, or of a function in a process of its own, whose calls do not count; it returns the exit status. `process` and `number` select the system call: the process by its place in the order
    of birth (0: the command itself), the call by its place in the process, from 1. `followed` names another program than
    ocirun's whose calls count, but not those of its children. Results: `status` as of waitpid(2), `call` (the number of the system call that was hit, or None), `counts` (the calls of each process)."""

    def __init__(self, arguments, process=None, number=0, fault=None, errors=None, limit=20, attached=None,
                 followed=None):
        self.arguments, self.target, self.number, self.fault, self.limit = arguments, process, number, fault, limit
        self.errors, self.followed = errors, followed
        self.order, self.counts, self.entered, self.calls = {}, {}, set(), {}
        self.status = self.call = None
        self.altered = None
        self.attached = attached  # a pid: traces this process, which runs already, as process 1

    def go(self):
        self.command = self._spawn()
        def ring(*_):
            raise Hang()
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, self.limit)
        try:
            while self.status is None:
                self._step(*os.waitpid(-1, _WALL))
        except Hang:
            for pid in list(self.order):
                _kill(pid)
            self._let_go()
            raise Hang(self.call) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self._let_go()
        return self

    def _spawn(self):
        gate, opener = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(opener)
                os.read(gate, 1)
                os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
                os.dup2(self.errors, 1)
                os.dup2(self.errors, 2)
                os.closerange(3, 256)
                if callable(self.arguments):
                    os._exit(self.arguments())
                os.execv(self.arguments[0], self.arguments)
            finally:
                os._exit(126)
        self._seize(pid)
        if self.attached:
            self._seize(self.attached)
            _ptrace(_INTERRUPT, self.attached)
        os.close(gate)
        os.close(opener)
        return pid

    def _seize(self, pid):
        if _libc.ptrace(_SEIZE, pid, None, _OPTIONS) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")
        self._know(pid)

    def _know(self, pid):
        if pid not in self.order:
            self.order[pid] = len(self.counts)
            self.counts[self.order[pid]] = 0
            self.calls[self.order[pid]] = []

    def _step(self, pid, status):
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            self.order.pop(pid, None)
            self.entered.discard(pid)
            if pid == self.command:
                self.status = status
            return
        self._know(pid)
        event, stop = status >> 16, os.WSTOPSIG(status)
        deliver = 0
        if stop == _SYSCALL_STOP:
            self._at_call(pid)
        elif event == _EVENT_EXEC:
            if self.followed and self._program(pid) == self.followed:
                _ptrace(_SETOPTIONS, pid, _OPTIONS_ALONE)
            elif not self._is_ours(pid):
                _ptrace(_DETACH, pid)
                self.order.pop(pid, None)
                return
        elif event == 0:
            deliver = stop
        _ptrace(_SYSCALL if self._is_watched(pid) else _CONT, pid, deliver)

    def _is_watched(self, pid):
        if self.target is None:
            return True
        if self.call is not None and self.altered is None:
            return False
        return self.order.get(pid) == self.target

    # False for a process that has executed another program: a hook, ps, the container's program.
    def _is_ours(self, pid):
        return self._program(pid).startswith(("ocirun", "containerd-shim-ocirun"))

    # The name of the program that the process executes; "ocirun" if the process is gone. ocirun may run from a memfd.
    def _program(self, pid):
        try:
            return os.path.basename(os.readlink(f"/proc/{pid}/exe")).removeprefix("memfd:")
        except OSError:
            return "ocirun"

    def _at_call(self, pid):
        place = self.order[pid]
        if pid in self.entered:
            self.entered.discard(pid)
            self._answer(pid)
            return
        self.entered.add(pid)
        if pid == self.command and not self.counts[place] and not self._is_ours(pid):
            return  # the child of _spawn(), before its execve
        self.counts[place] += 1
        if self.target is None:
            self.calls[place].append(_read(pid).orig_rax)
        if place != self.target or self.counts[place] != self.number or self.call is not None:
            return
        registers = _read(pid)
        self.call = registers.orig_rax
        if self.fault in (KILL, KILL_ALL, KILL_COMMAND):
            for victim in _group_of(self.command) if self.fault == KILL_ALL else [self.command if self.fault == KILL_COMMAND else pid]:
                _kill(victim)
        elif self.call not in INFALLIBLE and not (self.call == _PRCTL and registers.rdi == _CAPBSET_READ):
            self.altered = pid
            if self.call not in FAILS_AFTERWARDS:
                registers.orig_rax = ctypes.c_ulong(-1).value
                _ptrace(_SETREGS, pid, ctypes.addressof(registers))

    def _answer(self, pid):
        if self.altered != pid:
            return
        registers = _read(pid)
        registers.rax = ctypes.c_ulong(-self.fault).value
        _ptrace(_SETREGS, pid, ctypes.addressof(registers))
        self.altered = None

    # Detaches from all processes that the command leaves behind, after an altered call has got its error.
    def _let_go(self):
        for pid in list(self.order):
            _ptrace(_INTERRUPT, pid)
        while True:  # until no traced process is left, also those that were born meanwhile
            try:
                pid, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                return
            if os.WIFSTOPPED(status):
                event, stop = status >> 16, os.WSTOPSIG(status)
                if stop == _SYSCALL_STOP:
                    self._answer(pid)
                _ptrace(_DETACH, pid, stop if event == 0 and stop != _SYSCALL_STOP else 0)
            elif pid == self.command and self.status is None:
                self.status = status


def _ptrace(request, pid, data=0):
    _libc.ptrace(request, pid, None, data)  # ESRCH: it has died


def _read(pid):
    registers = _Registers()
    _ptrace(_GETREGS, pid, ctypes.addressof(registers))
    return registers


def _group_of(command):
    """The command and all processes below it that are in the same cgroup, these first."""
    def cgroup(pid):
        try:
            return open(f"/proc/{pid}/cgroup").read()
        except OSError:
            return ""
    parents = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            parents[pid] = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    group = [command]
    for pid in group:
        group += [child for child, parent in parents.items() if parent == pid]
    own = cgroup(command)
    return [pid for pid in reversed(group) if cgroup(pid) == own]


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
