"""The fields of the kinds of Kubernetes that are written and read here: strict, so that a misspelt one is seen.

A table says what each field is: one of `TYPES`, a table, a list of one kind in brackets, or names to choose from in a
tuple. A name with `!` must be there. `template` stands for a pod's template.
"""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]

TEXT, WHOLE, TRUTH, QUANTITY, NAME, LABELS, AMOUNTS, ANY = (
    "text",
    "whole number",
    "true or false",
    "quantity",
    "name",
    "labels",
    "amounts",
    "anything",
)
TYPES = (TEXT, WHOLE, TRUTH, QUANTITY, NAME, LABELS, AMOUNTS, ANY)

META: Fields = {"name!": NAME, "namespace": NAME, "labels": LABELS, "annotations": LABELS}
SELECTOR: Fields = {"matchLabels": LABELS, "matchExpressions": [ANY]}
RESOURCES: Fields = {"requests": AMOUNTS, "limits": AMOUNTS, "claims": [ANY]}
CONTAINER: Fields = {
    "name!": NAME,
    "image": TEXT,
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "command": [TEXT],
    "args": [TEXT],
    "workingDir": TEXT,
    "env": [{"name!": TEXT, "value": TEXT, "valueFrom": ANY}],
    "envFrom": [ANY],
    "ports": [ANY],
    "resources": RESOURCES,
    "securityContext": ANY,
    "volumeMounts": [{"name!": NAME, "mountPath!": TEXT, "subPath": TEXT, "readOnly": TRUTH}],
    "livenessProbe": ANY,
    "readinessProbe": ANY,
}
TERM: Fields = {"topologyKey!": TEXT, "labelSelector": SELECTOR, "namespaces": [TEXT], "matchLabelKeys": [TEXT]}
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
NEAR: Fields = {REQUIRED: [TERM], PREFERRED: [{"weight!": WHOLE, "podAffinityTerm!": TERM}]}
POD: Fields = {
    "containers!": [CONTAINER],
    "initContainers": [CONTAINER],
    "restartPolicy": ("Always", "OnFailure", "Never"),
    "nodeSelector": LABELS,
    "nodeName": NAME,
    "tolerations": [
        {
            "key": TEXT,
            "operator": ("Exists", "Equal"),
            "value": TEXT,
            "effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
            "tolerationSeconds": WHOLE,
        }
    ],
    "affinity": {"nodeAffinity": ANY, "podAffinity": NEAR, "podAntiAffinity": NEAR},
    "topologySpreadConstraints": [
        {
            "maxSkew!": WHOLE,
            "topologyKey!": TEXT,
            "whenUnsatisfiable!": ("DoNotSchedule", "ScheduleAnyway"),
            "labelSelector": SELECTOR,
            "matchLabelKeys": [TEXT],
            "minDomains": WHOLE,
            "nodeAffinityPolicy": ("Honor", "Ignore"),
            "nodeTaintsPolicy": ("Honor", "Ignore"),
        }
    ],
    "priorityClassName": NAME,
    "schedulerName": NAME,
    "schedulingGates": [{"name!": TEXT}],
    "serviceAccountName": NAME,
    "hostname": NAME,
    "subdomain": NAME,
    "hostNetwork": TRUTH,
    "hostIPC": TRUTH,
    "runtimeClassName": NAME,
    "securityContext": ANY,
    "terminationGracePeriodSeconds": WHOLE,
    "volumes": [ANY],
    "imagePullSecrets": [ANY],
}
TEMPLATE: Fields = {"metadata": {"labels": LABELS, "annotations": LABELS, "name": NAME}, "spec!": POD}
JOB: Fields = {
    "template!": TEMPLATE,
    "parallelism": WHOLE,
    "completions": WHOLE,
    "completionMode": ("Indexed", "NonIndexed"),
    "backoffLimit": WHOLE,
    "backoffLimitPerIndex": WHOLE,
    "maxFailedIndexes": WHOLE,
    "podFailurePolicy": ANY,
    "successPolicy": ANY,
    "activeDeadlineSeconds": WHOLE,
    "suspend": TRUTH,
    "ttlSecondsAfterFinished": WHOLE,
    "managedBy": TEXT,
}
RUN_POLICY: Fields = {
    "cleanPodPolicy": ("All", "Running", "None"),
    "backoffLimit": WHOLE,
    "activeDeadlineSeconds": WHOLE,
    "ttlSecondsAfterFinished": WHOLE,
    "suspend": TRUTH,
    "managedBy": TEXT,
    "schedulingPolicy": {
        "minAvailable": WHOLE,
        "minResources": AMOUNTS,
        "queue": NAME,
        "priorityClass": NAME,
        "scheduleTimeoutSeconds": WHOLE,
    },
}
REPLICA: Fields = {
    "replicas": WHOLE,
    "restartPolicy": ("Always", "OnFailure", "Never", "ExitCode"),
    "template!": TEMPLATE,
}
PYTORCH: Fields = {
    "pytorchReplicaSpecs!": {"Master": REPLICA, "Worker": REPLICA},
    "nprocPerNode": TEXT,
    "elasticPolicy": {
        "minReplicas": WHOLE,
        "maxReplicas": WHOLE,
        "maxRestarts": WHOLE,
        "rdzvBackend": ("c10d", "etcd", "etcd-v2"),
        "rdzvHost": TEXT,
        "rdzvPort": WHOLE,
        "rdzvId": TEXT,
        "rdzvConf": [{"key": TEXT, "value": TEXT}],
        "nProcPerNode": WHOLE,
        "standalone": TRUTH,
        "metrics": [ANY],
    },
    "runPolicy": RUN_POLICY,
}
TRAIN: Fields = {
    "runtimeRef!": {"name!": NAME, "kind": TEXT, "apiGroup": TEXT},
    "trainer": {
        "numNodes": WHOLE,
        "numProcPerNode": WHOLE,
        "resourcesPerNode": RESOURCES,
        "image": TEXT,
        "command": [TEXT],
        "args": [TEXT],
        "env": [{"name!": TEXT, "value": TEXT, "valueFrom": ANY}],
    },
    "initializer": ANY,
    "runtimePatches": [ANY],
    "suspend": TRUTH,
    "managedBy": TEXT,
    "activeDeadlineSeconds": WHOLE,
}
JOB_SET: Fields = {
    "replicatedJobs": [
        {
            "name!": NAME,
            "replicas": WHOLE,
            "groupName": NAME,
            "template!": {"metadata": {"labels": LABELS, "annotations": LABELS}, "spec!": JOB},
            "dependsOn": [{"name!": NAME, "status!": ("Ready", "Complete")}],
        }
    ],
    "failurePolicy": {
        "maxRestarts": WHOLE,
        "restartStrategy": ("Recreate", "BlockingRecreate", "InPlaceRestart"),
        "rules": [ANY],
    },
    "successPolicy": ANY,
    "startupPolicy": ANY,
    "network": {"enableDNSHostnames": TRUTH, "subdomain": NAME, "publishNotReadyAddresses": TRUTH},
    "suspend": TRUTH,
    "managedBy": TEXT,
    "ttlSecondsAfterFinished": WHOLE,
}
VOLCANO_POLICIES = [{"event": TEXT, "events": [TEXT], "action": TEXT, "exitCode": WHOLE, "timeout": TEXT}]
VOLCANO: Fields = {
    "schedulerName": NAME,
    "minAvailable": WHOLE,
    "queue": NAME,
    "priorityClassName": NAME,
    "maxRetry": WHOLE,
    "ttlSecondsAfterFinished": WHOLE,
    "plugins": ANY,
    "volumes": [ANY],
    "policies": VOLCANO_POLICIES,
    "networkTopology": {"mode": ("hard", "soft"), "highestTierAllowed": WHOLE},
    "tasks!": [
        {
            "name": NAME,
            "replicas": WHOLE,
            "minAvailable": WHOLE,
            "maxRetry": WHOLE,
            "template!": TEMPLATE,
            "policies": VOLCANO_POLICIES,
            "topologyPolicy": TEXT,
            "dependsOn": ANY,
            "partitionPolicy": ANY,
        }
    ],
}
QUOTA_CELL: Fields = {"name!": TEXT, "nominalQuota!": QUANTITY, "borrowingLimit": QUANTITY, "lendingLimit": QUANTITY}
CLUSTER_QUEUE: Fields = {
    "cohortName": NAME,
    "namespaceSelector": SELECTOR,
    "queueingStrategy": ("StrictFIFO", "BestEffortFIFO"),
    "resourceGroups": [{"coveredResources!": [TEXT], "flavors!": [{"name!": NAME, "resources!": [QUOTA_CELL]}]}],
    "preemption": {
        "withinClusterQueue": ("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
        "reclaimWithinCohort": ("Never", "LowerPriority", "Any"),
        "borrowWithinCohort": {"policy": ("Never", "LowerPriority"), "maxPriorityThreshold": WHOLE},
    },
    "flavorFungibility": {
        "whenCanBorrow": ("Borrow", "MayStopSearch", "TryNextFlavor"),
        "whenCanPreempt": ("Preempt", "MayStopSearch", "TryNextFlavor"),
        "preference": ("BorrowingOverPreemption", "PreemptionOverBorrowing"),
    },
    "fairSharing": {"weight": QUANTITY},
    "stopPolicy": ("None", "Hold", "HoldAndDrain"),
    "admissionChecksStrategy": ANY,
    "admissionScope": ANY,
}
COHORT: Fields = {
    "parentName": NAME,
    "resourceGroups": CLUSTER_QUEUE["resourceGroups"],
    "fairSharing": CLUSTER_QUEUE["fairSharing"],
}
BUDGET: Fields = {
    "minAvailable": ANY,
    "maxUnavailable": ANY,
    "selector": SELECTOR,
    "unhealthyPodEvictionPolicy": ("IfHealthyBudget", "AlwaysAllow"),
}
TAINT: Fields = {"key!": TEXT, "value": TEXT, "effect!": ("NoSchedule", "PreferNoSchedule", "NoExecute")}
FLAVOR: Fields = {
    "nodeLabels": LABELS,
    "nodeTaints": [TAINT],
    "tolerations": POD["tolerations"],
    "topologyName": NAME,
}
LIMIT_ITEM: Fields = {
    "type!": ("Container", "Pod", "PersistentVolumeClaim"),
    "max": AMOUNTS,
    "min": AMOUNTS,
    "default": AMOUNTS,
    "defaultRequest": AMOUNTS,
    "maxLimitRequestRatio": AMOUNTS,
}
SCOPE: Fields = {
    "matchExpressions": [{"scopeName!": TEXT, "operator!": ("In", "NotIn", "Exists", "DoesNotExist"), "values": [TEXT]}]
}
QUEUE: Fields = {
    "weight": WHOLE,
    "capability": AMOUNTS,
    "deserved": AMOUNTS,
    "guarantee": {"resource": AMOUNTS},
    "reclaimable": TRUTH,
    "parent": NAME,
    "priority": WHOLE,
    "type": TEXT,
    "dequeueStrategy": ("fifo", "traverse"),
}


def _kind(spec: Fields) -> Fields:
    return {"apiVersion!": TEXT, "kind!": TEXT, "metadata!": META, "spec!": spec}


_CLASS: Fields = {"apiVersion!": TEXT, "kind!": TEXT, "metadata!": META, "value!": WHOLE, "description": TEXT}
_KUEUE = "kueue.x-k8s.io/v1beta2"

KINDS: dict[tuple[str, str], Fields] = {
    ("v1", "Pod"): _kind(POD),
    ("v1", "Namespace"): {"apiVersion!": TEXT, "kind!": TEXT, "metadata!": META},
    ("v1", "ConfigMap"): {"apiVersion!": TEXT, "kind!": TEXT, "metadata!": META, "data": ANY, "immutable": TRUTH},
    ("v1", "Service"): _kind({"clusterIP": TEXT, "selector": LABELS, "ports": [ANY], "type": TEXT}),
    ("v1", "ResourceQuota"): _kind({"hard": AMOUNTS, "scopes": [TEXT], "scopeSelector": SCOPE}),
    ("v1", "LimitRange"): _kind({"limits!": [LIMIT_ITEM]}),
    ("batch/v1", "Job"): _kind(JOB),
    ("policy/v1", "PodDisruptionBudget"): _kind(BUDGET),
    ("scheduling.k8s.io/v1", "PriorityClass"): {
        **_CLASS,
        "globalDefault": TRUTH,
        "preemptionPolicy": ("PreemptLowerPriority", "Never"),
    },
    ("kubeflow.org/v1", "PyTorchJob"): _kind(PYTORCH),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): _kind(TRAIN),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _kind(JOB_SET),
    ("batch.volcano.sh/v1alpha1", "Job"): _kind(VOLCANO),
    ("scheduling.volcano.sh/v1beta1", "Queue"): _kind(QUEUE),
    (_KUEUE, "ClusterQueue"): _kind(CLUSTER_QUEUE),
    (_KUEUE, "Cohort"): _kind(COHORT),
    (_KUEUE, "LocalQueue"): _kind(
        {"clusterQueue": NAME, "stopPolicy": CLUSTER_QUEUE["stopPolicy"], "fairSharing": ANY}
    ),
    (_KUEUE, "ResourceFlavor"): _kind(FLAVOR),
    (_KUEUE, "Topology"): _kind({"levels!": [{"nodeLabel!": TEXT}]}),
    (_KUEUE, "WorkloadPriorityClass"): _CLASS,
}
