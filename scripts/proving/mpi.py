"""A collective of Open MPI between hosts of the ground.

usage: mpi.py run SETUP.json OUTPUT.json     a rank: rank 0 writes the seconds of each iteration
       mpi.py agent ADDRESS COMMAND...       what mpirun starts in place of ssh; GROUND names the namespaces
"""
import json
import os
import sys
import time


def host_command(index, command):
    """A command on a host of the ground, under a hostname of its own: Open MPI tells hosts apart by it."""
    return ["ip", "netns", "exec", f"{os.environ['GROUND']}-{index}", "unshare", "--uts", "sh", "-c",
            f"hostname h{index}; {command}"]


def mpirun(addresses, arguments):
    """The command that runs a rank on each host, from host 0."""
    return ["unshare", "--uts", "mpirun", "--allow-run-as-root", "--host", ",".join(addresses),
            "--mca", "plm_rsh_agent", f"{sys.executable} {os.path.abspath(__file__)} agent",
            "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0",
            "--mca", "oob_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "1", sys.executable, os.path.abspath(__file__), "run", *arguments]


def run(setup, output):
    import numpy
    from mpi4py import MPI
    ranks = MPI.COMM_WORLD
    elements = setup["bytes"] // 4
    mine = numpy.full(elements, 1e-3, dtype=numpy.float32)
    if setup["collective"] == "all-reduce":
        result = numpy.empty_like(mine)
        collective = ranks.Allreduce
    else:  # an all-gather: `bytes` of each
        result = numpy.empty(elements * ranks.size, dtype=numpy.float32)
        collective = ranks.Allgather
    seconds = []
    for _ in range(setup["warm_up"] + setup["iterations"]):
        ranks.Barrier()
        begin = time.perf_counter()
        collective(mine, result)
        seconds.append(time.perf_counter() - begin)
    if ranks.rank == 0:
        with open(output, "w") as file:
            json.dump({"iteration_seconds": seconds[setup["warm_up"]:],
                       "library": MPI.Get_library_version().split(",")[0]}, file)


if __name__ == "__main__":
    if sys.argv[1] == "agent":
        command = host_command(int(sys.argv[2].rsplit(".", 1)[1]) - 1, " ".join(sys.argv[3:]))
        os.execvp(command[0], command)
    run(json.load(open(sys.argv[2])), sys.argv[3])
