"""What the Python programs share: a check ends the job, and the last word is rank 0's."""

import sys

from mpi4py import MPI


def check(holds, what):
    if holds:
        return
    print(f"rank {MPI.COMM_WORLD.rank} of {MPI.COMM_WORLD.size}: FAILED: {what}", flush=True)
    MPI.COMM_WORLD.Abort(1)


def run(tests):
    """Each test by itself on every rank, and by all together; `world`: the second alone."""
    comms = (MPI.COMM_SELF, MPI.COMM_WORLD)
    for comm in comms[1:] if sys.argv[1:] == ["world"] else comms:
        for test in tests:
            try:
                test(comm)
            except Exception as error:  # the other ranks would wait for ever
                print(f"rank {MPI.COMM_WORLD.rank}: {test.__name__}, {comm.size} ranks: {error!r}", flush=True)
                MPI.COMM_WORLD.Abort(1)
            comm.Barrier()
    MPI.COMM_WORLD.Barrier()
    if MPI.COMM_WORLD.rank == 0:
        print(f"PASS {sys.argv[0].rsplit('/', 1)[-1]}", flush=True)
