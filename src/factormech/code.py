"""What the code of a name is: the modules that it needs, found without importing them.

The *digest* of some code is part of every request (``pipeline/freshness.py``). It changes when the syntax of a file
changes, whatever its time stamp says. Comments, line breaks, docstrings and what only a type checker sees are left out.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from factormech.errors import BadValue

_SOURCE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Code:
    """The modules that something needs.

    Parameters
    ----------
    files
        Their files, sorted; relative to the working directory if the given root was.
    digest
        Twelve hexadecimal digits over their names and their syntax (as this version of Python sees it).
    contents
        SHA-256 of the content of each file, as it was read.
    libraries
        Modules of other packages that the files import, by the first part of their names; sorted.
    """

    files: tuple[Path, ...]
    digest: str
    contents: tuple[str, ...] = field(compare=False, repr=False)
    libraries: tuple[str, ...] = field(compare=False, repr=False, default=())


@dataclass(frozen=True)
class _Parsed:
    """One file: imports as pairs (module, name or ``""``), relative ones resolved; its syntax and SHA-256."""

    imports: tuple[tuple[str, str], ...]
    syntax: bytes
    functions: bytes
    content: str


class Sources:
    """The files of a package in one state: each is searched for and read once.

    A run of the workflow is of one state of the code, and asks for that of two hundred sets of modules.

    Parameters
    ----------
    root
        The folder that holds the package's folder; the one of the running package, if ``None``.
    elsewhere
        Where modules of the package's name are that have no file under ``root``: those of plugins.
    """

    def __init__(self, root: Path | None = None, elsewhere: Mapping[str, Path] | None = None) -> None:
        self._root, self._own = _SOURCE if root is None else root, elsewhere or {}
        self._files: dict[str, Path | None] = {}
        self._parsed: dict[str, _Parsed] = {}
        self._needed: dict[str, tuple[str, ...]] = {}

    def code_of(self, *modules: str, through_registries: bool = False) -> Code:
        """Return all modules of a package that the given modules import, directly or not, and these themselves.

        Imports are read from the syntax wherever they stand, inside functions as well; those under
        ``if TYPE_CHECKING`` do not run and do not count. Modules of other packages do not count. Of a module named
        ``registry`` only functions and classes count: a new entry in its tables, and what only it imports, changes no
        other name's result. Left out are the ``__init__.py`` of packages, unless something other than a submodule or a
        dunder (such as ``__version__``, whose change must not make results stale) is imported from one.

        Parameters
        ----------
        modules
            Dotted names, such as ``"factormech.mechanisms.local.fourier"``; a registry that is named here counts.
        through_registries
            Whether registries count.

        Returns
        -------
        Code
            Files and digest, independent of the order of ``modules``.
        """
        found: dict[str, Path] = {}
        registries: dict[str, Path] = {}
        waiting = list(modules)
        for name in modules:
            if self._file_of(name) is None:
                remedy = "give a dotted name such as 'factormech.store.hdf5'"
                raise BadValue("module", name, f"have a file under {self._root}", remedy)
        while waiting:
            name = waiting.pop()
            path = self._file_of(name)
            if name in found or path is None:
                continue
            found[name] = path
            for needed in self._needs(name):
                file = self._file_of(needed)
                if through_registries or needed.rpartition(".")[2] != "registry":
                    waiting.append(needed)
                elif file is not None:
                    registries[needed] = file
        contents = {path: self._parse(name).content for name, path in (registries | found).items()}
        files = tuple(sorted(contents))
        imported = {module.partition(".")[0] for name in found for module, _ in self._parse(name).imports}
        libraries = tuple(sorted(imported - {name.partition(".")[0] for name in found}))
        return Code(files, self._digest(found, registries), tuple(contents[file] for file in files), libraries)

    def _digest(self, names: Collection[str], registries: Iterable[str]) -> str:
        total = hashlib.sha256()
        for name in sorted({*names, *registries}):
            parsed = self._parse(name)
            syntax = parsed.syntax if name in names else parsed.functions
            total.update(f"{name} {len(syntax)}\n".encode() + syntax)
        return total.hexdigest()[:12]

    def _file_of(self, module: str) -> Path | None:
        """The file of a module or package; ``None`` if there is none under the root or elsewhere."""
        if module not in self._files:
            self._files[module] = self._look_for(module)
        return self._files[module]

    def _look_for(self, module: str) -> Path | None:
        parts = module.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        stem = self._root.joinpath(*parts)
        for path in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")):
            if path.is_file():
                return path
        return self._own.get(module)

    def _needs(self, name: str) -> tuple[str, ...]:
        """Modules of the same package that a module imports."""
        if name not in self._needed:
            self._needed[name] = tuple(self._imported_by(name))
        return self._needed[name]

    def _imported_by(self, name: str) -> Iterator[str]:
        package = name.partition(".")[0]
        for module, imported in self._parse(name).imports:
            if module.partition(".")[0] != package:
                continue
            file = self._file_of(module)
            if file is None:
                raise BadValue(
                    f"import in {self._files[name]}", module, "name a module that exists", "correct the import"
                )
            submodule = self._file_of(f"{module}.{imported}")
            if submodule is not None:  # "from package import errors"
                if submodule.name != "__init__.py":
                    yield f"{module}.{imported}"
            elif file.name != "__init__.py" or (imported and not imported.startswith("__")):
                yield module

    def _parse(self, name: str) -> _Parsed:
        """Return the imports, the syntax and the digest of a module that has a file."""
        if name not in self._parsed:
            path = self._files[name]
            if path is None:
                raise BadValue("module", name, f"have a file under {self._root}", "ask for its file first")
            self._parsed[name] = _parse_once(name, path, path.read_bytes())
        return self._parsed[name]


@lru_cache(maxsize=1024)
def _parse_once(name: str, path: Path, content: bytes) -> _Parsed:
    """Imports and syntax of a file, parsed once a process for each content of the file."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise BadValue(f"file {path}", str(error), "be valid Python", "correct it") from None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports = tuple(sorted(set(_reduce(tree, package))))
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    return _Parsed(imports, _syntax(tree), _syntax(functions), hashlib.sha256(content).hexdigest())


def _syntax(value: Any) -> bytes:
    words: list[str] = []
    _spell(value, words.append)
    return "\n".join(words).encode(errors="surrogatepass")


def _spell(value: Any, say: Callable[[str], None]) -> None:
    """Say a syntax tree word by word; what ``ast.dump`` does, in half of its time."""
    if isinstance(value, ast.AST):
        say(value.__class__.__name__)
        for name in value._fields:
            _spell(getattr(value, name, None), say)
    elif value.__class__ is list:
        say("[")
        for entry in value:
            _spell(entry, say)
        say("]")
    else:
        say(repr(value))


def _reduce(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    """Yield every import in a tree, from which docstrings and what only a type checker sees are removed."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((_absolute(node, package), alias.name) for alias in node.names)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            node.body = [ast.Pass()]
        elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            _strip_docstring(node)
        # Imports are statements, and these are the places of a statement below another.
        for place in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, place, ()))


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """The module of ``from … import``: one leading dot is the package, each further one its parent."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _strip_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            del node.body[0]
