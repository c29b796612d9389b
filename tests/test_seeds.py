"""Random streams by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.seeds import rng_for


def draw(root, *axes):
    return rng_for(root, *axes).integers(0, 2**62, size=4).tolist()


def test_equal_names_give_equal_streams():
    assert draw(0, "data", "prefix") == draw(0, "data", "prefix")


def test_any_other_name_root_or_split_gives_another():
    streams = [
        (0,),
        (1,),
        (0, ""),
        (0, "", ""),
        (0, "ab", "c"),
        (0, "a", "bc"),
        (0, "abc"),
        (0, "c", "ab"),
        (2**80,),
    ]
    streams += [(0, "a\x1fb"), (0, "a", "b"), (0, "é")]
    drawn = [tuple(draw(*stream)) for stream in streams]
    assert len(set(drawn)) == len(streams)


def test_is_the_same_in_another_process():
    code = "from factormech.seeds import rng_for as r; print(r(5, 'x', 'y').integers(0, 2**62, size=4).tolist())"
    env = {"PYTHONHASHSEED": "123", "PYTHONPATH": ":".join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    assert out.strip() == str(draw(5, "x", "y"))


def test_touches_no_global_state():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 (looked at to see that nothing draws from it)
    draw(0, "x")
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize("root", [-1, 1.5, None, "0", True])
def test_refuses_other_roots(root):
    with pytest.raises(BadValue, match=r"seed = .* must be a whole number"):
        rng_for(root)
