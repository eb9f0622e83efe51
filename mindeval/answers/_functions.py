"""Functions that users give to a metric: their names in signatures, and errors that say which failed on what."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any


def function_name(function: Any) -> str:
    """A name for the signature: states of metrics with different functions must not be merged.

    A function of a module has its qualified name. What has none of its own (a lambda, a function inside a function, one
    of ``__main__``) also has a hash of its code, its defaults and what it encloses; ``partial`` and methods show what
    they hold.

    Raises:
        ValueError: If it holds an object that cannot be told from another of its kind.

    >>> function_name(str.strip), function_name(functools.partial(int, base=7))
    ('str.strip', 'int(base=7)')
    >>> function_name(lambda text: text) == function_name(lambda text: text.strip())
    False
    """
    return _name(function, ())


def called(function: Callable[..., Any], what: str, sample: int, *arguments: Any) -> Any:
    """What a function gives; its error becomes a ValueError that names it and the sample."""
    try:
        return function(*arguments)
    except Exception as error:
        raise ValueError(
            f"{what} failed on sample {sample} ({short(arguments[0])}): {type(error).__name__}: {error}"
        ) from error


def short(value: Any) -> str:
    """The beginning of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _name(function: Any, within: tuple[int, ...]) -> str:
    if id(function) in within:
        return "itself"
    within = (*within, id(function))
    if isinstance(function, functools.partial):
        shown = [_shown(value, within) for value in function.args]
        shown += [f"{key}={_shown(value, within)}" for key, value in function.keywords.items()]
        return f"{_name(function.func, within)}({','.join(shown)})"
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (type, ModuleType)):
        return f"{_shown(owner, within)}.{function.__name__}"
    own = getattr(function, "__qualname__", None)
    if own is None:
        return _shown(function, within, is_object=True)
    module, code = getattr(function, "__module__", None) or "builtins", getattr(function, "__code__", None)
    name = own if module == "builtins" or module.startswith("mindeval.") else f"{module}.{own}"
    if code is None or ("<" not in own and module != "__main__" and code.co_name == function.__name__):
        return name
    held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not filled yet
            held.append(None)
    content = repr((_code(code), [_shown(value, within) for value in held]))
    return f"{name}#{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def _code(code: CodeType) -> tuple:
    constants = [_code(value) if isinstance(value, CodeType) else _shown(value, ()) for value in code.co_consts]
    return code.co_code, code.co_names, code.co_argcount, code.co_kwonlyargcount, constants


def _shown(value: Any, within: tuple[int, ...], is_object: bool = False) -> str:
    if callable(value) and not is_object:
        return _name(value, within)
    if isinstance(value, (set, frozenset)):  # whose order differs between processes
        return f"{{{','.join(sorted(_shown(item, within) for item in value))}}}"
    text = repr(value)
    if " at 0x" in text:
        raise ValueError(
            f"a function must be told from others of its kind, but it holds {short(value)}: give a function of a "
            "module, or that object a __repr__ that shows its settings"
        )
    return text
