"""Ebb from Python: a client of the HTTP API, and workers that run handlers."""

from .client import Client, Problem, TlsError
from .handlers import Failure, Pause, Result, Stopped
from .worker import Context, Displaced, Worker

__all__ = [
    "Client", "Context", "Displaced", "Failure", "Pause", "Problem", "Result", "Stopped", "TlsError",
    "Worker",
]
__version__ = "0.1.0"
