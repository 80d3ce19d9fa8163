"""Ebb from Python: a client of the HTTP API, and workers that run handlers."""

from .client import Client, Problem
from .worker import Context, Displaced, Failure, Pause, Result, Stopped, Worker

__all__ = ["Client", "Context", "Displaced", "Failure", "Pause", "Problem", "Result", "Stopped", "Worker"]
__version__ = "0.1.0"
