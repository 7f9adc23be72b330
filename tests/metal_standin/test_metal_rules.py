"""The stand-in is strict: each rule of Metal's that a program breaks ends it, with the rule's name."""

from __future__ import annotations

import pytest
from standin import build, run_program

pytestmark = pytest.mark.slow

MESSAGES = {
    "alloc_of_a_reflection": "+[MTLComputePipelineReflection alloc]: only Metal makes these",
    "buffer_index": "with index 31; the largest is 30",
    "buffer_of_no_bytes": "-[MTLDevice newBufferWithLength:options:] with length 0",
    "buffer_offset": "with offset 256 into a buffer of 256 bytes",
    "bytes_too_long": "-[MTLComputeCommandEncoder setBytes:length:atIndex:] with 4097 bytes",
    "commit_twice": "-[MTLCommandBuffer commit] twice",
    "commit_with_open_encoder": "-[MTLCommandBuffer commit] with an open encoder",
    "contents_before_wait": "-[MTLBuffer contents] before waitUntilCompleted",
    "contents_of_private_buffer": "-[MTLBuffer contents] of a buffer in private storage",
    "copy_past_the_end": "of 256 bytes from 4 in a buffer of 256",
    "dispatch_without_argument": "a dispatch with nothing bound to 'words'",
    "dispatch_without_pipeline": "dispatchThreads:threadsPerThreadgroup:] without a pipeline",
    "encode_after_commit": "computeCommandEncoderWithDispatchType:] after commit",
    "encode_after_end": "setComputePipelineState:] after endEncoding",
    "encoder_never_ended": "MTLComputeCommandEncoder released without endEncoding",
    "fill_of_odd_bytes": "-[MTLBlitCommandEncoder fillBuffer:range:value:] of 7 bytes",
    "forgotten_release": "live objects at exit: MTLBuffer 1",
    "no_autorelease_pool": "MTLCommandBuffer autoreleased with no pool in place",
    "released_twice": "MTLBuffer used after its release: release",
    "selector_too_new": "newResidencySetWithDescriptor:error:] needs macOS 15.0; this is 14.0",
    "threadgroup_empty": "with an empty (32, 0, 1)",
    "threadgroup_memory_odd": "with 20 bytes, not a multiple of 16",
    "threadgroup_memory_too_big": "a dispatch with 65536 bytes of threadgroup memory",
    "threadgroup_too_big": "with a bad threadgroup size (64, 32, 1); the pipeline takes 1024 threads",
    "times_before_completion": "-[MTLCommandBuffer GPUStartTime] before it completed",
    "two_encoders": "while another encoder is open",
    "unknown_selector": "unknown selector -[MTLDevice registryID]",
    "used_after_release": "MTLBuffer used after its release: length",
    "wait_before_commit": "-[MTLCommandBuffer waitUntilCompleted] before commit",
}


def test_every_rule_has_its_message():
    listed = run_program([str(build("standin_misuse")), "--list"]).stdout.split()
    assert set(listed) == {"none", *MESSAGES}


def test_a_program_that_breaks_no_rule_ends_well():
    result = run_program([str(build("standin_misuse")), "none"])
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("rule", MESSAGES)
def test_breaking_a_rule_ends_the_program(rule: str):
    result = run_program([str(build("standin_misuse")), rule])
    assert result.returncode != 0
    assert result.stderr.startswith("metal stand-in: ")
    assert MESSAGES[rule] in result.stderr.splitlines()[0]
