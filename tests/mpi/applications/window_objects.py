"""What hangs on windows besides memory, what is an error, and threads that use one window."""

import threading

import numpy as np
from mpi4py import MPI

from checks import check, run


def attributes(comm):
    """The predefined ones, and the program's own with their callbacks."""
    memory = np.zeros(6, "i")
    win = MPI.Win.Create(memory, 4, comm=comm)
    check(win.Get_attr(MPI.WIN_BASE) == memory.ctypes.data, "WIN_BASE")
    check(win.Get_attr(MPI.WIN_SIZE) == 24, "WIN_SIZE")
    check(win.Get_attr(MPI.WIN_DISP_UNIT) == 4, "WIN_DISP_UNIT")
    check(win.flavor == MPI.WIN_FLAVOR_CREATE, "the flavor")
    check(win.model in (MPI.WIN_UNIFIED, MPI.WIN_SEPARATE), "the memory model")
    deleted = []
    key = MPI.Win.Create_keyval(delete_fn=lambda win, key, value: deleted.append(value))
    check(win.Get_attr(key) is None, "an attribute that is not set")
    win.Set_attr(key, "first")
    win.Set_attr(key, "second")
    check(win.Get_attr(key) == "second" and deleted == ["first"], "an attribute that is replaced")
    win.Delete_attr(key)
    check(win.Get_attr(key) is None and deleted == ["first", "second"], "one that is deleted")
    win.Set_attr(key, "third")
    win.Free()
    check(deleted[2:] == ["third"], "the end of the window deletes its attributes")
    MPI.Win.Free_keyval(key)
    flavors = {
        MPI.WIN_FLAVOR_ALLOCATE: MPI.Win.Allocate(8, 1, comm=comm),
        MPI.WIN_FLAVOR_SHARED: MPI.Win.Allocate_shared(8, 1, comm=comm),
        MPI.WIN_FLAVOR_DYNAMIC: MPI.Win.Create_dynamic(comm=comm),
    }
    for flavor, each in flavors.items():
        check(each.flavor == flavor, "the flavor")
        each.Free()


def names_and_groups(comm):
    win = MPI.Win.Allocate(8, 1, comm=comm)
    win.name = "pressure"
    check(win.Get_name() == "pressure", "the name of a window")
    group, of_comm = win.Get_group(), comm.Get_group()
    check(MPI.Group.Compare(group, of_comm) == MPI.IDENT, "the group of a window")
    group.Free()
    of_comm.Free()
    check(MPI.Win.f2py(win.py2f()) == win, "to Fortran and back")
    win.Free()
    check(win == MPI.WIN_NULL, "a freed window is WIN_NULL")


def infos(comm):
    info = MPI.Info.Create()
    info.Set("no_locks", "true")
    info.Set("accumulate_ops", "same_op")
    win = MPI.Win.Allocate(8, 1, info, comm)
    told = win.Get_info()
    check(told.Get("no_locks") in ("true", "false"), "a hint that is known")
    told.Free()
    info.Set("no_locks", "false")
    win.Set_info(info)
    info.Free()
    win.Free()


def errors(comm):
    win = MPI.Win.Allocate(64, 8, comm=comm)
    win.Set_errhandler(MPI.ERRORS_RETURN)
    handler = win.Get_errhandler()
    check(handler == MPI.ERRORS_RETURN, "the error handler of a window")
    value = np.zeros(1)

    def fails(call, *classes):
        try:
            call()
        except MPI.Exception as error:
            check(error.Get_error_class() in classes, f"error class {error.Get_error_class()}")
            return
        check(False, f"no error, but {classes}")

    fails(lambda: win.Put(value, comm.size, 0), MPI.ERR_RANK)
    fails(lambda: win.Unlock(0), MPI.ERR_RMA_SYNC)
    fails(lambda: win.Complete(), MPI.ERR_RMA_SYNC)
    comm.Barrier()
    win.Lock_all()  # the window is as good as before
    win.Put(np.ones(1), comm.rank, 0)
    win.Unlock_all()
    check(np.frombuffer(win.tomemory(), "d")[0] == 1, "after errors")
    win.Free()


def many_windows(comm):
    right = (comm.rank + 1) % comm.size
    windows = [MPI.Win.Allocate(8 * (i + 1), 8, comm=comm) for i in range(30)]
    for i, win in enumerate(windows):
        win.Lock(right, MPI.LOCK_SHARED)
        win.Put(np.array([100.0 * i + comm.rank]), right, i)
        win.Unlock(right)
    comm.Barrier()
    left = (comm.rank - 1) % comm.size
    for i, win in enumerate(windows):
        win.Lock(comm.rank)
        check(np.frombuffer(win.tomemory(), "d")[i] == 100 * i + left, "its own window")
        win.Unlock(comm.rank)
    for win in windows[::2] + windows[1::2]:
        win.Free()


def threads(comm):
    """Threads of all ranks put to places of their own, and count together, in one lock_all."""
    count, rounds = 4, 25
    win = MPI.Win.Allocate(8 * (1 + count * rounds), 8, comm=comm)
    part = np.frombuffer(win.tomemory(), "d")
    part[:] = 0
    comm.Barrier()
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    problems = []

    def work(number):
        try:
            one, seen, got = np.ones(1), np.zeros(1), np.zeros(1)
            for i in range(rounds):
                place = 1 + number * rounds + i
                win.Put(np.array([1000.0 * comm.rank + place]), right, place)
                win.Fetch_and_op(one, seen, 0, 0, MPI.SUM)
                win.Rget(got, right, place).Wait()
                win.Flush(right)
                win.Flush(0)
        except Exception as error:
            problems.append(repr(error))

    win.Lock_all()
    workers = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    comm.Barrier()
    win.Sync()
    check(not problems, f"a thread: {problems[:1]}")
    check((part[1:] == 1000 * left + np.arange(1, 1 + count * rounds)).all(), "puts of threads")
    if comm.rank == 0:
        check(part[0] == comm.size * count * rounds, "threads lose no count")
    comm.Barrier()
    win.Unlock_all()
    win.Free()


check(MPI.Query_thread() == MPI.THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE, mpi4py's default")
run((attributes, names_and_groups, infos, errors, many_windows, threads))
