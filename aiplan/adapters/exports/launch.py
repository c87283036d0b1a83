"""What a container starts for a scenario: a script, its arguments, and the file of settings it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.exports import deepspeed, megatron, torchtitan

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario

FOLDER = "/etc/training"
"""Where the file of settings lies in a container."""
MEGATRON = ("megatron-lm", "megatron-core", "megatron-bridge")


class Launch(NamedTuple):
    """How a program is started so that it runs the plan of a scenario.

    Parameters
    ----------
    script : str
        What torchrun starts; empty where the software is not one whose arguments are known.
    arguments : tuple of str
        Arguments of the script.
    file, text : str
        Name and text of the file of settings, which lies in `FOLDER`; empty if there is none.
    remarks : tuple of str
        What of the scenario is not said.
    """

    script: str = ""
    arguments: tuple[str, ...] = ()
    file: str = ""
    text: str = ""
    remarks: tuple[str, ...] = ()


def launch(scenario: Scenario) -> Launch:
    """Return how the software of a scenario is started."""
    software = scenario.file.software
    if software.startswith(MEGATRON):
        writer = megatron.arguments(scenario)
        words = (word for name, value in writer.settings for word in (f"--{name}", value) if word)
        return Launch("pretrain_gpt.py", tuple(words), remarks=tuple(writer.remarks))
    if software.startswith("torchtitan"):
        job = torchtitan.export(scenario)
        read = f"--job.config_file={FOLDER}/job.toml"
        return Launch("torchtitan/train.py", (read,), "job.toml", job.text, job.remarks)
    if software == "deepspeed":
        config = deepspeed.export(scenario)
        where = ("--deepspeed", f"--deepspeed_config={FOLDER}/ds_config.json")
        return Launch("train.py", where, "ds_config.json", config.text, config.remarks)
    return Launch(remarks=(f"model, workload and plan: the arguments of {software} are not written",))
