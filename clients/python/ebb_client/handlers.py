"""What handlers raise and return, and how workers keep them: the same for every kind of worker."""

import inspect


class Failure(Exception):
    """A failure with a code. Any other exception is a failure with the code `error`."""

    def __init__(self, message, code="error", permanent=False, retry_after=None, details=None):
        super().__init__(message)
        self.report = {"message": message, "code": code, "permanent": permanent}
        if retry_after is not None:
            self.report["retry_after"] = f"{int(retry_after * 1000)}ms"
        if details is not None:
            self.report["details"] = details


class Pause(Exception):
    """Ends the call without a result: the handler is called again when a signal with the step's name
    arrives."""


class Stopped(Exception):
    """The result of the call is no longer wanted."""


class Result:
    """An output that leaves its node of a graph by the edge with this handle."""

    def __init__(self, output, handle=""):
        self.output = output
        self.handle = handle


class Handlers:
    """The handlers of a worker, by name."""

    def __init__(self):
        self._handlers = {}

    def handler(self, name):
        """A decorator for `function(input)` or `function(input, context)`."""
        def add(function):
            self.add(name, function)
            return function
        return add

    def add(self, name, function):
        takes_context = len(inspect.signature(function).parameters) > 1
        self._handlers[name] = function if takes_context else lambda value, context: function(value)
