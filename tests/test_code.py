from __future__ import annotations

import ast
import os
import time
from pathlib import Path

import pytest

import factormech
from factormech import code
from factormech.code import Code, Sources
from factormech.errors import BadValue

SOURCE = Path(factormech.__file__).parents[1]

HIDDEN = "if TYPE_CHECKING:\n    import pack.heavy\n"
PACKAGE = {
    "__init__": '"""A package."""\n__version__ = "1"\ndef __getattr__(name):\n    from pack import heavy\n',
    "errors": '"""Errors."""\nclass Bad(ValueError):\n    """Bad."""\n',
    "arrays": "import numpy as np\nfrom pack.errors import Bad\n",
    "heavy": "import os.path\n",
    "room/__init__": '"""A room."""\n',
    "room/base": "from .. import errors\nfrom ..arrays import np\n",
    "room/one": "from . import base\nfrom typing import TYPE_CHECKING\n" + HIDDEN,
    "room/two": "def f():\n    try:\n        import pack.arrays\n    finally:\n        from . import one\n",
    "room/registry": 'from pack import heavy\nNAMES = {"one": "pack.room.one"}\ndef build():\n    return 1\n',
    "room/user": "from . import registry\nfrom .registry import NAMES\nimport pack.room.registry\n",
    "versions": "from pack import __version__\nimport pack\nimport packet\n",
    "public": "from pack import load\n",
    "star": "from pack import *\n",
    "cycle": "import pack.other\n",
    "other": "from pack import cycle\n",
    "branch": "import typing\nif typing." + HIDDEN[3:] + "else:\n    import pack.errors\n",
    "cases": "match 1:\n    case 1:\n        import pack.errors\n",
    "handler": "try:\n    pass\nexcept ImportError:\n    import pack.errors\n",
    "rooms": "from pack import room\nimport pack.room\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / "pack" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def code_of(*modules: str, root: Path | None = None, through_registries: bool = False) -> Code:
    return Sources(root).code_of(*modules, through_registries=through_registries)


def names(root: Path, *modules: str, **options: bool) -> set[str]:
    found = code_of(*modules, root=root, **options)
    assert list(found.files) == sorted(found.files)
    assert len(found.digest) == 12
    assert int(found.digest, 16) >= 0
    return {str(path.relative_to(root / "pack").with_suffix("")) for path in found.files}


@pytest.mark.parametrize(
    ("module", "want"),
    [
        ("errors", {"errors"}),
        ("arrays", {"arrays", "errors"}),
        ("room.base", {"room/base", "arrays", "errors"}),
        ("room.one", {"room/one", "room/base", "arrays", "errors"}),
        ("room.two", {"room/two", "room/one", "room/base", "arrays", "errors"}),
        ("room.registry", {"room/registry", "heavy"}),
        ("room.user", {"room/user", "room/registry"}),
        ("versions", {"versions"}),
        ("public", {"public", "__init__", "heavy"}),
        ("star", {"star", "__init__", "heavy"}),
        ("cycle", {"cycle", "other"}),
        ("branch", {"branch", "errors"}),
        ("cases", {"cases", "errors"}),
        ("handler", {"handler", "errors"}),
        ("rooms", {"rooms"}),
    ],
)
def test_what_a_module_needs(root: Path, module: str, want: set[str]) -> None:
    assert names(root, f"pack.{module}") == want


def test_through_registries(root: Path) -> None:
    assert names(root, "pack.room.user", through_registries=True) == {"room/user", "room/registry", "heavy"}


def test_of_a_registry_the_functions_count_and_the_tables_do_not(root: Path) -> None:
    """A new name leaves results alone; another way to make what the names stand for does not."""
    path = root / "pack" / "room" / "registry.py"
    text = path.read_text()
    asked = [("pack.room.user", False), ("pack.room.registry", True)]
    for new, same in (
        (text.replace('"pack.room.one"', '"pack.room.one", "two": "pack.room.two"'), True),
        (text.replace("return 1", "return 2"), False),
        (text + "\n\nclass More:\n    pass\n", False),
    ):
        path.write_text(text)
        before = [code_of(module, root=root).digest for module, _ in asked]
        path.write_text(new)
        after = [code_of(module, root=root).digest for module, _ in asked]
        assert (before[0] == after[0]) is same
        assert before[1] != after[1]  # a registry that is named counts as a whole


def test_several_modules_in_any_order(root: Path) -> None:
    assert names(root, "pack.heavy", "pack.arrays") == {"heavy", "arrays", "errors"}
    assert code_of("pack.heavy", "pack.arrays", root=root) == code_of("pack.arrays", "pack.heavy", root=root)


def test_files_are_relative_if_the_root_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = code_of("pack.arrays", root=root)
    monkeypatch.chdir(root)
    relative = code_of("pack.arrays", root=Path("."))
    assert relative.files == (Path("pack/arrays.py"), Path("pack/errors.py"))
    assert relative.digest == absolute.digest  # of the code, not of the folder


def edited(root: Path, name: str, text: str) -> str:
    """The digest of ``pack.arrays`` after an edit, under the old time stamp."""
    path = root / "pack" / f"{name}.py"
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return code_of("pack.arrays", root=root).digest


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\nclass Bad(ValueError):\n    pass\n",
        '"""Other words."""\nclass Bad(ValueError):\n    """Other\n    words."""\n    pass\n',
        "class Bad(\n    ValueError,\n):  # why\n    pass\n",
    ],
)
def test_comments_and_docstrings_are_not_syntax(root: Path, text: str) -> None:
    base = edited(root, "errors", "class Bad(ValueError):\n    pass\n")
    assert edited(root, "errors", text) == base


def test_what_only_a_type_checker_sees_is_not_syntax(root: Path) -> None:
    head = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
    assert edited(root, "errors", head + "import a\n") == edited(root, "errors", head + "import b as long\n")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = 'a'", "x = b'a'"),
        ("x = 'a'", "x = a"),
        ("x = a, b", "x = (a), [b]"),
        ("x = f(a, b)", "x = f(a, b=b)"),
        ("def f(a, /): 0", "def f(a): 0"),
        ("def f(*, a=1): 0", "def f(a=1, *b): 0"),
        ("x = a + b * c", "x = (a + b) * c"),
        ("x = a < b", "x = a <= b"),
        ("if a:\n    b\nc", "if a:\n    b\n    c"),
        ("x = {a: b}", "x = {a, b}"),
        ("x = f'{a}'", "x = f'{a!r}'"),
    ],
)
def test_every_difference_of_syntax_counts(root: Path, one: str, other: str) -> None:
    assert edited(root, "errors", one + "\n") != edited(root, "errors", other + " # \n")


@pytest.mark.parametrize("name", ["errors", "arrays"])
def test_a_change_of_code_changes_the_digest_even_under_an_old_time_stamp(root: Path, name: str) -> None:
    base = code_of("pack.arrays", root=root).digest
    assert edited(root, name, PACKAGE[name] + "x = 1\n") != base
    assert edited(root, name, PACKAGE[name]) == base


def test_a_change_elsewhere_changes_nothing(root: Path) -> None:
    base = code_of("pack.room.user", root=root)
    for name in ("heavy", "__init__", "room/__init__"):
        (root / "pack" / f"{name}.py").write_text("x = 1\n")
    assert code_of("pack.room.user", root=root) == base


def test_moving_code_between_modules_changes_the_digest(root: Path) -> None:
    base = code_of("pack.cycle", "pack.heavy", root=root).digest
    (root / "pack" / "cycle.py").rename(root / "pack" / "circle.py")
    (root / "pack" / "other.py").write_text("from pack import circle\n")
    assert code_of("pack.circle", "pack.heavy", root=root).digest != base


@pytest.mark.parametrize(
    ("module", "text", "words"),
    [
        ("pack.nothing", "", "have a file under"),
        ("pack/errors", "", "have a file under"),
        ("pack.errors", "import pack.nothing\n", "correct the import"),
        ("pack.errors", "def f(:\n", "be valid Python"),
    ],
)
def test_bad_modules(root: Path, module: str, text: str, words: str) -> None:
    (root / "pack" / "errors.py").write_text(text)
    with pytest.raises(BadValue, match=words):
        code_of(module, root=root)


# --- the package itself


def modules() -> list[str]:
    paths = (SOURCE / "factormech").rglob("*.py")
    return [".".join(p.relative_to(SOURCE).with_suffix("").parts) for p in paths if p.name != "__init__.py"]


def test_the_store_needs_what_it_imports() -> None:
    needed = {path.stem for path in code_of("factormech.store.hdf5").files}
    assert {"hdf5", "content", "arrays", "atomic", "errors"} == needed


LISTING = """
from __future__ import annotations
from factormech.names import make_callable
make_callable(__name__)
"""


def test_packages_hold_nothing_but_a_docstring() -> None:
    """And a list of what they hold, at most: what makes it right to leave ``__init__.py`` out of the code of a name."""
    listing = [ast.dump(line) for line in ast.parse(LISTING).body]
    for path in (SOURCE / "factormech").glob("*/**/__init__.py"):
        docstring, *rest = ast.parse(path.read_text()).body
        assert isinstance(docstring, ast.Expr), path
        assert isinstance(docstring.value, ast.Constant), path
        assert [ast.dump(line) for line in rest] in ([], listing), path


@pytest.mark.slow
def test_the_whole_package_is_walked_quickly() -> None:
    everything = modules()
    code._parse_once.cache_clear()
    start = time.process_time()
    cold = code_of(*everything)
    middle = time.process_time()
    assert code_of(*everything) == cold
    end = time.process_time()
    lines = sum(len(path.read_text().splitlines()) for path in cold.files)
    # Measured: 11 µs a line cold, 2 µs a line warm; a busy machine gets a factor of four.
    assert middle - start < 0.02 + 44e-6 * lines
    assert end - middle < 0.01 + 8e-6 * lines


def test_sources_say_what_a_fresh_look_says_and_read_each_file_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or read_bytes(path))
    sources = Sources(root)
    asked = [(f"pack.{name}",) for name in ("room.user", "room.two", "cycle", "versions")] + [
        ("pack.cycle", "pack.heavy")
    ]
    first = [sources.code_of(*modules) for modules in asked]
    assert len(read) == len(set(read)) > 0
    assert [sources.code_of(*modules) for modules in asked] == first
    assert len(read) == len(set(read))
    assert [(c, c.contents) for c in first] == [(c := code_of(*modules, root=root), c.contents) for modules in asked]


def test_sources_are_of_one_state(root: Path) -> None:
    sources = Sources(root)
    before = sources.code_of("pack.arrays")
    (root / "pack/errors.py").write_text("CHANGED = 1\n")
    assert sources.code_of("pack.arrays") == before
    assert Sources(root).code_of("pack.arrays") != before
