"""Connections that do not say in time what they want are closed: each may hold as much as a long address."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 20.0
"""Within which a request must be there as a whole, from its first byte or the opening of its connection."""


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with a time limit for what is received."""

    seconds = SECONDS
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.await_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.stop_waiting()

    def await_request(self) -> None:
        """Start the clock where a request is not there as a whole, and stop it where it is."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self.stop_waiting()
        elif self._limit is None:
            self._limit = self.loop.call_later(self.seconds, self.transport.close)

    def stop_waiting(self) -> None:
        """Stop the clock."""
        if self._limit is not None:
            self._limit.cancel()
        self._limit = None
