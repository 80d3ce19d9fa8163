"""The module that workers of WED-SQL import: `from BaseWorker import BaseClass`."""

from ebb_client.wed import BaseClass

__all__ = ["BaseClass"]
