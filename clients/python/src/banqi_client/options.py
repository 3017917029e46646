"""How a client behaves, and where it finds its service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union
from urllib.parse import urlsplit

import grpc

from banqi_client.errors import BanqiError

Addresses = Union[str, Sequence[str]]
"""One address of a service, or those of its replicas: `HOST:PORT`, `http://HOST:PORT` or `https://HOST[:PORT]`."""

# What has a long log is larger than gRPC takes by default.
_LARGEST_ANSWER = 16 * 1024 * 1024

CHANNEL = [
    ("grpc.max_receive_message_length", _LARGEST_ANSWER),
    # So that a watch learns of a replica that went without a word.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A replica that was started anew is found again soon.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
]


@dataclass(frozen=True)
class Options:
    """How a client behaves."""

    api_key: str | Callable[[], str | None] | None = None
    """An API key, where the service wants one; or what gives the present one."""
    attempt: float = 5.0
    """How long one attempt of a call may take, in seconds."""
    total: float = 30.0
    """How long a call may take with all its repetitions, in seconds."""
    on_retry: Callable[[BanqiError], None] | None = None
    """Is told of every attempt that failed and is made again."""
    authorities: bytes | None = None
    """Whom to trust instead of the authorities that gRPC brings (PEM), for `https`."""
    certificate: bytes | None = None
    """The client's own certificates (PEM), for services that want one; with `key`."""
    key: bytes | None = None
    """The key of `certificate` (PEM)."""

    def present_key(self) -> str | None:
        """The API key to show now."""
        return self.api_key() if callable(self.api_key) else self.api_key


def targets(addresses: Addresses, options: Options) -> list[tuple[str, grpc.ChannelCredentials | None]]:
    """Where to connect to, and the credentials for TLS where it is to be used.

    Raises ValueError of what is no address.
    """
    written = [addresses] if isinstance(addresses, str) else list(addresses)
    if not written:
        raise ValueError("no address of a service: give one at least")
    return [_target(address, options) for address in written]


def _target(address: str, options: Options) -> tuple[str, grpc.ChannelCredentials | None]:
    parts = urlsplit(address if "://" in address else f"http://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment and parts.username is None
    if parts.scheme not in ("http", "https") or not host or not plain:
        raise ValueError(
            f"`{address}` is no address of a service: write HOST:PORT, http://HOST:PORT or https://HOST[:PORT]"
        )
    host = f"[{host}]" if ":" in host else host
    if parts.scheme == "http":
        return f"{host}:{port or 80}", None
    credentials = grpc.ssl_channel_credentials(options.authorities, options.key, options.certificate)
    return f"{host}:{port or 443}", credentials
