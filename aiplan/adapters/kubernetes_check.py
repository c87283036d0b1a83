"""Manifests read back: unknown and missing fields, wrong forms, and the rules that no list of fields holds."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.kubernetes_fields import AMOUNTS, ANY, KINDS, LABELS, NAME, QUANTITY, TEXT, TRUTH, WHOLE
from aiplan.declare import Diagnostics, InputError, Mapping, Scalar, Sequence, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.adapters.kubernetes_fields import Fields
    from aiplan.declare import Mark, Node

DNS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
LONGEST_NAME = 63
_QUANTITY = r"([0-9]+(?:\.[0-9]+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?"
_FACTORS = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18} | {
    f"{letter}i": 2.0 ** (10 * power) for power, letter in enumerate("KMGTPE", 1)
}
BUILT_IN = ("cpu", "memory", "ephemeral-storage")
SYSTEM_CLASSES = ("system-cluster-critical", "system-node-critical")
LIST = ("v1", "List")
"""Several manifests as one, as tools print them."""
HIGHEST_PRIORITY = 1_000_000_000


class Found(NamedTuple):
    """A manifest in a file: its kind and where everything stands."""

    api: str
    kind: str
    node: Node

    @property
    def name(self) -> str:
        """Its name, or nothing."""
        return text_at(self.node, "metadata", "name")

    @property
    def namespace(self) -> str:
        """Its namespace; `default` if it does not say."""
        return text_at(self.node, "metadata", "namespace") or "default"


def amount(text: str) -> float | None:
    """Return what a quantity of Kubernetes comes to, or None if it is none."""
    match = re.fullmatch(_QUANTITY, text)
    return float(match[1]) * _FACTORS[match[2] or ""] if match else None


def at(node: Node | None, *steps: str | int) -> Node | None:
    """Return what stands at keys and places in lists, if there is anything."""
    for step in steps:
        if isinstance(node, Mapping):
            node = next((child for key, child in node.items if key.text == step), None)
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def items(node: Node | None) -> list[Node]:
    """Return the members of a list, or nothing."""
    return list(node.items) if isinstance(node, Sequence) else []


def text_at(node: Node | None, *steps: str | int) -> str:
    """Return the text of a value, or nothing."""
    found = at(node, *steps)
    return found.text if isinstance(found, Scalar) and found.value is not None else ""


def number_at(node: Node | None, *steps: str | int, default: int = 1) -> int:
    """Return a whole number; a default if there is none."""
    text = text_at(node, *steps)
    return int(text) if text.isdecimal() else default


def pairs(node: Node | None) -> dict[str, str]:
    """Return a mapping of texts."""
    found = node.items if isinstance(node, Mapping) else []
    return {key.text: child.text for key, child in found if isinstance(child, Scalar)}


def read_manifests(content: bytes, name: str, diagnostics: Diagnostics) -> list[Found]:
    """Read a file of one or more manifests and note everything that is wrong with each by itself."""
    found, before = [], len(diagnostics.items)
    whole = content.decode(errors="replace")
    for part in _documents(whole):
        own = Diagnostics()
        try:
            node = read(part, name, own)
        except InputError as failure:
            diagnostics.items += failure.diagnostics
            continue
        finally:
            diagnostics.sources[name] = whole
        listed = items(at(node, "items")) if (text_at(node, "apiVersion"), text_at(node, "kind")) == LIST else [node]
        checked = [_Checker(diagnostics).manifest(one) for one in listed]
        found += [known for known in checked if known is not None]
    if not found and len(diagnostics.items) == before:
        diagnostics.error("AIP114", f"'{name}' holds no manifests", hint="give a file of Kubernetes manifests")
    return found


def _documents(text: str) -> Iterator[str]:
    """Yield the documents of a file, each with empty lines before it so that lines keep their numbers."""
    lines, start = text.split("\n"), 0
    ends = [index for index, line in enumerate(lines) if re.match(r"---(\s|$)", line)]
    for end in (*ends, len(lines)):
        part = lines[start:end]
        if any(line.strip() and not line.lstrip().startswith("#") for line in part):
            yield "\n" * start + "\n".join(part) + "\n"
        start = end + 1


class _Checker:
    """Holds one manifest against the fields of its kind."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics

    def manifest(self, node: Node) -> Found | None:
        api, kind = text_at(node, "apiVersion"), text_at(node, "kind")
        fields = KINDS.get((api, kind))
        if fields is None:
            self.unknown(api, kind, node)
            return None
        before = len(self.diagnostics.items)
        self.record(fields, node, kind)
        found = Found(api, kind, node)
        if len(self.diagnostics.items) == before:
            rules(found, self.diagnostics)
        return found

    def unknown(self, api: str, kind: str, node: Node) -> None:
        """Note a kind that is not known: wrong if it is nearly one that is, else somebody else's business."""
        where = at(node, "apiVersion") or node
        problem = f"apiVersion {api or '-'} with kind {kind or '-'} is not known here"
        names = sorted({other for _, other in KINDS})
        nearly = get_close_matches(kind, names, n=1, cutoff=0.8)
        close = [f"{one} {other}" for one, other in KINDS if [other] == nearly]
        hint = f"kinds known here: {', '.join(names)}"
        if close:
            hint = f"did you mean {get_close_matches(f'{api} {kind}', close, n=1, cutoff=0.0)[0]}?"
        if close or not api or not kind:
            self.error("AIP365", problem, where.mark, hint)
        else:
            self.diagnostics.warning("AIP367", problem, where.mark, hint=hint)

    def error(self, code: str, problem: str, mark: Mark, hint: str | None = None) -> None:
        self.diagnostics.error(code, problem, mark, hint=hint)

    def record(self, fields: Fields, node: Node, path: str) -> None:
        if not isinstance(node, Mapping):
            self.error("AIP365", f"{path} is no mapping of fields", node.mark)
            return
        known = {name.rstrip("!"): kind for name, kind in fields.items()}
        for key, child in node.items:
            if key.text in known:
                self.value(known[key.text], child, f"{path}.{key.text}")
            else:
                close = get_close_matches(key.text, known, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"fields: {', '.join(known)}"
                self.error("AIP365", f"{path} has no field '{key.text}'", key.mark, hint)
        there = {key.text for key, _ in node.items}
        for name in fields:
            if name.endswith("!") and name[:-1] not in there:
                self.error("AIP365", f"{path} needs the field '{name[:-1]}'", node.mark)

    def value(self, kind: object, node: Node, path: str) -> None:
        if isinstance(kind, dict):
            self.record(kind, node, path)
        elif isinstance(kind, list):
            if not isinstance(node, Sequence):
                self.error("AIP365", f"{path} is no list", node.mark, "begin each item with '- '")
                return
            for index, item in enumerate(node.items):
                self.value(kind[0], item, f"{path}[{index}]")
        elif isinstance(kind, tuple):
            if not isinstance(node, Scalar) or node.text not in kind:
                shown = node.text if isinstance(node, Scalar) else "a list or a mapping"
                self.error("AIP365", f"{path} cannot be {shown}", node.mark, f"one of {', '.join(kind)}")
        elif kind in {LABELS, AMOUNTS}:
            self.table(str(kind), node, path)
        elif kind != ANY:
            self.single(str(kind), node, path)

    def table(self, kind: str, node: Node, path: str) -> None:
        if not isinstance(node, Mapping):
            self.error("AIP365", f"{path} is no mapping", node.mark)
            return
        for key, child in node.items:
            self.single(TEXT if kind == LABELS else QUANTITY, child, f"{path}.{key.text}")

    def single(self, kind: str, node: Node, path: str) -> None:
        value = node.value if isinstance(node, Scalar) else None
        text = node.text if isinstance(node, Scalar) else "a list or a mapping"
        plain = isinstance(value, str)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        good = {
            TEXT: plain,
            NAME: plain and re.fullmatch(DNS, text) is not None and len(text) <= LONGEST_NAME,
            WHOLE: number and isinstance(value, int),
            TRUTH: isinstance(value, bool),
            QUANTITY: (plain or number) and amount(text) is not None,
        }[kind]
        if not good:
            code = "AIP366" if kind in {NAME, QUANTITY} and plain else "AIP365"
            hint = {
                TEXT: f'put it in quotes: "{text}"',
                NAME: f"lower case letters, digits, - and ., at most {LONGEST_NAME}",
                QUANTITY: "a number, with a suffix such as m, Mi, Gi if any",
            }.get(kind)
            self.error(code, f"{path} is {text}, but a {kind} is due", node.mark, hint)


# Rules


def rules(found: Found, diagnostics: Diagnostics) -> None:
    """Note what the fields of a manifest allow, and Kubernetes or its controllers do not."""
    for spec in pod_specs(found):
        for resources in resources_of(spec):
            _devices(resources, diagnostics)
    check = {
        "Job": _job if found.api == "batch/v1" else _volcano,
        "PyTorchJob": _pytorch,
        "PriorityClass": _priority,
        "ResourceQuota": _quota,
        "ClusterQueue": _cluster_queue,
        "PodDisruptionBudget": _budget,
    }.get(found.kind)
    if check is not None:
        check(found.node, diagnostics)


def resources_of(spec: Node) -> list[Node]:
    """Return the resources of the containers of a pod, or those of a node of a TrainJob."""
    if at(spec, "resourcesPerNode") is not None:
        return [node for node in [at(spec, "resourcesPerNode")] if node is not None]
    found = [at(container, "resources") for container in items(at(spec, "containers"))]
    return [node for node in found if node is not None]


def pod_specs(found: Found) -> list[Node]:
    """Return the specifications of pods in a manifest, templates included."""
    return [spec for spec, _ in pod_counts(found)]


def pod_counts(found: Found) -> list[tuple[Node, int]]:
    """Return the specifications of pods in a manifest with how many of each there are."""
    spec = at(found.node, "spec")
    templates: list[tuple[Node | None, int]] = []
    match found.kind:
        case "Pod":
            templates = [(spec, 1)]
        case "Job" if found.api == "batch/v1":
            templates = [(at(spec, "template", "spec"), number_at(spec, "parallelism"))]
        case "Job":
            tasks = items(at(spec, "tasks"))
            templates = [(at(task, "template", "spec"), number_at(task, "replicas")) for task in tasks]
        case "PyTorchJob":
            roles = [at(spec, "pytorchReplicaSpecs", role) for role in ("Master", "Worker")]
            templates = [(at(role, "template", "spec"), number_at(role, "replicas")) for role in roles]
        case "TrainJob":
            templates = [(at(spec, "trainer"), number_at(spec, "trainer", "numNodes"))]
        case "JobSet":
            for group in items(at(spec, "replicatedJobs")):
                inner = at(group, "template", "spec")
                count = number_at(group, "replicas") * number_at(inner, "parallelism")
                templates.append((at(inner, "template", "spec"), count))
    return [(node, count) for node, count in templates if node is not None]


def _devices(resources: Node, diagnostics: Diagnostics) -> None:
    requests, limits = at(resources, "requests"), at(resources, "limits")
    asked, most = pairs(requests), pairs(limits)
    for name in sorted({*asked, *most}):
        place = at(limits, name) or at(requests, name) or resources
        if name in BUILT_IN:
            lower, upper = amount(asked.get(name, "0")) or 0.0, amount(most.get(name, "")) if name in most else None
            if upper is not None and lower > upper:
                problem = f"{name}: the request {asked[name]} is above the limit {most[name]}"
                diagnostics.error("AIP366", problem, place.mark, hint="lower the request, or raise the limit")
            continue
        value = amount(most.get(name, asked.get(name, "0"))) or 0.0
        if value != int(value):
            hint = "whole devices only: MIG names, time-slicing or a share by another scheduler give parts"
            diagnostics.error("AIP366", f"{name}: {most.get(name, asked.get(name))} of a device", place.mark, hint=hint)
        elif name not in most:
            hint = f"limits: {{{name}: {asked[name]}}}"
            diagnostics.error("AIP366", f"{name} is requested without a limit", place.mark, hint=hint)
        elif name in asked and amount(asked[name]) != amount(most[name]):
            problem = f"{name}: the request {asked[name]} is not the limit {most[name]}"
            diagnostics.error("AIP366", problem, place.mark, hint="devices are not overcommitted: make them equal")


def _job(node: Node, diagnostics: Diagnostics) -> None:
    spec = at(node, "spec")
    policy = at(spec, "template", "spec", "restartPolicy")
    if text_at(spec, "template", "spec", "restartPolicy") not in {"Never", "OnFailure"}:
        mark = (policy or at(spec, "template") or node).mark
        diagnostics.error(
            "AIP366", "a job's pods cannot restart always", mark, hint="restartPolicy: Never or OnFailure"
        )
    if text_at(spec, "completionMode") == "Indexed" and at(spec, "completions") is None and spec is not None:
        diagnostics.error("AIP366", "an indexed job needs completions", spec.mark, hint="completions: as parallelism")


def _volcano(node: Node, diagnostics: Diagnostics) -> None:
    spec = at(node, "spec")
    total = sum(number_at(task, "replicas") for task in items(at(spec, "tasks")))
    least = at(spec, "minAvailable")
    if least is not None and number_at(spec, "minAvailable") > total:
        problem = f"minAvailable {number_at(spec, 'minAvailable')} is more than the {total} pods of all tasks"
        diagnostics.error("AIP366", problem, least.mark, hint="the gang would wait for ever")


def _pytorch(node: Node, diagnostics: Diagnostics) -> None:
    policy, roles = at(node, "spec", "elasticPolicy"), at(node, "spec", "pytorchReplicaSpecs")
    if policy is None:
        return
    master = at(roles, "Master")
    if master is not None:
        diagnostics.error("AIP366", "an elastic job has workers only", master.mark, hint="leave Master out")
        return
    least, most = number_at(policy, "minReplicas"), number_at(policy, "maxReplicas", default=1 << 30)
    replicas = number_at(roles, "Worker", "replicas")
    if not least <= replicas <= most:
        problem = f"{replicas} workers are not between minReplicas {least} and maxReplicas {most}"
        diagnostics.error("AIP366", problem, policy.mark, hint="replicas is what it starts with")


def _priority(node: Node, diagnostics: Diagnostics) -> None:
    value = at(node, "value")
    if value is not None and number_at(node, "value") > HIGHEST_PRIORITY:
        hint = "higher ones are for the system"
        diagnostics.error("AIP366", f"a priority is at most {HIGHEST_PRIORITY:,}", value.mark, hint=hint)


def _quota(node: Node, diagnostics: Diagnostics) -> None:
    hard = at(node, "spec", "hard")
    for key, _ in hard.items if isinstance(hard, Mapping) else []:
        bare = key.text.removeprefix("requests.").removeprefix("limits.")
        extended = "/" in bare and not bare.startswith("count/") and ".storageclass." not in bare
        if extended and not key.text.startswith("requests."):
            hint = f"requests.{bare}"
            diagnostics.error("AIP366", f"a quota cannot limit '{key.text}'", key.mark, hint=hint)


def _budget(node: Node, diagnostics: Diagnostics) -> None:
    limits = [place for name in ("minAvailable", "maxUnavailable") if (place := at(node, "spec", name)) is not None]
    if len(limits) != 1:
        problem = "a budget has both minAvailable and maxUnavailable" if limits else "a budget without a limit"
        diagnostics.error(
            "AIP366", problem, (limits or [node])[0].mark, hint="give one of minAvailable, maxUnavailable"
        )


def _cluster_queue(node: Node, diagnostics: Diagnostics) -> None:
    spec = at(node, "spec")
    for group in items(at(spec, "resourceGroups")):
        covered = [item.text for item in items(at(group, "coveredResources")) if isinstance(item, Scalar)]
        for flavor in items(at(group, "flavors")):
            listed = [text_at(cell, "name") for cell in items(at(flavor, "resources"))]
            if listed != covered:
                hint = f"in this order: {', '.join(covered)}"
                problem = f"flavor {text_at(flavor, 'name')} does not list the covered resources"
                diagnostics.error("AIP366", problem, flavor.mark, hint=hint)
            for cell in items(at(flavor, "resources")):
                _cell(cell, spec, diagnostics)


def _cell(cell: Node, spec: Node | None, diagnostics: Diagnostics) -> None:
    for limit in ("borrowingLimit", "lendingLimit"):
        place = at(cell, limit)
        if place is not None and at(spec, "cohortName") is None:
            diagnostics.error("AIP366", f"{limit} needs a cohort", place.mark, hint="add cohortName, or leave it out")
    lends, has = amount(text_at(cell, "lendingLimit")), amount(text_at(cell, "nominalQuota"))
    place = at(cell, "lendingLimit")
    if place is not None and lends is not None and has is not None and lends > has:
        problem = f"lendingLimit {text_at(cell, 'lendingLimit')} is above nominalQuota {text_at(cell, 'nominalQuota')}"
        diagnostics.error("AIP366", problem, place.mark, hint="a queue lends what it has")
