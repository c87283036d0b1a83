"""NCCL variables for a cluster in every format, as text for a shell or for Kubernetes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.nccl_environment import NcclEnvironment

render_shell: Report[NcclEnvironment] = Report(__name__, table="text.shell", plain="text.shell")
render_kubernetes: Report[NcclEnvironment] = render_shell._replace(table="text.kubernetes", plain="text.kubernetes")
