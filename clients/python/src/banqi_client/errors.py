"""What calls fail with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from google.rpc import error_details_pb2, status_pb2

if TYPE_CHECKING:
    from google.protobuf.message import Message

DETAILS = "grpc-status-details-bin"


@dataclass(frozen=True)
class FieldViolation:
    """A field of a request that is wrong."""

    field: str
    """Its path."""
    description: str
    """What is wrong with it, and what would be right."""


class BanqiError(Exception):
    """A call that failed. Compare `reason`; the message is for people."""

    code: grpc.StatusCode
    """The code of gRPC."""
    message: str
    """Why, for people."""
    reason: str
    """Why, as docs/errors.md lists it: `NOT_YOUR_TURN`. Empty where it comes from no service of banqi."""
    info: Mapping[str, str]
    """What goes with the reason, like `game_id`, or `etag` and `revision`."""
    violations: tuple[FieldViolation, ...]
    """Every field that is wrong, with `INVALID_FIELDS`."""
    retry_delay: float | None
    """In how many seconds to come back, where the service says so."""

    def __init__(self, code: grpc.StatusCode, message: str, details: bytes = b"") -> None:
        """`details` is a `google.rpc.Status`, as the metadata of an answer has it."""
        super().__init__(code, message, details)
        self.code, self.message = code, message
        self.reason, self.info, self.violations, self.retry_delay = "", {}, (), None
        for detail in status_pb2.Status.FromString(details).details:
            self._take(_unpacked(detail))

    @classmethod
    def from_rpc(cls, error: grpc.RpcError) -> BanqiError:
        """What gRPC raised, as this."""
        # Every error of a call is the call, too; its class does not say so.
        call: grpc.Call = error  # type: ignore[assignment]
        details = b""
        for key, value in call.trailing_metadata() or ():
            if key == DETAILS and isinstance(value, bytes):
                details = value
        return cls(call.code(), call.details() or "", details)

    def _take(self, detail: Message | None) -> None:
        if isinstance(detail, error_details_pb2.ErrorInfo) and detail.domain == "banqi":
            self.reason, self.info = detail.reason, dict(detail.metadata)
        elif isinstance(detail, error_details_pb2.BadRequest):
            found = (FieldViolation(wrong.field, wrong.description) for wrong in detail.field_violations)
            self.violations += tuple(found)
        elif isinstance(detail, error_details_pb2.RetryInfo):
            self.retry_delay = detail.retry_delay.seconds + detail.retry_delay.nanos / 1e9

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"

    @property
    def is_transient(self) -> bool:
        """Whether the same request may do better after a while: it has one effect, however often it is sent."""
        codes = grpc.StatusCode
        if self.code in (codes.UNAVAILABLE, codes.DEADLINE_EXCEEDED):
            return True
        if self.code is codes.RESOURCE_EXHAUSTED:
            return self.retry_delay is not None
        if self.code is codes.ABORTED:
            return self.reason == "CONTENTION"
        # What a balancer makes of half an answer, where the service has said nothing itself.
        return self.code in (codes.INTERNAL, codes.UNKNOWN, codes.CANCELLED) and not self.reason


def _unpacked(detail: Message) -> Message | None:
    for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo):
        message: Message = kind()
        if detail.Is(message.DESCRIPTOR):  # type: ignore[attr-defined]
            detail.Unpack(message)  # type: ignore[attr-defined]
            return message
    return None
