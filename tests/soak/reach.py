"""How much hangs on an object: what it keeps, all that hangs on that included."""

import gc
import sys
from collections import Counter
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType

_SHARED = (ModuleType, type, FunctionType, BuiltinFunctionType, FrameType)
"""What is of the program and not of its data; what hangs on it is not asked for."""


def kept(root: object) -> Counter[str]:
    """Return the bytes of the objects that hang on one, by the name of their type."""
    found: Counter[str] = Counter()
    known = {id(root)}
    left = [root]
    while left:
        each = left.pop()
        found[type(each).__name__] += sys.getsizeof(each)
        for other in gc.get_referents(each):
            if id(other) not in known and not isinstance(other, _SHARED):
                known.add(id(other))
                left.append(other)
    return found
