"""Estimates of one scenario with blocks of its own."""

import pytest

from .cases import PLAIN


@pytest.fixture(scope="module")
def of(ask):
    def answer(**blocks):
        return ask.planned(PLAIN | blocks)

    return answer
