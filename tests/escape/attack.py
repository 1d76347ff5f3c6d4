#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One attempt to get out, by system calls that a shell does not have.

Exit status 0: the calls succeeded (whether something changed is for the test to
see). Python is only the carrier: every attempt is plain system calls.
"""
import ctypes, errno, fcntl, os, signal, socket, stat, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
MS_BIND, MS_REMOUNT, MS_REC, MS_PRIVATE = 4096, 32, 16384, 1 << 18
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000


def call(result, what=""):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def c(path):
    return path.encode() if isinstance(path, str) else path


def truncate(path):
    call(libc.truncate(c(path), ctypes.c_long(0)), "truncate")


def rdtrunc(path):
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def exchange(a, b):
    call(libc.syscall(316, AT_FDCWD, c(a), AT_FDCWD, c(b), 2), "renameat2")


def tmpfile(directory, dest):
    fd = os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(fd, b"evil\n")
    call(libc.linkat(AT_FDCWD, c(f"/proc/self/fd/{fd}"), AT_FDCWD, c(dest), 0x400), "linkat")


def reopen(path):
    fd = os.open(path, os.O_RDONLY)
    os.write(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY), b"evil\n")


def reopen_path(path):
    fd = os.open(path, os.O_PATH)
    os.write(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY), b"evil\n")


def stdio(fd):
    os.write(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY), b"evil\n")


def fchmod(fd):
    os.fchmod(int(fd), 0o777)


def inherited(fd):
    os.pwrite(int(fd), b"evil\n", 0)


def inherited_dir(fd):
    new = os.open("inherited", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=int(fd))
    os.write(new, b"evil\n")


def proc_root(pid, path):
    with open(f"/proc/{pid}/root{path}", "w") as f:
        f.write("evil\n")


def proc_cwd(pid, name):
    with open(f"/proc/{pid}/cwd/{name}", "w") as f:
        f.write("evil\n")


def proc_mem(pid):
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))


def ptrace(pid):
    call(libc.ptrace(0x4206, int(pid), None, None), "seize")


def kill(pid):
    os.kill(int(pid), signal.SIGKILL)


def remount(path):
    call(libc.mount(None, c(path), None, MS_REMOUNT | MS_BIND, None), "remount")


def umount(path):
    call(libc.umount2(c(path), 2), "umount")


def bind(source, dest):
    call(libc.mount(c(source), c(dest), None, MS_BIND, None), "bind")


def userns_remount(path):
    call(libc.unshare(0x10000000 | 0x20000), "unshare")
    remount(path)


def userns_umount(path):
    call(libc.unshare(0x10000000 | 0x20000), "unshare")
    umount(path)


def open_tree_rw(path, name):
    fd = call(libc.syscall(428, AT_FDCWD, c(path), 1 | 0x80000 | 0x8000), "open_tree")
    attr = struct.pack("QQQQ", 0, 1, 0, 0)
    call(libc.syscall(442, fd, c(""), AT_EMPTY_PATH, attr, len(attr)), "mount_setattr")
    new = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644, dir_fd=fd)
    os.write(new, b"evil\n")


def chroot_write(root, path):
    call(libc.chroot(c(root)), "chroot")
    with open(path, "w") as f:
        f.write("evil\n")


def by_handle(mount, path):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount_id = ctypes.c_int()
    call(libc.name_to_handle_at(AT_FDCWD, c(path), handle, ctypes.byref(mount_id), 0), "name")
    directory = os.open(mount, os.O_RDONLY)
    fd = call(libc.open_by_handle_at(directory, handle, os.O_WRONLY | os.O_TRUNC), "handle")
    os.write(fd, b"evil\n")


def setxattr(path):
    os.setxattr(path, "user.evil", b"1")


def utime(path):
    os.utime(path, (0, 0))


def mknod_block(path):
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(7, 99))


def fifo(path):
    os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"evil\n")


def abstract(name, proof):
    s = socket.socket(socket.AF_UNIX)
    s.connect("\0" + name)
    open(proof, "w").close()


def tcp(port, proof):
    s = socket.create_connection(("127.0.0.1", int(port)), 2)
    s.close()
    open(proof, "w").close()


def same(path):
    """Writes back what stands there: proves access, changes nothing."""
    with open(path) as f:
        value = f.read()
    with open(path, "w") as f:
        f.write(value)


def mmap_shared(path):
    import mmap
    fd = os.open(path, os.O_RDONLY)
    m = mmap.mmap(fd, 4, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    m[:4] = b"evil"


def setfl(path):
    fd = os.open(path, os.O_RDONLY)
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_WRONLY)
    os.write(fd, b"evil\n")


# Not an attack: a host where the caller may make no mount namespace by unshare(2),
# and bwrap may by clone(2). A classic BPF program of seccomp(2), x86-64.
def no_mount_namespace(*argv):
    def op(code, k, yes=0, no=0):
        return struct.pack("HBBI", code, yes, no, k)
    program = b"".join((
        op(0x20, 0),  # the number of the call
        op(0x15, 272, 0, 4),  # unshare
        op(0x20, 16),  # its flags
        op(0x54, 0x20000),  # CLONE_NEWNS
        op(0x15, 0, 1, 0),
        op(0x06, 0x00050000 | errno.EPERM),
        op(0x06, 0x7FFF0000)))
    buffer = ctypes.create_string_buffer(program)
    class Filter(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    filters = Filter(len(program) // 8, ctypes.addressof(buffer))
    call(libc.prctl(38, 1, 0, 0, 0), "no_new_privs")
    call(libc.prctl(22, 2, ctypes.byref(filters), 0, 0), "seccomp")
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        print(f"attack: {sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(1)
