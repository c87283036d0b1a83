"""Manifests of Kubernetes for jobs: plain pods and jobs, PyTorchJob, TrainJob, JobSet, and Volcano's job."""

from __future__ import annotations

from typing import Any, NamedTuple

GPU = "nvidia.com/gpu"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
TOPOLOGY = {
    "preferred": "kueue.x-k8s.io/podset-preferred-topology",
    "required": "kueue.x-k8s.io/podset-required-topology",
}
RACK_LABEL = "topology.example.com/rack"
"""Label of a node's rack; every site has its own, so it is an option."""
HOST_LABEL = "kubernetes.io/hostname"
PORT = 29500
GIB, MIB = 2**30, 2**20

Manifest = dict[str, Any]


class PodSpec(NamedTuple):
    """A job's pods, all alike, and where it stands."""

    name: str
    namespace: str
    pods: int
    least: int
    gpus: int
    cpus: float
    memory: float
    image: str
    script: str
    priority: str = ""
    queue: str = ""
    gang: bool = True
    selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[str, ...] = ()
    topology: str = "any"
    rack_label: str = RACK_LABEL
    rdma: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    folder: str = ""

    @property
    def config(self) -> str:
        """Name of the ConfigMap of its files."""
        return f"{self.name}-config"

    @property
    def elastic(self) -> bool:
        """Whether it can run with fewer pods."""
        return self.least < self.pods

    @property
    def nnodes(self) -> str:
        """Nodes as torchrun takes them: `min:max`, or one number."""
        return f"{self.least}:{self.pods}" if self.elastic else str(self.pods)


def quantity(memory: float) -> str:
    """Return bytes as Kubernetes writes them, without losing any."""
    whole = round(memory)
    if whole % GIB == 0:
        return f"{whole // GIB}Gi"
    return f"{whole // MIB}Mi" if whole % MIB == 0 else str(whole)


def cores(cpus: float) -> str:
    """Return cores as Kubernetes writes them."""
    return f"{round(cpus * 1000)}m" if cpus % 1 else f"{cpus:g}"


def resources(spec: PodSpec) -> dict[str, dict[str, str]]:
    """Return requests and limits of a pod: equal, as GPUs and RDMA devices must be and the rest had better be."""
    amounts = {}
    if spec.cpus:
        amounts["cpu"] = cores(spec.cpus)
    if spec.memory:
        amounts["memory"] = quantity(spec.memory)
    if spec.gpus:
        amounts[GPU] = str(spec.gpus)
    if spec.rdma and spec.pods > 1:
        amounts[spec.rdma] = "1"
    return {"requests": dict(amounts), "limits": dict(amounts)}


def pod_spec(spec: PodSpec, endpoint: str = "", container: str = "trainer", restart: str = "Never") -> Manifest:
    """Return the specification of a pod."""
    arguments = ["torchrun", f"--nnodes={spec.nnodes}", f"--nproc-per-node={max(spec.gpus, 1)}"]
    if spec.pods > 1 and endpoint:
        arguments += ["--rdzv-backend=c10d", f"--rdzv-id={spec.name}", f"--rdzv-endpoint={endpoint}:{PORT}"]
    found: Manifest = {
        "restartPolicy": restart,
        "containers": [
            {
                "name": container,
                "image": spec.image,
                "command": [*arguments, spec.script],
                **({"args": list(spec.arguments)} if spec.arguments else {}),
                "env": [{"name": name, "value": value} for name, value in spec.environment],
                "resources": resources(spec),
                "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108  of the pod
            }
        ],
        "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
    }
    if spec.files:
        found["containers"][0]["volumeMounts"].append({"name": "settings", "mountPath": spec.folder})
        found["volumes"].append({"name": "settings", "configMap": {"name": spec.config}})
    if not spec.environment:
        del found["containers"][0]["env"]
    if spec.rdma and spec.pods > 1:
        found["containers"][0]["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}
    if spec.priority:
        found["priorityClassName"] = spec.priority
    if spec.selector:
        found["nodeSelector"] = dict(spec.selector)
    if spec.tolerations:
        found["tolerations"] = [{"key": key, "operator": "Exists"} for key in spec.tolerations]
    return found


def config_map(spec: PodSpec) -> list[Manifest]:
    """Return the files of a job, if it has any."""
    if not spec.files:
        return []
    about = {"name": spec.config, "namespace": spec.namespace, "labels": {"app": spec.name}}
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": dict(spec.files)}]


def template(spec: PodSpec, endpoint: str, container: str, restart: str, *, near: bool = True) -> Manifest:
    """Return the template of a job's pods; `near` keeps them in one rack by affinity, where no scheduler does."""
    body = pod_spec(spec, endpoint, container, restart)
    if spec.topology != "any" and spec.pods > 1 and near:
        body["affinity"] = _affinity(spec)
    found: Manifest = {"metadata": {"labels": {"app": spec.name}}, "spec": body}
    if spec.topology != "any" and spec.pods > 1 and spec.queue and not near:
        found["metadata"]["annotations"] = {TOPOLOGY[spec.topology]: spec.rack_label}
    return found


def _affinity(spec: PodSpec) -> Manifest:
    term = {"topologyKey": spec.rack_label, "labelSelector": {"matchLabels": {"app": spec.name}}}
    if spec.topology == "required":
        return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    weighted = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def metadata(spec: PodSpec) -> Manifest:
    """Return name, namespace and labels; those of Kueue where there is a queue of Kueue."""
    found: Manifest = {"name": spec.name, "namespace": spec.namespace, "labels": {"app": spec.name}}
    if spec.queue:
        found["labels"][QUEUE_LABEL] = spec.queue
        if spec.priority:
            found["labels"][PRIORITY_LABEL] = spec.priority
    return found


def pods(spec: PodSpec) -> list[Manifest]:
    """Return a pod for each pod, and a service by which they find the first one if there are several."""
    endpoint = f"{spec.name}-0.{spec.name}"
    body = template(spec, endpoint, "trainer", "Never")["spec"]
    if spec.pods == 1:
        return [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata(spec), "spec": body}]
    found = []
    for index in range(spec.pods):
        name = f"{spec.name}-{index}"
        placed = {**body, "hostname": name, "subdomain": spec.name}
        about = metadata(spec) | {"name": name}
        found.append({"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": placed})
    return [service(spec), *found]


def service(spec: PodSpec) -> Manifest:
    """Return the service without an address that gives pods names."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": spec.name, "namespace": spec.namespace},
        "spec": {"clusterIP": "None", "selector": {"app": spec.name}, "ports": [{"name": "rendezvous", "port": PORT}]},
    }


def job(spec: PodSpec) -> list[Manifest]:
    """Return an indexed job, whose pods start together only where a queue sees to it."""
    found: Manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(spec),
        "spec": {
            "parallelism": spec.pods,
            "completions": spec.pods,
            "completionMode": "Indexed",
            "backoffLimit": 0,
            "template": template(spec, f"{spec.name}-0.{spec.name}", "trainer", "Never", near=not spec.queue),
        },
    }
    if spec.queue:
        found["spec"]["suspend"] = True
    if spec.pods == 1:
        return [found]
    found["spec"]["template"]["spec"]["subdomain"] = spec.name
    return [service(spec), found]


def pytorch_job(spec: PodSpec) -> list[Manifest]:
    """Return a PyTorchJob: with a policy for elastic training, or with a master."""
    replica: Manifest = {
        "restartPolicy": "OnFailure",
        "template": template(spec, "", "pytorch", "OnFailure", near=not spec.queue),
    }
    body: Manifest = {
        "nprocPerNode": str(max(spec.gpus, 1)),
        "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 3},
    }
    if spec.elastic:
        body["elasticPolicy"] = {
            "rdzvBackend": "c10d",
            "minReplicas": spec.least,
            "maxReplicas": spec.pods,
            "maxRestarts": 100,
        }
        body["pytorchReplicaSpecs"] = {"Worker": {"replicas": spec.pods, **replica}}
    else:
        body["pytorchReplicaSpecs"] = {"Master": {"replicas": 1, **replica}}
        if spec.pods > 1:
            body["pytorchReplicaSpecs"]["Worker"] = {"replicas": spec.pods - 1, **replica}
    if spec.queue:
        body["runPolicy"]["suspend"] = True
    # The operator sets the rendezvous by environment, so that torchrun needs no address.
    return [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata(spec), "spec": body}]


def train_job(spec: PodSpec) -> list[Manifest]:
    """Return a TrainJob on the runtime for torch; it has no elastic form."""
    trainer: Manifest = {
        "numNodes": spec.pods,
        "numProcPerNode": max(spec.gpus, 1),
        "image": spec.image,
        "command": ["torchrun", spec.script],
        **({"args": list(spec.arguments)} if spec.arguments else {}),
        "resourcesPerNode": resources(spec),
    }
    if spec.environment:
        trainer["env"] = [{"name": name, "value": value} for name, value in spec.environment]
    body: Manifest = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}
    if spec.queue:
        body["suspend"] = True
    return [
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": metadata(spec), "spec": body}
    ]


def job_set(spec: PodSpec) -> list[Manifest]:
    """Return a JobSet of one replicated job, whose pods have names."""
    endpoint = f"{spec.name}-worker-0-0.{spec.name}"
    inner = {
        "parallelism": spec.pods,
        "completions": spec.pods,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": template(spec, endpoint, "trainer", "Never", near=not spec.queue),
    }
    body: Manifest = {
        "failurePolicy": {"maxRestarts": 10},
        "network": {"enableDNSHostnames": True},
        "replicatedJobs": [{"name": "worker", "replicas": 1, "template": {"spec": inner}}],
    }
    if spec.queue:
        body["suspend"] = True
    return [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata(spec), "spec": body}]


def volcano_job(spec: PodSpec) -> list[Manifest]:
    """Return a job of Volcano, which starts when `minAvailable` pods can be placed."""
    about = {"name": spec.name, "namespace": spec.namespace, "labels": {"app": spec.name}}
    body: Manifest = {
        "schedulerName": "volcano",
        "minAvailable": (spec.least if spec.gang else 1),
        "queue": spec.queue or "default",
        "maxRetry": 3,
        "plugins": {"svc": [], "env": []},
        "policies": [{"event": "PodEvicted", "action": "RestartJob"}, {"event": "PodFailed", "action": "RestartJob"}],
        "tasks": [
            {
                "name": "worker",
                "replicas": spec.pods,
                "template": template(spec, f"{spec.name}-worker-0.{spec.name}", "trainer", "OnFailure"),
            }
        ],
    }
    if spec.priority:
        body["priorityClassName"] = spec.priority
    return [{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": about, "spec": body}]


FLAVORS = {
    "pod": pods,
    "job": job,
    "pytorchjob": pytorch_job,
    "trainjob": train_job,
    "jobset": job_set,
    "volcano": volcano_job,
    "kueue": job,
}
"""How the jobs of each flavor are written; kueue is a plain job in a queue of Kueue."""
