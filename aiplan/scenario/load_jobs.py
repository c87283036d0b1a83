"""Jobs files to validated records: names that are known, quotas of the right kind, pods that some pool takes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Mapping, Mark, Sequence, build, is_file, set_value
from aiplan.scenario.files import LIBRARY, Place, exists, find_in_library, library_ids, read_place
from aiplan.scenario.job_records import Amounts, JobsFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Node as NodeEntry
    from aiplan.declare import Diagnostics, Node
    from aiplan.scenario.job_records import Cohort, Job, Pool, Queue

JOBS = "jobs"
TABLES = (".csv", ".csv.gz")
"""Ends of names of tables of jobs."""
TABLE_PLAN = "table.yaml"
"""Stands for the jobs file that names a table, in the folder from which the command line's paths are."""
COLUMNS = {"openb": {"num_gpu", "gpu_milli", "cpu_milli"}, "philly": {"timestamp", "duration", "num_gpus"}}
"""Columns by which formats of traces are told apart."""
Steps = tuple[str | int, ...]


class JobsPlan(NamedTuple):
    """A jobs file and what it names: the node of each pool in the catalog, if it has one there, and pools by job.

    `settings` are the changes from the command line.
    """

    place: Place
    file: JobsFile
    tree: Node
    entries: tuple[NodeEntry | None, ...]
    pools: tuple[tuple[int, ...], ...]
    settings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the mix is called."""
        return self.file.name or self.place.path.stem

    def gpus(self, pool: int) -> int:
        """GPUs of a node of a pool."""
        given, entry = self.file.pools[pool].gpus, self.entries[pool]
        return given if given is not None else entry.accelerators if entry else 0

    def gpu_type(self, pool: int) -> str:
        """Type of the GPUs of a pool."""
        entry = self.entries[pool]
        return self.file.pools[pool].gpu_type or (entry.accelerator if entry else "")


def find_jobs(text: str) -> Place:
    """Return the file that a command line argument means: a path, or a name in the library."""
    path = Path(text)
    known = None if exists(path) else find_in_library(JOBS, text)
    return known or Place(text, path)


def known_jobs() -> list[str]:
    """Return the names of the jobs files of the library."""
    return library_ids(JOBS)


def load_jobs(
    text: str, catalog: Catalog, diagnostics: Diagnostics, settings: tuple[tuple[str, str, str], ...] = ()
) -> JobsPlan | None:
    """Read and check a jobs file with settings changed; None if anything in it is wrong."""
    place = _existing(text, diagnostics)
    return place and _with_settings(read_place(place, diagnostics), place, catalog, diagnostics, settings)


def _existing(text: str, diagnostics: Diagnostics) -> Place | None:
    place = find_jobs(text)
    if is_file(place.path):
        return place
    close = ", ".join(known_jobs())
    diagnostics.error("AIP113", f"no jobs file '{text}'", hint=f"a path, or one of {LIBRARY}/{JOBS}: {close}")
    return None


def load_table(
    text: str,
    nodes: str | None,
    pools: str | None,
    catalog: Catalog,
    diagnostics: Diagnostics,
    settings: tuple[tuple[str, str, str], ...] = (),
) -> JobsPlan | None:
    """Read a table of jobs as if a jobs file named it.

    Parameters
    ----------
    text : str
        Path of the table; its first line says which format it has.
    nodes : str or None
        Path of a table of nodes.
    pools : str or None
        Jobs file whose pools, queues and rules hold; its own jobs are left out.
    catalog : Catalog
        Where nodes are looked up.
    diagnostics : Diagnostics
        Takes what is wrong.
    settings : tuple of tuple
        Changes from the command line.
    """
    form = _format_of(text, diagnostics)
    if pools is None and nodes is None:
        diagnostics.error(
            "AIP106", "a table of jobs says nothing of nodes", hint="--pools JOBS, or --nodes TABLE (openb)"
        )
        return None
    place = Place(text, Path(TABLE_PLAN))
    tree: Node = Mapping([], Mark(text, 1, 1, 1))
    if pools is not None:
        known = _existing(pools, diagnostics)
        tree = tree if known is None else read_place(known, diagnostics)
    if not isinstance(tree, Mapping):
        return resolve_jobs(tree, place, catalog, diagnostics)  # says what is wrong with it
    if form is None or diagnostics.has_errors:
        return None
    tree = Mapping([(key, child) for key, child in tree.items if key.text not in {"jobs", "trace", "name"}], tree.mark)
    # Whatever characters a path has, JSON's quotes are YAML's.
    given = [("name", Path(text).name, text), ("trace.format", form, text), ("trace.jobs", text, text)]
    given += [] if nodes is None else [("trace.nodes", nodes, "--nodes")]
    for path, value, source in given:
        tree = set_value(tree, path, json.dumps(value), diagnostics, source)
    return _with_settings(tree, place, catalog, diagnostics, settings)


def _format_of(text: str, diagnostics: Diagnostics) -> str | None:
    """Return the format of a table by the columns of its first line."""
    try:
        with Path(text).open("rb") as stream:
            packed = stream.read(2) == b"\x1f\x8b"
        with gzip.open(text) if packed else Path(text).open("rb") as stream:
            heading = stream.readline(4096).decode(errors="replace")
    except (OSError, EOFError) as problem:
        reason = getattr(problem, "strerror", None) or "it is packed badly"
        diagnostics.error("AIP113", f"cannot read '{text}': {reason}", hint="give a jobs file, or a table of a trace")
        return None
    there = {column.strip() for column in heading.split(",")}
    found = next((form for form, columns in COLUMNS.items() if columns <= there), None)
    if found is None:
        known = "; ".join(f"{form} has {', '.join(sorted(columns))}" for form, columns in COLUMNS.items())
        mark = Mark(text, 1, 1, len(heading.rstrip()) + 1)
        diagnostics.error("AIP364", "the columns are those of no trace that is known", mark, hint=known)
    return found


def _with_settings(
    tree: Node, place: Place, catalog: Catalog, diagnostics: Diagnostics, settings: tuple[tuple[str, str, str], ...]
) -> JobsPlan | None:
    for path, value, option in settings:
        if isinstance(tree, Mapping):
            tree = set_value(tree, path, value, diagnostics, option)
    plan = resolve_jobs(tree, place, catalog, diagnostics)
    return plan and plan._replace(settings=tuple(f"{path}={value}" for path, value, _ in settings))


def resolve_jobs(tree: Node, place: Place, catalog: Catalog, diagnostics: Diagnostics) -> JobsPlan | None:
    """Check a jobs file that has been read."""
    file = build(JobsFile, tree, diagnostics)
    if file is None:
        return None
    checks = _Checks(tree, file, diagnostics)
    entries = tuple(
        catalog.node(pool.node, diagnostics, checks.at("pools", index, "node")) if pool.node else None
        for index, pool in enumerate(file.pools)
    )
    found = [None if entry is None else entry[0] for entry in entries]
    checks.names()
    checks.content()
    for index, pool in enumerate(file.pools):
        checks.pool(index, pool)
    for index, queue in enumerate(file.queues):
        checks.queue(index, queue)
    for index, cohort in enumerate(file.cohorts):
        checks.cohort(index, cohort)
    pools = tuple(checks.job(index, job) for index, job in enumerate(file.jobs))
    return None if diagnostics.has_errors else JobsPlan(place, file, tree, tuple(found), pools)


def mark_at(tree: Node, steps: Steps) -> Mark:
    """Return where something stands in a file, or where the nearest part of it does; numbers are places in lists."""
    mark = tree.mark
    for step in steps:
        if isinstance(tree, Sequence) and isinstance(step, int) and step < len(tree.items):
            tree = tree.items[step]
            mark = tree.mark
            continue
        entry = next((item for item in tree.items if item[0].text == step), None) if isinstance(tree, Mapping) else None
        if entry is None:
            break
        key, tree = entry
        mark = key.mark if isinstance(tree, Mapping) else tree.mark
    return mark


class _Checks:
    """What only the whole file shows; every fault is noted."""

    def __init__(self, tree: Node, file: JobsFile, diagnostics: Diagnostics) -> None:
        self.tree, self.file, self.diagnostics = tree, file, diagnostics
        self.pool_names = [pool.name for pool in file.pools]
        self.queue_names = [queue.name for queue in file.queues]
        self.priority_names = [priority.name for priority in file.priorities]

    def at(self, *steps: str | int) -> Mark:
        return mark_at(self.tree, steps)

    def error(self, code: str, problem: str, steps: Steps, hint: str) -> None:
        self.diagnostics.error(code, problem, self.at(*steps), hint=hint)

    def names(self) -> None:
        """Check that every pool, queue, class and job has a name of its own."""
        groups = {
            "pools": self.pool_names,
            "queues": self.queue_names,
            "cohorts": [cohort.name for cohort in self.file.cohorts],
            "priorities": self.priority_names,
            "jobs": [job.name for job in self.file.jobs],
        }
        for group, names in groups.items():
            for index, name in enumerate(names):
                if name in names[:index]:
                    self.error("AIP362", f"'{name}' is there twice", (group, index, "name"), "give it another name")

    def content(self) -> None:
        """Check that there is something to run, and something to run it on."""
        file = self.file
        if not file.jobs and file.trace is None:
            self.error("AIP106", "there are neither jobs nor a trace", (), "add jobs:, or trace:")
        if file.jobs and file.trace is not None:
            self.error("AIP362", "there are jobs and a trace", ("trace",), "keep one of the two")
        if not file.pools and (file.trace is None or file.trace.nodes is None):
            self.error("AIP106", "there are no pools", (), "add 'pools: [{name: a, node: dgx-h100, nodes: 4}]'")
        if file.trace is not None and file.trace.format == "philly" and file.trace.nodes is not None:
            self.error("AIP362", "this format has no table of nodes", ("trace", "nodes"), "describe the nodes as pools")
        if file.trace is not None and file.trace.format != "openb" and file.trace.arrivals is not None:
            self.error("AIP362", "only openb can be drawn from", ("trace", "arrivals"), "leave arrivals out")

    def pool(self, index: int, pool: Pool) -> None:
        """Check that the GPUs of a pool are known."""
        if pool.node is None and pool.gpus is None:
            self.error("AIP106", f"the GPUs of pool '{pool.name}' are not known", ("pools", index), "give node or gpus")

    def queue(self, index: int, queue: Queue) -> None:
        """Check that what a queue says belongs to its kind, and can be meant."""
        where = ("queues", index)
        for kind, keys in {"kueue": ("cohort", "borrowing_limit", "lending_limit"), "volcano": ("guarantee",)}.items():
            for key in keys:
                value = getattr(queue, key)
                given = value is not None and value != Amounts()
                if given and queue.kind != kind:
                    self.error("AIP361", f"{key} is not known to a {queue.kind} queue", (*where, key), f"kind: {kind}")
        if queue.kind == "resource-quota" and queue.weight is not None:
            self.error("AIP361", "a ResourceQuota has no weight", (*where, "weight"), "leave weight out")
        limits = queue.borrowing_limit != Amounts() or queue.lending_limit != Amounts()
        if limits and queue.kind == "kueue" and queue.cohort is None:
            key = "borrowing_limit" if queue.borrowing_limit != Amounts() else "lending_limit"
            self.error("AIP361", f"{key} without a cohort has no effect", (*where, key), "add cohort: NAME")
        for key in ("gpus", "cpus", "memory"):
            lends, has = getattr(queue.lending_limit, key), getattr(queue.quota, key)
            if lends is not None and has is not None and lends > has:
                hint = f"at most {has:g}"
                self.error("AIP361", f"lends {lends:g} of {has:g}", (*where, "lending_limit", key), hint)
        if queue.guarantee is not None and queue.quota.gpus is not None and queue.guarantee > queue.quota.gpus:
            hint = f"at most {queue.quota.gpus:g}"
            self.error("AIP361", "the guarantee is more than the queue can have", (*where, "guarantee"), hint)

    def cohort(self, index: int, cohort: Cohort) -> None:
        """Check that a cohort is not above itself, and that limits have a parent to hold towards."""
        where = ("cohorts", index)
        parents = {one.name: one.parent for one in self.file.cohorts}
        above, seen = cohort.parent, {cohort.name}
        while above is not None and above not in seen:
            seen.add(above)
            above = parents.get(above)
        if above == cohort.name:
            self.error("AIP361", f"cohort '{cohort.name}' is above itself", (*where, "parent"), "leave one parent out")
        for key in ("borrowing_limit", "lending_limit"):
            if cohort.parent is None and getattr(cohort, key) != Amounts():
                self.error("AIP361", f"{key} without a parent has no effect", (*where, key), "add parent: NAME")

    def job(self, index: int, job: Job) -> tuple[int, ...]:
        """Return the pools that a job may run in; what it names is known, and its pods can be meant."""
        where = ("jobs", index)
        self._known(job.queue, self.queue_names, (*where, "queue"), "queue")
        self._known(job.priority, self.priority_names, (*where, "priority"), "priority class")
        for place, name in enumerate(job.pools):
            self._known(name, self.pool_names, (*where, "pools", place), "pool")
        if job.queue is None and len(self.queue_names) > 1:
            hint = f"queue: one of {', '.join(self.queue_names)}"
            self.error("AIP106", f"the queue of job '{job.name}' is not given", where, hint)
        if job.scenario is None and job.duration is None:
            self.error("AIP106", f"how long '{job.name}' runs is not known", where, "give duration, or scenario")
        most = job.replicas or (1 if job.scenario is None else None)
        if job.min_replicas is not None and most is not None and job.min_replicas > most:
            hint = f"at most {most}"
            self.error("AIP362", f"min_replicas is more than {most} replicas", (*where, "min_replicas"), hint)
        if job.min_replicas is not None and not job.gang:
            self.error("AIP362", "an elastic job starts as a gang", (*where, "gang"), "gang: true, or no min_replicas")
        if job.min_available is not None and most is not None and job.min_available > job.count * most:
            hint = f"at most {job.count * most}"
            problem = f"min_available is more than {job.count * most} pods"
            self.error("AIP362", problem, (*where, "min_available"), hint)
        if job.gpu_share < 1 and job.gpus not in {None, 1}:
            hint = "gpus: 1, or no gpu_share"
            self.error("AIP362", "only a pod of one GPU takes a part of it", (*where, "gpu_share"), hint)
        return self._pools(where, job)

    def _pools(self, where: Steps, job: Job) -> tuple[int, ...]:
        fitting = []
        for index, pool in enumerate(self.file.pools):
            chosen = not job.pools or pool.name in job.pools
            labelled = job.node_selector.items() <= pool.labels.items()
            tolerated = set(pool.taints) <= set(job.tolerations)
            if chosen and labelled and tolerated and (job.gpu_share == 1 or pool.sharing != "none"):
                fitting.append(index)
        if not fitting and self.file.pools and set(job.pools) <= set(self.pool_names):
            self.error("AIP363", f"no pool takes the pods of '{job.name}'", where, self._why(job))
        return tuple(fitting)

    def _why(self, job: Job) -> str:
        chosen = [pool for pool in self.file.pools if not job.pools or pool.name in job.pools]
        if job.gpu_share < 1 and all(pool.sharing == "none" for pool in chosen):
            return "whole GPUs only: give a pool 'sharing: time-slicing', or leave gpu_share out"
        taints = sorted({taint for pool in chosen for taint in pool.taints} - set(job.tolerations))
        return f"tolerations: [{', '.join(taints)}]" if taints else "no pool has the labels of node_selector"

    def _known(self, name: str | None, names: Iterable[str], steps: Steps, what: str) -> None:
        from difflib import get_close_matches  # noqa: PLC0415  only after a mistake

        listed = list(names)
        if name is None or name in listed:
            return
        close = get_close_matches(name, listed, n=1)
        guess = f"did you mean '{close[0]}'? " if close else ""
        known = f"known: {', '.join(listed)}" if listed else f"the file has no {what}"
        self.error("AIP360", f"no {what} '{name}'", steps, guess + known)
