"""The JSON Schema of a schedule."""

from __future__ import annotations

from typing import Any

from aiplan.report.schedule.document import JOBS, REPLAY, RUN

NUMBER, TEXT, COUNT = {"type": "number"}, {"type": "string"}, {"type": "integer", "minimum": 0}
UNKNOWN = {"type": ["number", "null"]}
TEXTUAL = {"variant", "strategy", "ties", "name", "reason", "nodes"}
UNCERTAIN = {"started_s", "ended_s", "mean_wait_s", "p90_wait_s"}


def schedule_inputs() -> dict[str, Any]:
    """Return the schema of what a schedule was asked of."""
    return _closed({"file": TEXT, "name": TEXT, "seed": COUNT, "settings": _list(TEXT)})


def schedule_result() -> dict[str, Any]:
    """Return the schema of the result of a schedule."""
    wait = _closed(
        {"label": TEXT, "jobs": COUNT, "never": COUNT}
        | dict.fromkeys(("mean_s", "median_s", "p90_s", "longest_s"), UNKNOWN)
    )
    extra = {
        "waits_by_class": _list(wait),
        "waits_by_size": _list(wait),
        "waits_by_queue": _list(wait),
        "first_reasons": {"type": "object", "additionalProperties": COUNT},
        "gpus_in_deadlock": NUMBER,
    }
    lost = _closed({"size": TEXT, "arrived": NUMBER, "lost": NUMBER})
    replay = {"pods": COUNT, "lost": _list(lost), "allocation_at_50_80_100": _list(NUMBER)}
    fit = dict.fromkeys(("pods", "gpus_per_pod", "most", "stranded", "unused"), NUMBER)
    queue = dict.fromkeys(("nominal", "most", "least"), NUMBER)
    rates = {"elastic": NUMBER, "rigid": NUMBER}
    node = _closed({"name": TEXT, "gpus": _list(TEXT)})
    waiting = _closed({"name": TEXT, "reason": TEXT, "waited_s": NUMBER, "pods": COUNT, "gpus": NUMBER})
    snapshot = _closed(
        {
            "time_s": NUMBER,
            "allocated": NUMBER,
            "fragmentation": NUMBER,
            "nodes": _list(node),
            "waiting": _list(waiting),
        }
    )
    return _closed(
        {
            "cluster": _closed({"nodes": COUNT, "gpus": COUNT}),
            "runs": _list({"oneOf": [_closed(_row(RUN) | extra), _closed(_row(REPLAY) | replay)]}),
            "fits": _list(_closed({"name": TEXT, "blocked": UNKNOWN, "most_now": UNKNOWN} | fit)),
            "goodput": _list(_closed({"name": TEXT, "least": COUNT, "most": COUNT} | rates)),
            "steps": _list(
                _closed({"name": TEXT, "pods": COUNT, "gpus": COUNT, "step_time_s": NUMBER, "rate": NUMBER})
            ),
            "queues": _list(_closed({"name": TEXT, "kind": TEXT} | queue)),
            "jobs": _list(_closed(_row(JOBS))),
            "timeline": _list({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}),
            "snapshot": {"oneOf": [{"type": "null"}, snapshot]},
        }
    )


def _row(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _kind(name) for name in names}


def _kind(name: str) -> dict[str, Any]:
    if name in TEXTUAL:
        return TEXT
    if name == "deadlock":
        return {"type": "boolean"}
    return UNKNOWN if name in UNCERTAIN else NUMBER


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}
