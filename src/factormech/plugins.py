"""A user's own workloads and mechanisms in Python: files that register names, loaded by their path.

A plugin is one file. Its functions are registered where those of the package are, by decorators that stand here::

    from factormech.plugins import workload

    @workload("windows")
    def windows(domain_size):
        return ...  # a matrix: one row a query, one column a user type

The file is loaded as the module ``factormech.own.<its name>``. So whatever asks a registry where the code of a name is
(``factormech.code``) finds the plugin, and what else it needs, and nothing in the package knows plugins from the rest.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.mechanisms.local.registry import mechanism as mechanism
    from factormech.mechanisms.local.registry import solver as solver
    from factormech.workloads.registry import workload as workload

__all__ = ["Plugin", "among", "call", "files", "load", "loaded", "mechanism", "solver", "unload", "workload"]

PACKAGE = "factormech.own"
# A plugin is somebody's code, read whole; not all files have an end.
SIZE_LIMIT = 2**20
# What plugins call their names, for readers: of workloads and of mechanisms.
LABELS: dict[str, dict[str, str]] = {"workload": {}, "mechanism": {}}

# Snakemake refuses wildcards in which something is repeated twenty times.
_NAME = re.compile(r"(?!.*(.{1,3})\1{19})[a-z0-9][a-z0-9-]{0,63}")


@dataclass
class Plugin:
    """A loaded file: its path as it was given, its module, and what it has registered."""

    path: Path
    module: str
    digest: str
    workloads: list[str] = field(default_factory=list)
    mechanisms: list[str] = field(default_factory=list)
    undo: list[Callable[[], object]] = field(default_factory=list, repr=False)


_LOADED: dict[str, Plugin] = {}
_LOADING: list[Plugin] = []


# Loading -----------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Plugin:
    """Load a file of user-defined workloads and mechanisms, once for each content of it.

    Parameters
    ----------
    path
        Of a Python file whose functions are registered by the decorators of this module.

    Returns
    -------
    Plugin

    Raises
    ------
    BadValue
        On one line, whatever is wrong with the file; nothing of it stays registered.

    Examples
    --------
    >>> import factormech as fm, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs.py"
    >>> code = "import numpy, factormech.plugins as p; p.workload('pairs')(lambda domain_size: numpy.eye(domain_size))"
    >>> path.write_text(code) > 0
    True
    >>> plugin = fm.plugin(path)
    >>> fm.workload("pairs", 3).queries
    3
    """
    path = Path(path)
    content = _read(path)
    module, digest = f"{PACKAGE}.{_identifier(path)}", hashlib.sha256(content).hexdigest()
    known = _LOADED.get(module)
    if known is not None and known.path.resolve() != path.resolve():
        rule = f"have another file name than the plugin {known.path}"
        raise BadValue(f"plugin {path}", path.name, rule, "rename one of the two files")
    if known is not None and known.digest == digest:
        return known
    if known is not None:
        unload(known)
    plugin = Plugin(path, module, digest)
    _LOADING.append(plugin)
    try:
        _execute(plugin, content)
    except BaseException:
        unload(plugin)
        raise
    finally:
        _LOADING.remove(plugin)
    _LOADED[module] = plugin
    return plugin


def unload(plugin: Plugin) -> None:
    """Take back all that a plugin has registered."""
    while plugin.undo:
        plugin.undo.pop()()
    sys.modules.pop(plugin.module, None)
    _LOADED.pop(plugin.module, None)


def loaded() -> list[Plugin]:
    """Return all plugins of this process, in the order in which they were loaded."""
    return list(_LOADED.values())


def files() -> dict[str, Path]:
    """Return the path of each plugin by the name of its module, which no folder of the package has."""
    return {plugin.module: plugin.path for plugin in loaded()}


def among(paths: Collection[Path]) -> list[str]:
    """The plugins among these files, in the order in which they are to be loaded."""
    return [str(plugin.path) for plugin in loaded() if plugin.path in paths]


def call(plugin_of: Callable[..., Any], what: str, *arguments: Any, **named: Any) -> Any:
    """Return what a function of a plugin answers; refuse its errors with their place in the file, on one line."""
    try:
        return plugin_of(*arguments, **named)
    except BadValue as error:
        raise BadValue(f"{what}: {error.name}", error.value, error.rule, error.remedy) from error
    except Exception as error:
        file = sys.modules[plugin_of.__module__].__file__ if plugin_of.__module__ in sys.modules else None
        raise BadValue(_place(what, file or "", error), _words(error), "raise no error", "correct the file") from error


def _execute(plugin: Plugin, content: bytes) -> None:
    module = ModuleType(plugin.module)
    module.__file__ = str(plugin.path)
    # What pickling, dataclasses and a debugger ask a module.
    module.__spec__ = ModuleSpec(plugin.module, None, origin=str(plugin.path))
    sys.modules[plugin.module] = module
    try:
        with _machine_code_of(content):
            exec(compile(content, str(plugin.path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except (Exception, SystemExit) as error:
        _refuse(plugin.path, error)
    if not plugin.workloads and not plugin.mechanisms:
        remedy = "decorate a function with workload(name) or mechanism(name) of factormech.plugins"
        raise BadValue(f"plugin {plugin.path}", "no name", "register a workload or a mechanism", remedy)


def _machine_code_of(content: bytes) -> AbstractContextManager[None]:
    """Numba's own cache would keep a plugin's kernels when the package's, which they call, have changed."""
    if b"numba" not in content:
        return nullcontext()
    from factormech import compiled

    return compiled.numba_folder()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero in the path
        found = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        rule, remedy = "be the path of a readable Python file", "check it; a configuration's are relative to its file"
        raise BadValue(f"plugin {str(path)!r}", found, rule, remedy) from None
    if path.suffix != ".py" or len(content) > SIZE_LIMIT:
        rule = f"be a Python file (.py) of at most {SIZE_LIMIT} bytes"
        raise BadValue("plugin", path.name, rule, "give the file that has the workload or mechanism")
    return content


def _identifier(path: Path) -> str:
    """The last part of the module's name; equal for equal file names, wherever the folder is."""
    return re.sub(r"\W", "_", path.stem)


def _refuse(path: Path, error: BaseException) -> NoReturn:
    if isinstance(error, BadValue):
        raise BadValue(f"{_place('plugin', str(path), error)}, {error.name}", *_rest(error)) from error
    remedy = "correct it"
    if isinstance(error, ImportError) and importlib.util.find_spec(PACKAGE.partition(".")[0]) is not None:
        remedy = "a plugin is one file: install what it imports, or write it into the file"
    raise BadValue(_place("plugin", str(path), error), _words(error), "load without an error", remedy) from error


def _rest(error: BadValue) -> tuple[Any, str, str]:
    return error.value, error.rule, error.remedy


def _place(what: str, file: str, error: BaseException) -> str:
    """``what``, with the file and the line where it went wrong, if that is known."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else None
    line = line or (lines[-1] if lines else None)
    where = f"{file}, line {line}" if line else file
    return f"{what} {where}".strip() if what == "plugin" else f"{what} ({where})" if where else what


def _words(error: BaseException) -> str:
    said = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{type(error).__name__}: {said}"


# Registering -------------------------------------------------------------------------------------------------------


def target_of(made_by: Any) -> str:
    """``module:name`` of what is registered: the plugin that is being loaded, else wherever it was written."""
    owner = made_by if hasattr(made_by, "__qualname__") else type(made_by)
    module = _LOADING[-1].module if _LOADING else owner.__module__
    return f"{module}:{owner.__qualname__}"


def registered(family: str, name: str, label: str, undo: Callable[[], object]) -> None:
    """Note what has been registered, and how to take it back."""
    if label:
        LABELS[family][name] = label
    if _LOADING:
        plugin = _LOADING[-1]
        (plugin.workloads if family == "workload" else plugin.mechanisms).append(name)
        plugin.undo += [undo, lambda: LABELS[family].pop(name, None)]


def check_new(family: str, name: Any, taken: Iterable[str], words: Any = "") -> None:
    """Refuse a name that no path or figure could carry, one that exists already, and a label that is no text."""
    if not isinstance(name, str) or not _NAME.fullmatch(name.replace("{k}", "0")):
        rule = "be made of lower-case letters, digits and '-', a letter or digit first, at most 64 in all"
        raise BadValue(f"name of a {family}", name, rule, "rename it, for example to 'my-name'")
    if name in taken:
        raise BadValue(f"name of a {family}", name, "not exist already", f"rename it, for example to 'my-{name}'")
    if not isinstance(words, str) or "\n" in words:
        raise BadValue(f"label of the {family} {name}", words, "be a text of one line", "give a few words, or none")


def __getattr__(name: str) -> Any:
    # Imported on demand: the registries themselves ask this module what is being loaded.
    if name == "workload":
        from factormech.workloads.registry import workload

        return workload
    if name in ("mechanism", "solver"):
        from factormech.mechanisms.local import registry

        return getattr(registry, name)
    raise AttributeError(f"module 'factormech.plugins' has no attribute {name!r}")
