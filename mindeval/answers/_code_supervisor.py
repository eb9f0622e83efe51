"""The process between run_python and a generated program: isolates, limits, watches and kills it.

Run as a script with ``python -I``; it imports nothing of mindeval. Three processes, where namespaces are permitted:
this one, the init process of a new process namespace (when it dies, all in it die), and the program.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import signal
import sys
import time
from importlib import util
from typing import Any

NEW_USER, NEW_PID, NEW_NET, NEW_IPC, NEW_MOUNT = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER, PR_SET_KEEPCAPS = 1, 38, 36, 8
CAP_DAC_READ_SEARCH = 2
MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 16384, 1 << 18, 2, 4
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, ATTR_READ_ONLY = 442, -100, 0x8000, 1
TMPFS_BYTES = 1 << 28
SHARED_MEMORY = b"/dev/shm"
INTERNET, DATAGRAMS, SET_FLAGS, UP = 2, 2, 0x8914, 1
PROGRAM_SIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_code_program.py")


def main() -> None:
    with open("run.json", encoding="utf-8") as file:
        config = json.load(file)
    os.unlink("run.json")
    program = config.pop("program").removeprefix("\ufeff")  # as Python reads a file that begins with the mark
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    isolation = unshare(libc) if libc and config["namespaces"] else []
    if libc:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, stopped)
    if libc is None or "processes" not in isolation:
        watch(config, program, libc, isolation)
        return
    init = os.fork()
    if init == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        watch(config, program, libc, isolation)
        os._exit(0)
    os.waitpid(init, 0)


def stopped(*_: object) -> None:
    end_children()
    os._exit(1)


def unshare(libc: ctypes.CDLL) -> list[str]:
    """New namespaces for processes, network and mounts: as root, else with a user namespace; [] where forbidden."""
    wanted = NEW_PID | NEW_NET | NEW_IPC | NEW_MOUNT
    user, group = os.getuid(), os.getgid()
    if user == 0 and libc.unshare(wanted) == 0:
        raise_loopback(libc)
        return ["processes", "network"]
    if libc.unshare(NEW_USER | wanted) != 0:
        return []
    raise_loopback(libc)
    with contextlib.suppress(OSError):
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    return ["processes", "network"]


def raise_loopback(libc: ctypes.CDLL) -> None:
    """The loopback of a new network is down: with it, a program may talk to itself, and nobody else."""
    end = libc.socket(INTERNET, DATAGRAMS, 0)
    libc.ioctl(end, SET_FLAGS, b"lo".ljust(16, b"\0") + UP.to_bytes(2, sys.byteorder) + bytes(22))
    libc.close(end)


def watch(config: dict, program: str, libc: ctypes.CDLL | None, isolation: list[str]) -> None:
    """Start the program, wait for its end or for its time to be over, kill what is left, report."""
    user = own_user() if os.getuid() == 0 else None
    side = program_side()
    if libc and "processes" in isolation and mount(libc, config["folder"], user):
        isolation.append("files")
    elif user is not None:
        os.chown(config["folder"], user, user)
    path = place(config["folder"], program, user)
    if user is not None:
        isolation.append("user")
    tell(config, isolation=isolation)
    (hears, says), (hear, say) = os.pipe(), os.pipe()
    deadline = time.monotonic() + config["timeout"]
    try:
        child = os.fork()
    except OSError as error:
        tell(config, status="not run", detail=str(error))
        return
    if child == 0:
        for end in (hears, say, config["report"]):
            os.close(end)
        restrict(config, libc, user)
        raise SystemExit(side.run_as_main(path, program, says, hear))  # so that the interpreter ends as always
    os.close(says)
    os.close(hear)
    proof = side.Proof(hears, say)
    code = wait(child, deadline, proof)
    end_children()
    tell(config, **verdict(code, proof))


def program_side() -> Any:
    """The module of the program's side, from its file: this script runs without a search path."""
    spec = util.spec_from_file_location("_code_program", PROGRAM_SIDE)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def place(folder: str, program: str, user: int | None) -> str:
    """Write the program to a file next to its working directory, which is empty, and go there."""
    path, work = os.path.join(folder, "program.py"), os.path.join(folder, "work")
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(program)
    os.mkdir(work)
    if user is not None:
        os.chown(work, user, user)
    os.chdir(work)
    return path


def own_user() -> int:
    """A user id that nobody else has: it owns no files, and the limit on processes counts this program alone (the
    system does not limit root's)."""
    return 1_600_000_000 + int.from_bytes(os.urandom(3), "big")


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


def mount(libc: ctypes.CDLL, folder: str, user: int | None) -> bool:
    """Everything read-only, but an empty file system in memory at ``folder`` and another for shared memory, which
    the locks of ``multiprocessing`` need; /proc shows the new namespace only."""
    place = folder.encode()
    owner = os.getuid() if user is None else user
    options = f"size={TMPFS_BYTES},mode=700,uid={owner},gid={owner if user is not None else os.getgid()}".encode()
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return False
    if libc.mount(b"tmpfs", place, b"tmpfs", MS_NOSUID | MS_NODEV, options) != 0:
        return False
    writable = [place]
    if libc.mount(b"tmpfs", SHARED_MEMORY, b"tmpfs", MS_NOSUID | MS_NODEV, options) == 0:
        writable.append(SHARED_MEMORY)
    libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV, None)
    return set_attributes(libc, b"/", AT_RECURSIVE, _MountAttributes(set=ATTR_READ_ONLY)) and all(
        set_attributes(libc, one, 0, _MountAttributes(clear=ATTR_READ_ONLY)) for one in writable
    )


def set_attributes(libc: ctypes.CDLL, place: bytes, flags: int, attributes: _MountAttributes) -> bool:
    size = ctypes.sizeof(attributes)
    return libc.syscall(MOUNT_SETATTR, AT_FDCWD, place, flags, ctypes.byref(attributes), size) == 0


def restrict(config: dict, libc: ctypes.CDLL | None, user: int | None) -> None:
    """In the program's process, before the program: limits, and no rights."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    limit(config)
    if libc:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if libc:
        keep_capabilities(libc, 0 if user is None else 1 << CAP_DAC_READ_SEARCH)
    os.environ.pop("MINDEVAL_RUN", None)
    work = os.getcwd()
    sys.argv[:] = [os.path.join(os.path.dirname(work), "program.py")]
    sys.path.insert(0, work)


def limit(config: dict) -> None:
    import resource

    seconds = math.ceil(config["timeout"]) + 1
    limits = [
        ("RLIMIT_CPU", seconds), ("RLIMIT_AS", int(config["memory"])), ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", int(config["file_bytes"])), ("RLIMIT_NOFILE", 64),
        ("RLIMIT_NPROC", int(config["processes"]) + (0 if os.getuid() == 0 else own_processes())),
    ]  # fmt: skip
    for name, value in limits:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), (value, value))


def own_processes() -> int:
    """Threads of this user that run already: the system counts them against the limit."""
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def keep_capabilities(libc: ctypes.CDLL, kept: int) -> None:
    """Drop root's rights, and those that a new user namespace gave; at most reading is kept, because the interpreter's
    library may lie where only root can read."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0))


def wait(child: int, deadline: float, proof: Any) -> int | None:
    """The program's exit status, or None when its time is over; orphans that end meanwhile are reaped."""
    pause = 0.001
    while True:
        with contextlib.suppress(ChildProcessError):
            pid, code = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                proof.listen(0)
                return code
            if pid:
                continue
        if time.monotonic() > deadline:
            return None
        proof.listen(pause)
        pause = min(pause * 1.5, 0.02)


def end_children() -> None:
    """Kill all processes below this one, including those that left its session."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    quiet = 0
    for _ in range(100):
        below = descendants(os.getpid())
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        quiet = 0 if below else quiet + 1
        if quiet == 2:  # one look may miss a process whose parent ends just then
            return
        time.sleep(0.005)


def descendants(root: int) -> list[int]:
    parents, ended = {}, set()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            parents[int(name)] = int(fields[1])
            if fields[0] == "Z":
                ended.add(int(name))
    below, frontier = [], [root]
    while frontier:
        frontier = [pid for pid, parent in parents.items() if parent in frontier]
        below += frontier
    return [pid for pid in below if pid not in ended]


def verdict(code: int | None, proof: Any) -> dict:
    status = proof.status
    if status == "meddled":
        return {"status": "failed", "detail": "it wrote into the pipe of its supervisor"}
    if status not in ("", "reached"):
        return {"status": status, "detail": status}
    if code is None:
        return {"status": "timeout", "detail": "its time was over"}
    if os.WIFSIGNALED(code):
        name = signal.Signals(os.WTERMSIG(code)).name
        return {"status": "timeout" if name == "SIGXCPU" else "killed", "detail": f"ended by {name}"}
    exit_code = os.WEXITSTATUS(code)
    if status == "":
        return {"status": "exited early", "detail": f"exit code {exit_code} before the end of the program"}
    if exit_code:
        return {"status": "failed", "detail": f"exit code {exit_code} after the end of the program"}
    return {"status": "passed", "detail": "passed"}


def tell(config: dict, **said: object) -> None:
    os.write(config["report"], (json.dumps(said) + "\n").encode())


if __name__ == "__main__":
    main()
