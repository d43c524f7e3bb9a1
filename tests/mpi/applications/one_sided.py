"""Windows of every kind, epochs of every kind and operations of every form, on NumPy arrays."""

import numpy as np
from mpi4py import MPI

from checks import check, run

DOUBLE = MPI.DOUBLE.Get_size()
INT = MPI.INT.Get_size()


def neighbours(comm):
    return (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size


# Makers of windows of `count` elements of `dtype`: the window, and this rank's part as an array.
def created(comm, count, dtype):
    part = np.zeros(count, dtype)
    return MPI.Win.Create(part, part.itemsize, comm=comm), part


def allocated(comm, count, dtype, allocate=MPI.Win.Allocate):
    size = np.dtype(dtype).itemsize
    win = allocate(count * size, size, comm=comm)
    part = np.frombuffer(win.tomemory(), dtype)
    part[:] = 0
    comm.Barrier()
    return win, part


def allocated_shared(comm, count, dtype):
    return allocated(comm, count, dtype, MPI.Win.Allocate_shared)


def each_kind(comm, count, dtype):
    for make in (created, allocated, allocated_shared):
        win, part = make(comm, count, dtype)
        win.Fence()
        yield win, part
        win.Free()


# Ways to give `work(target)` an epoch; the bytes are at the target, and everywhere, afterwards.
def by_fence(comm, win, target, source, work):
    win.Fence(MPI.MODE_NOPRECEDE)
    work(target)
    win.Fence(MPI.MODE_NOSUCCEED)


def by_lock(comm, win, target, source, work):
    comm.Barrier()
    win.Lock(target, MPI.LOCK_EXCLUSIVE)
    work(target)
    win.Unlock(target)
    comm.Barrier()
    win.Lock(comm.rank)
    win.Unlock(comm.rank)


def by_shared_lock(comm, win, target, source, work):
    comm.Barrier()
    win.Lock(target, MPI.LOCK_SHARED)
    work(target)
    win.Flush(target)
    win.Unlock(target)
    comm.Barrier()


def by_lock_all(comm, win, target, source, work):
    win.Lock_all(MPI.MODE_NOCHECK)
    comm.Barrier()
    work(target)
    win.Flush_local(target)
    win.Flush_local_all()
    win.Flush_all()
    comm.Barrier()
    win.Sync()
    win.Unlock_all()
    comm.Barrier()


def by_groups(comm, win, target, source, work, wait=lambda win: win.Wait()):
    group = comm.Get_group()
    to, origin = group.Incl([target]), group.Incl([source])
    win.Post(origin)
    win.Start(to)
    work(target)
    win.Complete()
    wait(win)
    for each in (group, to, origin):
        each.Free()


def by_groups_and_test(comm, win, target, source, work):
    def until_tested(win):
        while not win.Test():
            pass

    by_groups(comm, win, target, source, work, until_tested)


EPOCHS = (by_fence, by_lock, by_shared_lock, by_lock_all, by_groups, by_groups_and_test)
PASSIVE = (by_lock, by_shared_lock, by_lock_all)


def put_and_get(comm):
    right, left = neighbours(comm)
    for win, part in each_kind(comm, 50, "d"):
        for epoch in EPOCHS:
            sent = np.arange(20) + 1000 * comm.rank
            sent = sent.astype("d")
            epoch(comm, win, right, left, lambda to: win.Put(sent, to, 5))
            check((part[5:25] == np.arange(20) + 1000 * left).all(), f"Put {epoch.__name__}")
            check((part[:5] == 0).all() and (part[25:] == 0).all(), "nothing beside it")
            got = np.zeros(20)
            comm.Barrier()
            epoch(comm, win, right, left, lambda to: win.Get(got, to, 5))
            check((got == sent).all(), f"Get {epoch.__name__}")
            comm.Barrier()
            part[:] = 0
            comm.Barrier()


def strided(comm):
    """A column of a matrix here becomes a row, or a block, there."""
    right, left = neighbours(comm)
    rows, columns = 6, 8
    column = MPI.DOUBLE.Create_vector(rows, 1, columns).Commit()
    block = MPI.DOUBLE.Create_subarray([rows, columns], [3, 4], [2, 1]).Commit()
    far = MPI.DOUBLE.Create_resized(0, 2 * DOUBLE).Commit()
    picked = MPI.DOUBLE.Create_indexed([2, 1, 3], [0, 10, 20]).Commit()
    here = (np.arange(rows * columns) + 100.0 * comm.rank).reshape(rows, columns)
    theirs = here + 100.0 * (left - comm.rank)
    for win, part in each_kind(comm, rows * columns, "d"):
        matrix = part.reshape(rows, columns)
        win.Fence()
        win.Put([here.ravel()[3:], 1, column], right, [0, rows, MPI.DOUBLE])
        win.Put([here, 1, block], right, [0, 1, block])
        win.Fence()
        check((part[:rows] == theirs[:, 3]).all(), "a column becomes a row")
        check((matrix[2:5, 1:5] == theirs[2:5, 1:5]).all(), "a block")
        check(matrix[5, 0] == 0 and matrix[2, 5] == 0, "nothing beside a block")
        got = np.zeros((rows, columns))
        win.Get([got, 12, MPI.DOUBLE], right, [0, 1, block])
        win.Fence()
        check((got.ravel()[:12] == here[2:5, 1:5].ravel()).all(), "a block becomes a row")
        win.Put([here, 6, MPI.DOUBLE], right, [0, 1, picked])
        win.Fence()
        check((part[[0, 1, 10, 20, 21, 22]] == theirs.ravel()[:6]).all(), "indexed")
        spread = np.zeros(10)
        win.Get([spread, 5, far], right, [0, 5, MPI.DOUBLE])
        win.Fence()
        check((spread[1::2] == 0).all() and (spread[0:4:2] == here.ravel()[:2]).all(), "resized")
    for each in (column, block, far, picked):
        each.Free()


def accumulates(comm):
    everybody = sum(range(1, comm.size + 1))
    for win, part in each_kind(comm, 16, "l"):
        for epoch in EPOCHS[:4]:
            ones = np.full(8, comm.rank + 1, "l")
            epoch(comm, win, 0, 0, lambda to: win.Accumulate(ones, to, 4, MPI.SUM))
            if comm.rank == 0:
                check((part[4:12] == everybody).all() and part[3] == part[12] == 0, epoch.__name__)
                part[:] = 0
            comm.Barrier()
        for op, expected in ((MPI.MAX, comm.size), (MPI.MIN, 0), (MPI.BOR, None), (MPI.PROD, 0)):
            win.Fence()
            win.Accumulate(np.array([comm.rank + 1], "l"), 0, 0, op)
            win.Fence()
            bits = int(np.bitwise_or.reduce(np.arange(1, comm.size + 1)))
            if comm.rank == 0:
                check(part[0] == (bits if expected is None else expected), "an operation")
                part[0] = 0
            win.Fence()


def results_of_accumulates(comm):
    win, part = allocated(comm, 4, "i")
    seen = np.zeros(1, "i")
    one = np.ones(1, "i")
    win.Lock_all()
    mine = []
    for _ in range(20):
        win.Fetch_and_op(one, seen, 0, 0, MPI.SUM)
        win.Flush(0)
        mine.append(int(seen[0]))
    everything = comm.allgather(mine)
    check(sorted(sum(everything, [])) == list(range(20 * comm.size)), "Fetch_and_op counts")
    done = 0
    old, new = np.zeros(1, "i"), np.zeros(1, "i")
    while done < 10:
        win.Fetch_and_op(one, old, 0, 1, MPI.NO_OP)
        win.Flush(0)
        new[0] = old[0] + 1
        win.Compare_and_swap(new, old, seen, 0, 1)
        win.Flush(0)
        done += int(seen[0] == old[0])
    comm.Barrier()
    before = np.zeros(2, "i")
    win.Get_accumulate(np.array([5, 6], "i"), before, 0, 0, MPI.NO_OP)
    win.Flush(0)
    check(list(before) == [20 * comm.size, 10 * comm.size], "Get_accumulate, nothing lost")
    comm.Barrier()
    win.Unlock_all()
    win.Free()


def requests(comm):
    right, left = neighbours(comm)
    for win, part in each_kind(comm, 40, "d"):
        for epoch in PASSIVE:
            sent = np.arange(30.0) + comm.rank

            def put(to):
                pieces = [win.Rput(sent[i : i + 10], to, i) for i in (0, 10, 20)]
                MPI.Request.Waitall(pieces)

            epoch(comm, win, right, left, put)
            check((part[:30] == np.arange(30.0) + left).all(), f"Rput {epoch.__name__}")
            got, total, seen = np.zeros(30), np.ones(5), np.zeros(5)

            def get(to):
                request = win.Rget(got, to, 0)
                while not request.Test():
                    pass
                win.Raccumulate(total, to, 30, MPI.SUM).Wait()
                win.Flush(to)
                win.Rget_accumulate(total, seen, to, 30, MPI.SUM).Wait()

            comm.Barrier()
            epoch(comm, win, right, left, get)
            check((got == sent).all(), f"Rget {epoch.__name__}")
            check((seen == 1).all() and (part[30:35] == 2).all(), "Raccumulate, Rget_accumulate")
            comm.Barrier()
            part[:] = 0
            comm.Barrier()
        mixed = [comm.Irecv(np.zeros(1), left), comm.Isend(np.ones(1), right)]
        win.Lock_all()
        mixed.append(win.Rput(np.ones(1), right, 39))
        MPI.Request.Waitall(mixed)
        win.Unlock_all()
        comm.Barrier()
        check(part[39] == 1, "requests of windows among those of messages")


def shared_query(comm):
    win, part = allocated_shared(comm, 10 + comm.rank, "i")
    part[:] = comm.rank
    win.Fence()
    for rank in range(comm.size):
        memory, unit = win.Shared_query(rank)
        theirs = np.frombuffer(memory, "i")
        check(unit == INT and len(theirs) == 10 + rank and (theirs == rank).all(), "Shared_query")
    win.Fence()
    right, left = neighbours(comm)
    np.frombuffer(win.Shared_query(right)[0], "i")[3] = 77
    win.Fence()
    check(part[3] == 77, "a store into another rank's part")
    win.Free()


def dynamic(comm):
    right, left = neighbours(comm)
    win = MPI.Win.Create_dynamic(comm=comm)
    for count in (10, 1000):
        memory = np.zeros(count)
        win.Attach(memory)
        where = comm.allgather(MPI.Get_address(memory))
        win.Fence()
        win.Put(np.full(5, comm.rank + 0.5), right, where[right] + 2 * DOUBLE)
        win.Fence()
        check((memory[2:7] == left + 0.5).all() and memory[7] == 0, "a put to attached memory")
        win.Lock_all()
        win.Accumulate(np.ones(1), 0, where[0], MPI.SUM)
        win.Flush(0)
        comm.Barrier()
        total = np.zeros(1)
        win.Get(total, 0, where[0])
        win.Unlock_all()
        check(total[0] == comm.size, "accumulates on attached memory")
        comm.Barrier()
        win.Detach(memory)
    win.Free()


def other_sizes(comm):
    """Parts of different sizes and units, empty ones, MPI_PROC_NULL and nothing to transfer."""
    unit = comm.rank + 1
    win = MPI.Win.Allocate(0 if comm.rank == 1 else 32 * unit, unit, comm=comm)
    win.Fence()
    message = np.frombuffer(b"ORIEL", "B")
    win.Put([message, 5, MPI.BYTE], 0, 3)
    win.Put([message, 5, MPI.BYTE], MPI.PROC_NULL)
    win.Put([message, 0, MPI.BYTE], comm.size - 1)
    last = comm.size - 1 if comm.size != 2 else 0
    if comm.rank == last:
        win.Put([message, 5, MPI.BYTE], last, 10)
    win.Fence()
    memory = bytes(win.tomemory())
    if comm.rank == 0:
        check(memory[3:8] == b"ORIEL", "units of a byte")
    if comm.rank == last:
        check(memory[10 * unit : 10 * unit + 5] == b"ORIEL", "units of a rank's own")
    win.Free()


def sub_communicators(comm):
    part = comm.Split(comm.rank % 2, -comm.rank)
    win, mine = allocated(part, 1, "i")
    win.Fence()
    win.Put(np.array([comm.rank], "i"), (part.rank + 1) % part.size, 0)
    win.Fence()
    ranks = [rank for rank in range(comm.size) if rank % 2 == comm.rank % 2][::-1]
    check(mine[0] == ranks[(part.rank - 1) % part.size], "a window of half the ranks")
    win.Free()
    part.Free()


run(
    (put_and_get, strided, accumulates, results_of_accumulates, requests, shared_query, dynamic)
    + (other_sizes, sub_communicators)
)
