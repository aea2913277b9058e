"""Hosts on this machine: network namespaces on one switch, each link shaped by tc.

A host is a namespace with an interface eth0, which a veth pair joins to a bridge. tbf shapes both
ends, so that a host sends and receives at its rate. Ranks of one host reach each other by loopback.
With an uplink, the two halves of the hosts have a bridge each, and a shaped pair joins these.
"""
import os
import pathlib
import subprocess
import sys
import time

GOODBYE = b"all is removed"  # to the janitor
PREFIX = "gcp"  # an interface's name has at most 15 characters, so the rest is short


def run(*command, check=True):
    """Runs a command quietly. Raises RuntimeError with what it said where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def owner_of(name):
    """The process that made a namespace or link of ours; None if it is not ours."""
    if not name.startswith(PREFIX):
        return None
    number = name[len(PREFIX):].split("-")[0]
    return int(number) if number.isdigit() else None


def remove_all_of(pid):
    """Ends every process in the hosts that process `pid` made, and removes hosts and links."""
    for line in run("ip", "netns", "list", check=False).splitlines():
        name = line.split()[0] if line.split() else ""
        if owner_of(name) != pid:
            continue
        for process in run("ip", "netns", "pids", name, check=False).split():
            try:
                os.kill(int(process), 9)
            except ProcessLookupError:
                pass
        run("ip", "netns", "delete", name, check=False)
    for path in pathlib.Path("/sys/class/net").iterdir():
        if owner_of(path.name) == pid:
            run("ip", "link", "delete", path.name, check=False)


def remove_leftovers():
    """Removes what dead processes left: a janitor that was killed too, or a machine's reset."""
    names = [line.split()[0] for line in run("ip", "netns", "list", check=False).splitlines() if line]
    names += [path.name for path in pathlib.Path("/sys/class/net").iterdir()]
    for pid in {owner_of(name) for name in names} - {None}:
        if not os.path.exists(f"/proc/{pid}"):
            remove_all_of(pid)


def missing():
    """Why there can be no ground here; "" where there can."""
    if not sys.platform.startswith("linux"):
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "tc"):
        if not any(os.access(os.path.join(folder, tool), os.X_OK)
                   for folder in os.environ["PATH"].split(":") + ["/sbin", "/usr/sbin"]):
            return f"there is no {tool}: install iproute2"
    probe = f"{PREFIX}{os.getpid()}-p"
    try:
        run("ip", "netns", "add", probe)
    except RuntimeError as error:
        return f"this machine makes no network namespaces ({error})"
    finally:
        run("ip", "netns", "delete", probe, check=False)
    return ""


def shape(mbit):
    """The arguments of `tc qdisc replace` after the device."""
    return ("root", "tbf", "rate", f"{mbit}mbit", "burst", "160kb", "latency", "50ms")


class Ground:
    """Hosts that last as long as the `with` block. A janitor removes them if this process dies."""

    def __init__(self, mbits, uplink_mbit=0.0):
        """mbits: the rate of each host's link, in Mbit/s, both ways. uplink_mbit: of the link between
        the halves of the hosts; 0: one switch for all."""
        self.mbits = list(mbits)
        self.uplink_mbit = uplink_mbit
        self.pid = os.getpid()
        self.janitor = None

    def __enter__(self):
        remove_leftovers()
        read, write = os.pipe()
        os.set_inheritable(read, True)
        # It reads until every holder of the other end is gone, and is in a session of its own, so
        # that no signal for the group reaches it.
        self.janitor = subprocess.Popen([sys.executable, __file__, str(self.pid)], stdin=read,
                                        start_new_session=True, close_fds=True)
        os.close(read)
        self.alive = write
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        bridges = [f"{PREFIX}{self.pid}-b{half}" for half in range(2 if self.uplink_mbit else 1)]
        for bridge in bridges:
            run("ip", "link", "add", bridge, "type", "bridge")
            run("ip", "link", "set", bridge, "up")
        if self.uplink_mbit:
            ends = [f"{PREFIX}{self.pid}-u{half}" for half in range(2)]
            run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for end, bridge in zip(ends, bridges):
                run("ip", "link", "set", end, "master", bridge, "up")
                run("tc", "qdisc", "replace", "dev", end, *shape(self.uplink_mbit))
        for index in range(len(self.mbits)):
            host, port = self.host(index), self._port(index)
            run("ip", "netns", "add", host)
            run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host)
            run("ip", "link", "set", port, "master", bridges[index * len(bridges) // len(self.mbits)], "up")
            run("ip", "-n", host, "address", "add", f"{self.address(index)}/24", "dev", "eth0")
            run("ip", "-n", host, "link", "set", "eth0", "up")
            run("ip", "-n", host, "link", "set", "lo", "up")
            self.set_rate(index, self.mbits[index])

    def set_rate(self, index, mbit):
        """Shapes a host's link, also while a run goes on."""
        run("ip", "netns", "exec", self.host(index), "tc", "qdisc", "replace", "dev", "eth0", *shape(mbit))
        run("tc", "qdisc", "replace", "dev", self._port(index), *shape(mbit))

    def host(self, index):
        return f"{PREFIX}{self.pid}-{index}"

    def _port(self, index):
        return f"{PREFIX}{self.pid}-v{index}"

    @staticmethod
    def address(index):
        return f"10.77.0.{index + 1}"

    def start(self, index, command, environment, output):
        """Starts a command on a host. Nothing that it starts keeps the janitor waiting."""
        return subprocess.Popen(["ip", "netns", "exec", self.host(index), *command],
                                env={**os.environ, **environment}, stdout=output,
                                stderr=subprocess.STDOUT, close_fds=True)

    def __exit__(self, *_):
        remove_all_of(self.pid)
        os.write(self.alive, GOODBYE)
        os.close(self.alive)
        self.janitor.wait()


if __name__ == "__main__":  # the janitor
    if sys.stdin.buffer.read() != GOODBYE:
        for _ in range(3):  # a command of the dead process may still be at work
            remove_all_of(int(sys.argv[1]))
            time.sleep(0.3)
