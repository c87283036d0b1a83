"""All exporters. To add one, write its module and put it here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.exports import deepspeed, megatron, slurm, torchtitan

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.adapters.exports.record import Export
    from aiplan.scenario.load import Scenario


class Target(NamedTuple):
    """A kind of file: its name, the language of its text for Markdown, and what makes it."""

    name: str
    language: str
    export: Callable[[Scenario], Export]


TARGETS = {
    target.name: target
    for target in (
        Target("megatron-args", "sh", megatron.export),
        Target("torchtitan", "toml", torchtitan.export),
        Target("deepspeed", "json", deepspeed.export),
        Target("slurm", "sh", slurm.export),
    )
}
