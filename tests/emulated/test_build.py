"""When and how the extension is built."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from porter.emulated import BuildError, build, emulated_env


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an empty cache directory, made porter's."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_importing_it_leaves_torch_alone() -> None:
    code = "import sys, porter.emulated; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_compiler_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BuildError, match=r"'no-such-compiler' isn't there: install g\+\+"):
        emulated_env("npu")
    assert not list(cache.iterdir())


def test_missing_ninja_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_path", lambda: str(cache))
    monkeypatch.setenv("CXX", sys.executable)
    with pytest.raises(BuildError, match="pip install ninja"):
        emulated_env("npu")


def test_a_failed_build_shows_the_compilers_words_and_keeps_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "broken.cpp").write_text("#error these are not the sources\n")
    monkeypatch.setattr(build, "_SOURCES", sources)
    with pytest.raises(BuildError, match="these are not the sources") as caught:
        build.library("npu")
    log = Path(str(caught.value).rpartition("All of it: ")[2])
    assert "broken.cpp" in log.read_text()
    assert not list(cache.rglob("*.so"))


def test_cuda_is_not_emulated_where_torch_has_it(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "path" / "torch"
    (package / "utils").mkdir(parents=True)
    (package / "__init__.py").write_text("from . import version")
    (package / "version.py").write_text("cuda = '12.6'")
    (package / "utils" / "cpp_extension.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    with pytest.raises(BuildError, match="needs a torch built without CUDA"):
        emulated_env("cuda")


def test_one_of_many_builds_and_the_others_wait(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Path] = []
    together = threading.Barrier(4)

    def fake_build(_backend: str, target: Path) -> None:
        built.append(target)
        target.write_bytes(b"library")

    def ask() -> None:
        together.wait()
        build.library("npu")

    monkeypatch.setattr(build, "_build", fake_build)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert build.library("npu") == built[0]


def test_the_cache_tells_torch_python_and_sources_apart(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {build._key()}
    monkeypatch.setattr("importlib.metadata.version", lambda _: "2.99.0")
    keys.add(build._key())
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-399")
    keys.add(build._key())
    sources = cache / "sources"
    sources.mkdir()
    (sources / "module.cpp").write_text("// other\n")
    monkeypatch.setattr(build, "_SOURCES", sources)
    keys.add(build._key())
    assert len(keys) == 4


def test_the_cache_is_porters_own_or_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "own"))
    assert build._cache() == tmp_path / "own"
    monkeypatch.delenv("PORTER_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert build._cache() == tmp_path / "xdg" / "porter"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build._cache() == tmp_path / ".cache" / "porter"


def test_the_environment_adds_to_the_present_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("KEPT", "yes")
    env = emulated_env("npu", devices=3, strict=True)
    assert env["PYTHONPATH"].endswith(":/somewhere")
    assert env["KEPT"] == "yes"
    assert (env["EMULATED_NPU_DEVICES"], env["EMULATED_NPU_STRICT"]) == ("3", "1")


def test_a_trace_is_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert emulated_env("npu", trace=Path("calls"))["EMULATED_TRACE"] == str(tmp_path / "calls")


def test_the_emulated_cuda_lets_another_sitecustomize_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hello')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = subprocess.run(
        [sys.executable, "-c", "import sys; print('torch' in sys.modules)"],
        env=emulated_env("cuda"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.split() == ["hello", "False"]


def test_one_sitecustomize_that_hides_the_emulated_cuda_runs_it_once(tmp_path: Path) -> None:
    env = emulated_env("cuda")
    emulated = next(Path(entry) for entry in env["PYTHONPATH"].split(":") if entry)
    (tmp_path / "sitecustomize.py").write_text(
        f"import runpy\nprint('hello')\nrunpy.run_path({str(emulated / 'sitecustomize.py')!r})\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"],
        env=env | {"PYTHONPATH": f"{tmp_path}:{env['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (child.stdout.split(), child.stderr) == (["hello", "True"], "")


def test_one_emulated_device_replaces_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", emulated_env("npu")["PYTHONPATH"])
    assert "npu" not in [
        Path(entry).name for entry in emulated_env("cuda")["PYTHONPATH"].split(":")
    ]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="one of npu, cuda, not 'tpu'"):
        emulated_env("tpu")
    with pytest.raises(ValueError, match="'npu' only"):
        emulated_env("cuda", strict=True)


def test_without_its_environment_the_package_says_how_to_get_it() -> None:
    path = emulated_env("npu")["PYTHONPATH"]
    child = subprocess.run(
        [sys.executable, "-c", "import torch_npu"],
        env={"PYTHONPATH": path, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 1
    assert "emulated_env()" in child.stderr
