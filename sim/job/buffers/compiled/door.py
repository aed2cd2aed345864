"""The kernel as Python calls it: loaded from where it is kept, compiled where it is not.

Anyone who loads it needs llvmlite alone.  Numba, which takes longer to import and to set up than
many a job takes to run, is there for the process that compiles.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np

from ckptsim.sim.job.buffers.compiled.jit import is_interpreted
from ckptsim.sim.job.buffers.compiled.kept import keep, kept, one_at_a_time
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

# Does what Python asks for of the memory to which it is bound. See `columns/request.py`.
Ask: TypeAlias = Callable[[int, int, int, int], int]

_WORD = ctypes.c_longlong
# As numba calls: where to put the result, and the exception. Then the arguments.
_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3, *[_WORD] * 4)


@cache
def kernel() -> Callable[[Memory], Ask]:
    """Return the kernel: it gives the door to a memory, which stays where it is meanwhile.

    It is compiled under a lock, so that other processes find it when the lock is free.  Where
    nothing can be kept on disk it is compiled for this process alone.
    """
    if is_interpreted():
        from ckptsim.sim.job.buffers.compiled.kernel.loop import ask  # noqa: PLC0415

        followed = np.errstate(over="ignore")(ask)  # words wrap around, as they are to
        return lambda m: lambda *asked: int(followed(m, *asked))
    name = f"{_processor()}.o"
    code = kept(name)
    if code is None:
        with one_at_a_time():
            code = kept(name)
            if code is None:
                code = _compiled()
                keep(name, code)
    return _loaded(code)


def _processor() -> str:
    """Return a hash of what machine code depends on besides the text of the kernel."""
    import llvmlite.binding as llvm  # noqa: PLC0415

    found = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    versions = (version("numba"), version("llvmlite"))
    return blake2b(repr((found, versions)).encode(), digest_size=8).hexdigest()


def _compiled() -> bytes:
    """Compile the kernel: the name of its door, the end of a line, and an object file."""
    from numba import types  # noqa: PLC0415

    from ckptsim.sim.job.buffers.compiled.kernel.loop import ask  # noqa: PLC0415

    numba_ask: Any = ask
    signature = (types.CPointer(types.int64), *[types.int64] * 4)
    numba_ask.compile(signature)
    found = numba_ask.overloads[signature]
    _, _, (code, _) = found.library.serialize_using_object_code()
    kept: bytes = found.fndesc.llvm_func_name.encode() + b"\n" + code
    return kept


def _loaded(code: bytes) -> Callable[[Memory], Ask]:
    """Load what `_compiled` has returned."""
    import llvmlite.binding as llvm  # noqa: PLC0415

    name, _, text = code.partition(b"\n")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(text))
    engine.finalize_object()
    native = _KERNEL(engine.get_function_address(name.decode()))
    found, raised = _WORD(), ctypes.c_void_p()
    result, problem = ctypes.addressof(found), ctypes.addressof(raised)

    def bound(m: Memory) -> Ask:
        address = m.ctypes.data

        def ask(what: int, one: int, first: int, second: int) -> int:
            if native(result, problem, address, what, one, first, second):
                raise MemoryError
            return found.value

        return ask

    bound.engine = engine  # type: ignore[attr-defined] # the code lives as long as this does
    return bound
