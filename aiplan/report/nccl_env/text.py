"""NCCL variables as text that a job can use: lines of a shell, or the `env` list of a Kubernetes container."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.nccl_environment import NcclEnvironment, Setting
    from aiplan.report.console import Look


def shell(answer: NcclEnvironment, _: Look) -> str:
    """Return lines to source in a shell."""
    lines = [*_head(answer)]
    for setting in answer.settings:
        lines += ["", *_comments(setting), f"export {setting.name}={shlex.quote(setting.value)}"]
    return "\n".join(lines) + "\n"


def kubernetes(answer: NcclEnvironment, _: Look) -> str:
    """Return the `env` list of a container."""
    lines = [*_head(answer), "env:"]
    for setting in answer.settings:
        lines += [f"  {comment}" for comment in _comments(setting)]
        lines += [f"  - name: {setting.name}", f"    value: {json.dumps(setting.value)}"]
    return "\n".join(lines) + "\n"


def _head(answer: NcclEnvironment) -> Iterator[str]:
    system, cluster = answer.system, answer.scenario.file.cluster
    yield f"# NCCL for {clean(answer.scenario.name)}"
    fabric = f", {clean(system.network_name)} {cluster.network.topology}" if system.network else ""
    yield f"# {cluster.nodes} nodes of {clean(answer.scenario.node.name)}{fabric}"
    yield "# A starting point: interfaces and classes of traffic are those of your site. Measure with nccl-tests."


def _comments(setting: Setting) -> list[str]:
    comments = [f"# {clean(setting.why)}"] if setting.why else []
    default = f"# default: {clean(setting.default)}"
    return [*comments, f"{default}; {setting.source}" if setting.source else default]
