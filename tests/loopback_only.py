"""Sees whom this process tries to reach: tests are to talk to this machine alone."""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

# Hosts that are not loopback, since it was last cleared.
outside: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = str(arguments[1][0])
    elif event == "socket.getaddrinfo":
        host = str(arguments[0])
    else:
        return
    if host != "localhost" and not (_is_address(host) and ipaddress.ip_address(host).is_loopback):
        outside.append(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


sys.addaudithook(_watch)
