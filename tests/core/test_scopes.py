"""Blocks of `with` are left once, however they end."""

import contextlib

import pytest
from tests.core.interruptions import interrupted

from tapeflow._src.core.scopes import Scope, setting


class Counted(Scope):
    def __init__(self):
        self.open = self.left = 0

    def __enter__(self):
        self._guard = self._latest
        self.open += 1
        return self

    def _leave(self, *exception):
        self.open -= 1
        self.left += 1
        self._guard = None


def run(scope):
    with scope:
        assert scope.open == 1


def fail(scope):
    with scope:
        raise KeyError


def return_from(scope):
    with scope:
        return scope.open


@pytest.mark.parametrize("use", [run, return_from, fail])
def test_a_block_is_left_once(use):
    scope = Counted()
    for times in range(1, 4):
        with contextlib.suppress(KeyError):
            use(scope)
        assert (scope.open, scope.left) == (0, times)


def test_a_block_of_an_exit_stack_is_left_once():
    scope = Counted()
    with contextlib.ExitStack() as stack:
        stack.enter_context(scope)
        assert scope.open == 1
    assert (scope.open, scope.left) == (0, 1)


@pytest.mark.parametrize("use", [run, return_from])
def test_an_interrupted_block_is_left(use):
    for at in range(1_000):
        scope = Counted()
        is_inside = interrupted(lambda scope=scope: use(scope), at)
        assert scope.open <= 0
        if not is_inside:
            break
    assert at > 3


def test_what_a_setting_changes_comes_back_from_blocks_in_one_another():
    class Owner:
        value = 0

    owner = Owner()
    owner.value = 1
    with setting(owner, value=2):
        with setting(owner, value=3):
            assert owner.value == 3
        assert owner.value == 2
    assert owner.value == 1
