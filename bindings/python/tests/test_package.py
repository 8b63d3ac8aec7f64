"""The package itself: its page, its types and its version."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pratique

ROOT = Path(__file__).parent.parent


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    exec(compile(found[1], "README.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith('denied deployments.apps "web" is forbidden')
    assert second == "list(dyn) ['proxy:latest']"


def test_has_the_version_of_the_engine() -> None:
    assert f'\nversion = "{pratique.__version__}"\n' in (ROOT / "Cargo.toml").read_text()


@pytest.mark.parametrize("arguments", [["mypy", "--strict", "-p", "pratique"], ["mypy.stubtest", "pratique._engine"]])
def test_has_types(arguments: list[str]) -> None:
    assert (Path(pratique.__file__).parent / "py.typed").is_file()
    told = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)
    assert told.returncode == 0, f"{told.stdout}{told.stderr}"
