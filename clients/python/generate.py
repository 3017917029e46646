#!/usr/bin/env python3
"""Makes src/banqi_client/v1, _services.py and _aio_services.py from proto/ at the top of the repository.

Needs grpcio-tools. Run by the package's build; by hand only to work on the package itself.
"""

import re
import shutil
import tempfile
from pathlib import Path

import grpc_tools
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
PROTO = HERE.parent.parent / "proto"
PACKAGE = HERE / "src" / "banqi_client"

# Numbers of fields in descriptor.proto, of which the places of comments are made.
SERVICE, METHOD = 6, 2


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        files = compile_to(Path(directory))
        move_modules(Path(directory) / "banqi" / "v1", PACKAGE / "v1")
    (PACKAGE / "v1" / "__init__.py").write_text(names(files))
    (PACKAGE / "_services.py").write_text(services(files, SYNC))
    (PACKAGE / "_aio_services.py").write_text(services(files, AIO))


def compile_to(directory: Path) -> list[FileDescriptorProto]:
    sources = sorted((PROTO / "banqi" / "v1").glob("*.proto"))
    described = directory / "described"
    arguments = [
        "protoc",
        f"-I{PROTO}",
        f"-I{Path(grpc_tools.__path__[0]) / '_proto'}",
        f"--python_out={directory}",
        f"--pyi_out={directory}",
        f"--descriptor_set_out={described}",
        "--include_source_info",
        *map(str, sources),
    ]
    if protoc.main(arguments) != 0:
        raise SystemExit("protoc failed: what it told stands above")
    return list(FileDescriptorSet.FromString(described.read_bytes()).file)


def move_modules(made: Path, wanted: Path) -> None:
    """protoc takes the package of messages for that of modules, which here is another."""
    shutil.rmtree(wanted, ignore_errors=True)
    wanted.mkdir()
    for module in made.iterdir():
        text = module.read_text()
        text = text.replace("from banqi.v1 import", "from banqi_client.v1 import")
        text = text.replace("Messages(DESCRIPTOR, 'banqi.v1.", "Messages(DESCRIPTOR, 'banqi_client.v1.")
        if module.suffix == ".pyi":
            # It also leaves out types that strict checkers want to know.
            text = text.replace("_Mapping]", "_Mapping[str, _Any]]").replace("**kwargs)", "**kwargs: _Any)")
            text = "from typing import Any as _Any\n" + text
        (wanted / module.name).write_text(text)


def names(files: list[FileDescriptorProto]) -> str:
    """A module with every message, enum and value of an enum."""
    lines = ['"""The messages of `banqi.v1`, as the API\'s description has them."""', ""]
    everything: list[str] = []
    for file in files:
        module = Path(file.name).stem + "_pb2"
        found = [message.name for message in file.message_type]
        for enum in file.enum_type:
            found += [enum.name, *(value.name for value in enum.value)]
        if found:
            lines += [f"from banqi_client.v1.{module} import (", *(f"    {name}," for name in found), ")"]
        everything += found
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in everything), "]", ""])


SYNC = {"calls": "_sync", "iterator": "Iterator", "async": "", "await": ""}
AIO = {"calls": "aio", "iterator": "AsyncIterator", "async": "async ", "await": "await "}

HEAD = '''\
"""The services, every call of which is safe to make. The comments are those of the API's description."""

from __future__ import annotations

from collections.abc import {iterator}
from typing import TYPE_CHECKING

from banqi_client import v1
from banqi_client._requests import Metadata

if TYPE_CHECKING:
    from banqi_client.{calls} import Calls
'''

CLASS = '''

class {name}:
    """{comment}"""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
'''

UNARY = '''
    {async}def {name}(self, request: v1.{request}, *, metadata: Metadata = ()) -> v1.{answer}:
        """{comment}"""
        return {await}self._calls.unary("{path}", request, v1.{answer}, metadata)
'''

STREAM = '''
    def {name}(self, request: v1.{request}, *, metadata: Metadata = ()) -> {iterator}[v1.{answer}]:
        """{comment}"""
        return self._calls.stream("{path}", request, v1.{answer}, metadata)
'''


def services(files: list[FileDescriptorProto], style: dict[str, str]) -> str:
    text = HEAD.format_map(style)
    for file in files:
        comments = {tuple(place.path): comment(place.leading_comments) for place in file.source_code_info.location}
        for at, service in enumerate(file.service):
            text += CLASS.format(name=service.name, comment=comments[SERVICE, at])
            for number, method in enumerate(service.method):
                form = STREAM if method.server_streaming else UNARY
                text += form.format(
                    name=re.sub("(?<=[a-z])(?=[A-Z])", "_", method.name).lower(),
                    request=method.input_type.rpartition(".")[2],
                    answer=method.output_type.rpartition(".")[2],
                    path=f"/{file.package}.{service.name}/{method.name}",
                    comment=comments[SERVICE, at, METHOD, number].replace("\n", "\n    "),
                    **style,
                )
    return text


def comment(text: str) -> str:
    lines = [line.strip().replace("\\", "\\\\") for line in text.strip().splitlines()]
    return "\n".join(lines[:1] + [f"    {line}" if line else "" for line in lines[1:]])


if __name__ == "__main__":
    main()
