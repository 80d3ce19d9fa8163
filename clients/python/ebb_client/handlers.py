"""What handlers raise and return, and how workers keep them: the same for every kind of worker."""

import inspect
import json
import re
import traceback

_MESSAGE_BYTES_MAX = 60_000
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def plain_text(text, bytes_max=_MESSAGE_BYTES_MAX):
    """The text as every store can keep it: without NUL and lone surrogates, and not longer."""
    text = str(text)[:bytes_max].replace("\0", "\ufffd")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.encode()[:bytes_max].decode(errors="ignore")


def json_text(output):
    """An output as JSON; an output that JSON does not have fails for good."""
    try:
        text = json.dumps(output, allow_nan=False)
        if "\\ud" in text:  # perhaps a surrogate without its other half
            json.dumps(output, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16")
        return text
    except (TypeError, ValueError, RecursionError) as error:
        raise Failure(f"The output is not JSON: {error}", code="invalid_output", permanent=True) from None


def report_of(error):
    """What a worker reports of what a handler has raised."""
    if not isinstance(error, Failure):
        message = "".join(traceback.format_exception_only(type(error), error)).strip()
        return {"message": plain_text(message), "code": "error"}
    return {**error.report, "message": plain_text(error.report["message"])}


class Failure(Exception):
    """A failure with a code. Any other exception is a failure with the code `error`. Raises ValueError if
    `code` cannot be stored."""

    def __init__(self, message, code="error", permanent=False, retry_after=None, details=None):
        super().__init__(message)
        if not _CODE.fullmatch(code):
            raise ValueError(f'A code has 1 to 64 letters, digits, "_", "-" and ".", not "{code[:100]}". '
                             f"The failure was: {message}")
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
