"""The module that later workers of WED-SQL import: `from WEDWorker import WEDWorkerTemplate`."""

from ebb_client.wed import WEDWorkerTemplate

__all__ = ["WEDWorkerTemplate"]
