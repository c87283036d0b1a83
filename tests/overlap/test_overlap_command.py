"""Pieces of communication on the command line: compared, explained, refused."""

import json

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

DDP = ["ethernet-cluster", "-q", "--width", "100", "--set", "model=gpt3-350m"]
FSDP = ["lab-8gpu", "-q", "--width", "100"]
LEVELS = ["--set", "plan.zero=0", "--set", "communication.reduce_every=16"]
LATE = "communication.late_precision={compression: none, after: 80%},{compression: none, after: 20%}"
BUCKET = ["--set", "communication.bucket=25 MB"]
GOLDENS = {
    "compare buckets": ["compare", *DDP, "--vary", "communication.bucket=5 MB,25 MB,100 MB,1 GB"],
    "compare prefetch": ["compare", *FSDP, "--vary", "communication.prefetch=0,1,2"],
    "compare frequency": ["compare", *DDP, "--set", "plan.zero=0", "--vary", "communication.reduce_every=1,4,16"],
    "compare levels": ["compare", *DDP, *LEVELS, "--vary", "communication.reduce_inside_every=1,4,8"],
    "compare late": ["compare", *DDP, "--set", "communication.compression=fp8", "--vary", LATE],
    "compare pieces": ["compare", "gpt3-175b-a100", "-q", "--vary", "communication.tensor_pieces=1,4,16,64"],
    "compare contention": ["compare", *DDP, *BUCKET, "--vary", "plan.overlap.contention=0%,20%,50%"],
    "compare channels": ["compare", "llama-3-8b-h100", "-q", "--vary", "plan.overlap.channels=8,24"],
    "bad channels": ["estimate", "ethernet-cluster", "--set", "plan.overlap.channels=200"],
    "estimate buckets": ["estimate", *DDP, *BUCKET],
    "explain buckets": ["explain", *DDP, *BUCKET, "step.data.gradients", "--depth", "4"],
    "explain prefetch": ["explain", *FSDP, "--set", "communication.prefetch=1", "step.data.parameters", "--depth", "4"],
    "explain levels": [
        "explain",
        *DDP,
        *LEVELS,
        "--set",
        "communication.reduce_inside_every=4",
        "step.data.gradients",
    ],
    "explain late": [
        "explain",
        *DDP,
        "--set",
        "communication.compression=fp8",
        "--set",
        "communication.late_precision={compression: none, after: 80%}",
        "step.data.gradients",
    ],
    "explain contention": ["explain", *DDP, "--set", "plan.overlap.contention=20%", "plan.contention"],
    "explain memory": ["explain", *FSDP, "--set", "communication.prefetch=3", "memory.gathered", "--depth", "2"],
    "small buckets": ["estimate", "ethernet-cluster", "--set", "communication.bucket=1 MB", "--format", "csv"],
    "bad buckets": ["estimate", "lab-8gpu", *BUCKET, "--set", "communication.prefetch=x"],
    "buckets of sharded layers": ["estimate", "lab-8gpu", *BUCKET],
    "nothing to gather": ["estimate", "ethernet-cluster", "--set", "communication.prefetch=1"],
    "bad levels": ["estimate", "ethernet-cluster", "--set", "communication.reduce_inside_every=4"],
    "bad late": ["estimate", "ethernet-cluster", "--set", "communication.late_precision={compression: fp61, after: 2}"],
    "bad pieces": ["estimate", "mixtral-8x7b-h100", "--set", "communication.tensor_pieces=4"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, folder, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "ethernet-cluster", "--set", "communication.bucket=1 MB"],
        ["explain", *DDP, *BUCKET, "step.data.gradients", "--depth", "4"],
        ["compare", *FSDP, "--vary", "communication.prefetch=0,1"],
    ],
)
def test_documents_are_of_their_schema(arguments, run, folder):
    done = run(*arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    assert ("AIP322" in {warning["code"] for warning in content["warnings"]}) == ("1 MB" in arguments[-1])
