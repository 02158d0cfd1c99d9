"""Run a program in a process that has no more than Windows, as far as that can be played on Unix.

Modules and names that Windows has not are gone, folders have no descriptors, and a text file that is opened
without an encoding is an error. Paths stay those of the machine it runs on.

    python -X warn_default_encoding tests/as_windows.py program.py
"""

import asyncio.subprocess  # what is here before the names go, as it would be another thing on Windows
import concurrent.futures.process
import importlib.resources
import logging.handlers
import multiprocessing.context
import os
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import time
import warnings

import click.shell_completion
import dateutil.parser
import tzlocal

LOADED = (
    asyncio.subprocess,
    concurrent.futures.process,
    importlib.resources,
    logging.handlers,
    multiprocessing.context,
    shutil,
    tempfile,
)
THIRD = (click.shell_completion, dateutil.parser, tzlocal)
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
NAMES = {
    os: """
        O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC WNOHANG chown chroot ctermid fchdir fchmod
        fchown fdatasync fork forkpty fstatvfs getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority
        getresuid getsid getuid getxattr initgroups killpg lchown listxattr lockf memfd_create mkfifo mknod nice
        openpty pathconf pidfd_open pipe2 posix_fadvise pread preadv pwrite readv register_at_fork
        removexattr sched_getaffinity sched_yield sendfile setegid seteuid setgid setgroups setpgid setpriority
        setresgid setresuid setsid setuid setxattr statvfs sync sysconf tcgetpgrp ttyname uname wait3 wait4 waitid
        writev
    """,
    signal: """
        SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH alarm pause
        pthread_kill pthread_sigmask setitimer siginterrupt sigtimedwait sigwait
    """,
    socket: "AF_UNIX",
    time: "tzset",
}


def pretend() -> None:
    """Take away what Windows has not."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # so that importing it fails
    for module, names in NAMES.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for able in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks", "supports_effective_ids"):
        setattr(os, able, set())
    sys.platform = "win32"


if __name__ == "__main__":
    if not sys.flags.warn_default_encoding:
        sys.exit("python -X warn_default_encoding tests/as_windows.py PROGRAM.py")
    warnings.simplefilter("error", EncodingWarning)
    pretend()
    runpy.run_path(sys.argv[1], run_name="__main__")
