"""Manifests that are written are valid, and broken ones are caught with the place and the reason."""

import json

import pytest
import yaml
from jsonschema import Draft7Validator

from aiplan.adapters.kubernetes_fields import KINDS
from aiplan.report.schemas import schema_of
from tests.guard.test_guard_formats import check_junit, check_sarif

FLAVORS = ("pod", "job", "pytorchjob", "jobset", "volcano", "kueue")
CORE = {"Pod", "Job", "Namespace", "Service", "PodDisruptionBudget", "PriorityClass", "ResourceQuota", "LimitRange"}
RIGID = """
pools: [{name: h100, node: dgx-h100, nodes: 4, nodes_per_rack: 2}]
queues: [{name: team, quota: {gpus: 32, memory: 8 TiB}, cohort: lab, lending_limit: {gpus: 8}}]
cohorts: [{name: lab, parent: house, quota: {gpus: 4}, lending_limit: {gpus: 12}, weight: 2}, {name: house}]
priorities: [{name: high, value: 1000}, {name: low, value: 10, preemption: never}]
jobs:
  - {name: llm, queue: team, priority: high, scenario: llama-3-8b-h100, replicas: 2, duration: 1 h, topology: required}
  - {name: one, queue: team, priority: low, gpus: 1, cpus: 1.5, memory: 1500 MB, duration: 1 h, count: 3, min_available: 2}
"""


@pytest.fixture
def jobs(folder):
    (folder / "rigid.yaml").write_text(RIGID)
    return "rigid.yaml"


def documents(text):
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize("source", ["research-cluster", "two-labs", "elastic-training", "llama-3-70b-h100"])
@pytest.mark.parametrize("flavor", FLAVORS)
def test_what_is_written_is_found_valid(run, source, flavor):
    written = run("export", "k8s", source, "--flavor", flavor, "--rdma", "rdma/ib")
    assert written.code == 0
    pools = source if source != "llama-3-70b-h100" else "research-cluster"
    checked = run("check", "-", "--pools", pools, "--format", "plain", stdin=written.out.encode())
    assert checked.code == (0 if pools == source else 1), checked.err
    assert checked.out.count("schedulable") >= 1


@pytest.mark.parametrize("flavor", [*FLAVORS, "trainjob"])
def test_goldens(run, golden, jobs, flavor):
    assert run("export", "k8s", jobs, "--flavor", flavor).text == golden(name=flavor)


@pytest.mark.parametrize("flavor", [*FLAVORS, "trainjob"])
def test_an_independent_judge_finds_core_kinds_valid(run, jobs, flavor):
    judge = pytest.importorskip("kubernetes_validate")
    written = documents(run("export", "k8s", jobs, "--flavor", flavor).out)
    core = [one for one in written if one["kind"] in CORE and "volcano" not in one["apiVersion"]]
    assert core
    for one in core:
        judge.validate(one, "1.31", strict=True)


@pytest.mark.parametrize("flavor", [*FLAVORS, "trainjob"])
def test_gpus_are_whole_limits_equal_to_requests(run, jobs, flavor):
    found = []

    def walk(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in {"resources", "resourcesPerNode"} and isinstance(value, dict):
                    found.append(value)
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    for one in documents(run("export", "k8s", jobs, "--flavor", flavor).out):
        if one["kind"] != "ClusterQueue":
            walk(one)
    assert found
    for resources in found:
        assert resources["limits"] == resources["requests"]
        assert resources["limits"]["nvidia.com/gpu"].isdecimal()


def test_elastic_policy_is_that_of_the_job(run):
    job = next(
        one
        for one in documents(run("export", "k8s", "elastic-training", "--flavor", "pytorchjob").out)
        if one["metadata"]["name"] == "llama"
    )
    assert job["spec"]["elasticPolicy"] == {
        "rdzvBackend": "c10d",
        "minReplicas": 4,
        "maxReplicas": 8,
        "maxRestarts": 100,
    }
    assert set(job["spec"]["pytorchReplicaSpecs"]) == {"Worker"}
    assert (
        "--nnodes=4:8" in job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["command"]
    )


def test_a_trainjob_cannot_be_elastic(run):
    done = run("export", "k8s", "elastic-training", "--flavor", "trainjob")
    assert done.code == 2
    assert done.out == ""
    assert "a TrainJob has no elastic form, and 'llama' is elastic" in done.err


def test_json(run, jobs):
    for arguments in (["export", "k8s", jobs], ["check", "kueue.yaml", "--pools", jobs]):
        run("export", "k8s", jobs, "--flavor", "kueue", "-o", "kueue.yaml")
        done = run(*arguments, "--format", "json")
        Draft7Validator(schema_of("result")).validate(json.loads(done.out))


POD = """apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  restartPolicy: Never
  containers:
    - name: trainer
      image: pytorch/pytorch:2.0.1
      resources: {limits: {nvidia.com/gpu: GPUS}REQUESTS}
"""
ELASTIC = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: elastic}
spec:
  elasticPolicy: {minReplicas: 4, maxReplicas: 8}
  pytorchReplicaSpecs:
    ROLE: {replicas: PODS, restartPolicy: OnFailure, template: {spec: {containers: [{name: pytorch, image: x}]}}}
"""
QUEUE = """apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  COHORT: lab
  resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu]
      flavors:
        - name: h100
          resources: [{name: cpu, nominalQuota: 8}, {name: nvidia.com/gpu, nominalQuota: 8, lendingLimit: LENDS}]
"""
VOLCANO = """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: gang}
spec:
  minAvailable: 9
  tasks: [{name: worker, replicas: 8, template: {spec: {containers: [{name: trainer, image: x}]}}}]
"""


def pod(name="trainer", gpus="8", requests=""):
    return POD.replace("NAME", name).replace("GPUS", gpus).replace("REQUESTS", requests)


JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Always, containers: [{name: c, image: x}]}}}
"""
BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 1, maxUnavailable: 1, selector: {matchLabels: {app: a}}}
"""


BROKEN = {
    "part of a gpu": (pod(gpus="500m"), "AIP366", "nvidia.com/gpu: 500m of a device", 9),
    "requests are not limits": (
        pod(requests=", requests: {nvidia.com/gpu: 4}"),
        "AIP366",
        "nvidia.com/gpu: the request 4 is not the limit 8",
        9,
    ),
    "requests without limits": (
        pod().replace("limits", "requests"),
        "AIP366",
        "nvidia.com/gpu is requested without a limit",
        9,
    ),
    "misspelt field": (pod().replace("restartPolicy", "restartPolcy"), "AIP365", "did you mean 'restartPolicy'?", 5),
    "bad name": (pod(name="GPU_Pod"), "AIP366", "Pod.metadata.name is GPU_Pod, but a name is due", 3),
    "bad choice": (pod().replace("Never", "Sometimes"), "AIP365", "one of Always, OnFailure, Never", 5),
    "no containers": (
        pod().replace("containers:", "initContainers:"),
        "AIP365",
        "Pod.spec needs the field 'containers'",
        5,
    ),
    "unknown kind": (pod().replace("kind: Pod", "kind: Pods"), "AIP365", "did you mean v1 Pod?", 1),
    "old field of kueue": (
        QUEUE.replace("COHORT", "cohort").replace("LENDS", "4"),
        "AIP365",
        "did you mean 'cohortName'?",
        5,
    ),
    "lends more than it has": (
        QUEUE.replace("COHORT", "cohortName").replace("LENDS", "9"),
        "AIP366",
        "lendingLimit 9 is above nominalQuota 8",
        10,
    ),
    "lends to nobody": (
        QUEUE.replace("  COHORT: lab\n", "").replace("LENDS", "4"),
        "AIP366",
        "lendingLimit needs a cohort",
        9,
    ),
    "elastic with a master": (
        ELASTIC.replace("ROLE", "Master").replace("PODS", "1"),
        "AIP366",
        "an elastic job has workers only",
        7,
    ),
    "fewer than the least": (
        ELASTIC.replace("ROLE", "Worker").replace("PODS", "2"),
        "AIP366",
        "2 workers are not between minReplicas 4 and maxReplicas 8",
        5,
    ),
    "gang larger than the job": (VOLCANO, "AIP366", "minAvailable 9 is more than the 8 pods of all tasks", 5),
    "quota on limits of gpus": (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {limits.nvidia.com/gpu: 8}}\n",
        "AIP366",
        "a quota cannot limit 'limits.nvidia.com/gpu'",
        4,
    ),
    "job that restarts for ever": (
        JOB,
        "AIP366",
        "a job's pods cannot restart always",
        4,
    ),
    "text where a number is due": (
        VOLCANO.replace("minAvailable: 9", 'minAvailable: "8"'),
        "AIP365",
        "a whole number is due",
        5,
    ),
    "two limits of a budget": (
        BUDGET,
        "AIP366",
        "a budget has both minAvailable and maxUnavailable",
        4,
    ),
    "old api of a kind": (
        QUEUE.replace("COHORT", "cohortName").replace("LENDS", "4").replace("v1beta2", "v1beta1"),
        "AIP365",
        "did you mean kueue.x-k8s.io/v1beta2 ClusterQueue?",
        1,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_manifest_is_caught(run, folder, name):
    text, code, message, line = BROKEN[name]
    (folder / "m.yaml").write_text("# first\n---\n" + pod("sound") + "---\n" + text)
    done = run("check", "m.yaml")
    assert done.code == 2
    assert f"error[{code}]" in done.err
    assert message in done.err
    assert f"m.yaml:{line + 12}:" in done.err
    assert done.err.count("error[") == 1, done.err


def test_sound_forms_of_the_broken_ones_pass(run, folder):
    sound = [
        pod(),
        pod(requests=", requests: {nvidia.com/gpu: 8}"),
        QUEUE.replace("COHORT", "cohortName").replace("LENDS", "4"),
        ELASTIC.replace("ROLE", "Worker").replace("PODS", "5"),
        VOLCANO.replace("9", "8"),
    ]
    (folder / "m.yaml").write_text("---\n".join(sound))
    done = run("check", "m.yaml")
    assert done.code == 0, done.err


POOLS = """
pools:
  - {name: big, gpus: 8, nodes: 2, cpus: 64, memory: 512 GiB, taints: [gpu], labels: {kind: big}}
  - {name: small, gpus: 2, nodes: 4, cpus: 16, memory: 64 GiB}
jobs: [{name: x, gpus: 1, duration: 1 h}]
"""
NEVER = {
    "more gpus than a node": (pod(gpus="4"), "a pod asks for 4 GPUs, and the largest node of its pools has 2"),
    "no such label": (
        pod().replace("spec:", "spec:\n  nodeSelector: {kind: huge}"),
        "no pool has the labels kind=huge",
    ),
    "tainted": (
        pod().replace("spec:", "spec:\n  nodeSelector: {kind: big}"),
        "its pools are tainted, and it does not tolerate gpu",
    ),
    "too much memory": (
        pod(gpus="1").replace("gpu: 1}", "gpu: 1, memory: 100Gi}"),
        "no node has that many cores and that much memory beside the GPUs",
    ),
    "gang": (
        VOLCANO.replace("9", "8").replace("image: x", "image: x, resources: {limits: {nvidia.com/gpu: 2}}"),
        "8 pods, and its pools have room for 4",
    ),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_will_never_be_scheduled(run, folder, name):
    (folder / "pools.yaml").write_text(POOLS)
    (folder / "m.yaml").write_text(NEVER[name][0])
    done = run("check", "m.yaml", "--pools", "pools.yaml", "--width", 200)
    assert done.code == 1
    assert NEVER[name][1] in done.out


def test_quotas_of_the_file_count(run, folder):
    (folder / "pools.yaml").write_text(POOLS)
    quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {requests.nvidia.com/gpu: 1}}\n"
    (folder / "m.yaml").write_text(quota + "---\n" + pod(gpus="2"))
    done = run("check", "m.yaml", "--pools", "pools.yaml", "--width", 200)
    assert done.code == 1
    assert "2 GPUs, and the quota q of its namespace has 1" in done.out


def test_what_a_tree_of_cohorts_could_lend_counts(run, folder):
    local = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q}\nspec: {clusterQueue: team}\n"
    cells = "[{name: cpu, nominalQuota: 0}, {name: nvidia.com/gpu, nominalQuota: OWN}]"
    cohort = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: NAME}\nspec: {PARENT"
        "resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], flavors: [{name: h100, resources: "
        + cells
        + "}]}]}\n"
    )
    queue = QUEUE.replace("COHORT", "cohortName").replace("LENDS", "4")
    job = JOB.replace("Always", "Never").replace("name: j", "name: j, labels: {kueue.x-k8s.io/queue-name: q}")
    job = job.replace("image: x", "image: x, resources: {limits: {nvidia.com/gpu: 2}}").replace(
        "spec: {template", "spec: {parallelism: 6, template"
    )
    (folder / "pools.yaml").write_text(POOLS.replace("taints: [gpu], ", "").replace("nodes: 2", "nodes: 9"))
    for own, code in ((3, 1), (4, 0)):
        lab = cohort.replace("NAME", "lab").replace("PARENT", "parentName: house, ").replace("OWN", "0")
        house = cohort.replace("NAME", "house").replace("PARENT", "").replace("OWN", str(own))
        (folder / "m.yaml").write_text(f"{local}---\n{queue}---\n{lab}---\n{house}---\n{job}")
        done = run("check", "m.yaml", "--pools", "pools.yaml", "--width", 200)
        assert done.code == code, done.text
    (folder / "m.yaml").write_text(f"{local}---\n{queue}---\n{job}")
    done = run("check", "m.yaml", "--pools", "pools.yaml", "--width", 200)
    assert "12 GPUs, and its queue team can have 8 at most" in done.out


def test_names_that_lead_nowhere(run, folder):
    local = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q}\nspec: {clusterQueue: other}\n"
    queue = QUEUE.replace("COHORT", "cohortName").replace("LENDS", "4")
    (folder / "m.yaml").write_text(local + "---\n" + queue)
    done = run("check", "m.yaml")
    assert done.code == 2
    assert "LocalQueue q: no ClusterQueue 'other'" in done.err


def test_every_kind_has_its_fields():
    assert len(KINDS) == 20
    assert all("metadata!" in fields for fields in KINDS.values())


SCENARIO = """model: llama-3-8b
workload: {tokens: 1e12, sequence_length: 8192, global_batch: 128}
cluster: {node: dgx-h100, nodes: 1}
plan: {tensor: 4}
"""
SERVICE = "apiVersion: v1\nkind: Secret\nmetadata: {name: c}\ndata: {}\n"


@pytest.fixture
def mixed(folder):
    """A folder with scenarios, manifests that name what others define, a broken one, and other files."""
    local = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q}\nspec: {clusterQueue: team}\n"
    place = folder / "all"
    place.mkdir()
    (place / "s.yaml").write_text(SCENARIO)
    (place / "local.yaml").write_text(local + "---\n" + SERVICE)
    (place / "cluster.yaml").write_text(QUEUE.replace("COHORT", "cohortName").replace("LENDS", "4"))
    (place / "pods.yaml").write_text(pod() + "---\n" + pod("small", "1"))
    (place / "notes.yaml").write_text("a: 1\n")
    (folder / "pools.yaml").write_text(POOLS)
    (place / "jobs.yaml").write_text(
        POOLS.replace("jobs: [", "jobs: [{name: big, gpus: 2, replicas: 9, duration: 1 h}, ")
    )
    return folder


def test_scenarios_and_manifests_of_a_folder_together(run, mixed, golden):
    (mixed / "all" / "broken.yaml").write_text(pod().replace("restartPolicy", "restartPolcy"))
    done = run("check", "all", "--pools", "pools.yaml", "--width", 120)
    assert done.code == 2
    assert done.text == golden(name="mixed")


@pytest.mark.parametrize("form", ["github", "junit", "sarif", "csv"])
def test_formats_of_machines_name_manifest_and_line(run, mixed, form):
    done = run("check", "all", "--pools", "pools.yaml", "--format", form)
    assert done.code == 1
    assert "unschedulable" in done.out
    assert "a pod asks for 8 GPUs, and the largest node of its pools has 2" in done.out
    assert "its pools take 4 such pods, and it needs 9" in done.out
    assert "all/jobs.yaml" in done.out
    if form in {"junit", "sarif"}:
        {"junit": check_junit, "sarif": check_sarif}[form](done.out)


def test_jobs_files_are_held_to_their_own_pools_and_quotas(run, folder, golden):
    (folder / "j.yaml").write_text(
        "pools: [{name: a, gpus: 8, nodes: 4}]\nqueues: [{name: q, quota: {gpus: 16}}]\njobs:\n"
        "  - {name: fits, gpus: 8, replicas: 2, duration: 1 h}\n"
        "  - {name: elastic, gpus: 8, replicas: 4, min_replicas: 2, duration: 1 h}\n"
        "  - {name: over, gpus: 8, replicas: 3, duration: 1 h}\n"
        "  - {name: wide, gpus: 16, duration: 1 h}\n"
    )
    done = run("check", "j.yaml", "--width", 100)
    assert done.code == 1
    assert done.text == golden(name="jobs")
    assert run("check", "research-cluster").code == 2  # names of the library are scenarios
    piped = run("check", "-", stdin=(folder / "j.yaml").read_bytes())
    assert piped.code == 1
    (folder / "j.yaml").write_text("pools: [{name: a, gpus: 8, nodes: 4}]\njobs: [{name: x, gpu: 8, duration: 1 h}]\n")
    broken = run("check", "j.yaml")
    assert broken.code == 2
    assert "did you mean 'gpus'?" in broken.err
    (folder / "j.yaml").write_text("pools: [{name: a, gpus: 8, nodes: 4}]\ntrace: {format: philly, jobs: gone.csv}\n")
    gone = run("check", "j.yaml")
    assert gone.code == 2
    assert "cannot read 'gone.csv'" in gone.err


def test_a_policy_sets_the_level_of_what_never_fits(run, mixed):
    exempt = "exempt: [{paths: ['all/*'], rules: [unschedulable], why: borrowed}]"
    for content in ("lints: {unschedulable: note}", exempt, "lints: {unschedulable: 'off'}"):
        (mixed / "policy.yaml").write_text(content + "\n")
        assert run("check", "all", "--pools", "pools.yaml", "--policy", "policy.yaml").code == 0


def test_names_are_looked_up_in_all_files(run, mixed):
    assert run("check", "all/local.yaml", "all/cluster.yaml").code == 0
    (mixed / "all" / "cluster.yaml").write_text(
        QUEUE.replace("COHORT", "cohortName").replace("LENDS", "4").replace("name: team", "name: other")
    )
    done = run("check", "all/local.yaml", "all/cluster.yaml")
    assert done.code == 2
    assert "all/local.yaml:1:" in done.err
    assert "no ClusterQueue 'team'" in done.err


def test_a_list_is_what_it_holds(run, folder):
    entry = pod().replace("\n", "\n    ").rstrip()
    broken = pod("other").replace("restartPolicy", "restartPolcy").replace("\n", "\n    ").rstrip()
    (folder / "m.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n  - {entry}\n  - {broken}\n")
    done = run("check", "m.yaml")
    assert done.code == 2
    assert "m.yaml:17:" in done.err
    assert done.err.count("error[") == 1


def test_pools_without_manifests_are_told_to_do_nothing(run, folder):
    (folder / "s.yaml").write_text(SCENARIO)
    done = run("check", "s.yaml", "--pools", "research-cluster")
    assert done.code == 0
    assert "--pools has no effect" in done.err
