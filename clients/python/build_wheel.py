"""The build backend (PEP 517) of this package: a wheel is an archive, and this one needs no other package to
be made. So `pip install` needs no network, whatever is installed."""

import base64
import hashlib
import pathlib
import zipfile

_NAME, _VERSION = "ebb_client", "0.1.0"
_FOLDER = pathlib.Path(__file__).parent
_WED_MODULES = ("BaseWorker.py", "WEDWorker.py")  # as the workers of WED-SQL import them
_INFO = f"{_NAME}-{_VERSION}.dist-info"
_METADATA = f"""Metadata-Version: 2.1
Name: ebb-client
Version: {_VERSION}
Summary: Workers and a client for Ebb, the durable workflow engine
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""
_WHEEL = "Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def _files():
    for path in sorted((_FOLDER / _NAME).glob("*.py")):
        yield f"{_NAME}/{path.name}", path.read_bytes()
    for name in _WED_MODULES:
        yield name, (_FOLDER / name).read_bytes()
    yield f"{_INFO}/METADATA", (_METADATA + (_FOLDER / "README.md").read_text(encoding="utf-8")).encode()
    yield f"{_INFO}/WHEEL", _WHEEL.encode()


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{_NAME}-{_VERSION}-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in _files():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(content)}\n"
            wheel.writestr(path, content)
        wheel.writestr(f"{_INFO}/RECORD", f"{record}{_INFO}/RECORD,,\n")
    return name
