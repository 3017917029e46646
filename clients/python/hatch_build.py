"""Makes the API's modules before the package is built."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Generate(BuildHookInterface):
    """Calls generate.py in a checkout; a source distribution brings what it makes."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        import generate

        if generate.PROTO.is_dir():
            generate.main()
        elif not (Path(self.root) / "src/banqi_client/v1").is_dir():
            raise FileNotFoundError(f"{generate.PROTO}: the API's description is not there")
