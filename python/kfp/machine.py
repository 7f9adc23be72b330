"""The devices of this machine, by the name that ``--device`` takes."""

from __future__ import annotations

from kfp import _core, bridge, toolchain
from kfp.errors import DeviceUnavailable, ToolchainError, UsageError
from kfp.limits import Limits
from kfp.results import Device

AUTO = "auto"


def devices() -> tuple[Device, ...]:
    """Every device that kfp knows, the preferred ones first; the missing ones say why."""
    return tuple(bridge.device(info) for info in _core.list_devices(toolchain.find()))


def resolve(name: str) -> Device:
    """The device called ``name``; ``auto`` is the first available one."""
    known = devices()
    if name == AUTO:
        for device in known:
            if device.available:
                return device
        reasons = "; ".join(f"{device.name}: {device.reason}" for device in known)
        raise DeviceUnavailable(f"no device is available on this machine ({reasons})")
    for device in known:
        if device.name == name:
            if not device.available:
                raise DeviceUnavailable(f"device {name!r} is not available: {device.reason}")
            return device
    raise UsageError(f"unknown device {name!r}; there are: {', '.join([AUTO, *(device.name for device in known)])}")


def open_worker(device: Device, limits: Limits) -> _core.Worker:
    try:
        return _core.Worker(device.name, toolchain.find(), bridge.limits(limits))
    except _core.DeviceUnavailable as error:
        raise DeviceUnavailable(f"device {device.name!r} is not available: {error}") from error


def require_working(device: Device, complaint: str) -> None:
    """Raises ``ToolchainError`` with the complaint if not even an empty kernel can be compiled here."""
    try:
        with open_worker(device, Limits()) as worker:
            worker.compile("kernel void nothing() {}", check_only=True)
    except _core.Error:
        raise ToolchainError(f"device {device.name!r} can't compile anything: {complaint}") from None
