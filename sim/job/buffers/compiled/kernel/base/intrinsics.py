"""What compiled code does in another way than Python's, because the machine has it for nothing.

Each has its plain function, which the kernel runs where it is not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ckptsim.sim.job.buffers.compiled.jit import is_interpreted
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

if is_interpreted():

    def fetch(m: Memory, place: int) -> None:
        """Do nothing."""

    def copy_line(m: Memory, row: int, to: int) -> None:
        """Copy the eight words of a line of the cache."""
        m[to : to + 8] = m[row : row + 8]

    def high_word(one: np.uint64, other: np.uint64) -> np.uint64:
        """Return the upper 64 bits of a product of two words."""
        one_low, one_high = one & _LOW_HALF, one >> _HALF
        other_low, other_high = other & _LOW_HALF, other >> _HALF
        middle = one_high * other_low + ((one_low * other_low) >> _HALF)
        crossed = one_low * other_high + (middle & _LOW_HALF)
        return one_high * other_high + (middle >> _HALF) + (crossed >> _HALF)

else:
    from llvmlite import ir
    from numba import types
    from numba.core.cgutils import get_or_insert_function
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def fetch(_typing: Any, m: Any, place: Any) -> Any:
        """Have the processor fetch a line of its cache, and do not wait for it."""

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [ir.PointerType(), number, number, number])
            prefetch = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            # To be written to, soon needed, data and no instructions.
            how = [ir.Constant(number, one) for one in (1, 3, 1)]
            builder.call(prefetch, [builder.gep(arguments[0], [arguments[1]]), *how])
            return context.get_dummy_value()

        return types.none(m, place), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_line(_typing: Any, m: Any, row: Any, to: Any) -> Any:
        """Copy the eight words of a line of the cache, in one instruction or two."""

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            line = ir.VectorType(ir.IntType(64), 8)
            memory, *places = arguments
            source, target = (
                builder.bitcast(builder.gep(memory, [place]), line.as_pointer()) for place in places
            )
            builder.store(builder.load(source, align=8), target, align=8)
            return context.get_dummy_value()

        return types.none(m, row, to), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def high_word(_typing: Any, one: Any, other: Any) -> Any:
        """Return the upper 64 bits of a product of two words, which is one instruction."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            wide = [builder.zext(word, ir.IntType(128)) for word in arguments]
            upper = builder.lshr(builder.mul(*wide), ir.Constant(ir.IntType(128), 64))
            return builder.trunc(upper, ir.IntType(64))

        return types.uint64(one, other), generate
