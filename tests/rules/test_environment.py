"""Environment variables, backend switches, versions, memory, numbers and processes."""

from __future__ import annotations

import pytest

from porter.engine import rewrite_source

IMPORT = "import porter_runtime as accel\n"
Found = dict[int, set[tuple[str, str]]]


def port(text: str) -> tuple[str, Found]:
    """Port a module; return its text without the shim's import, and the findings by line."""
    result = rewrite_source(text.encode())
    assert not result.failed, result.findings
    found: Found = {}
    for f in result.findings:
        found.setdefault(f.line, set()).add((f.code, f.level.value))
    return result.output.decode().replace(IMPORT, "", 1), found


def test_a_write_of_the_visible_devices_stays_ahead_of_torch() -> None:
    text = (
        "import os\n"
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1,0"\n'
        "import torch\n"
        "x = torch.zeros(1).cuda()\n"
    )
    output = rewrite_source(text.encode()).output.decode()
    assert output == (
        "import os\n"
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1,0"\n'
        "import torch\n"
        "import porter_runtime as accel\n"
        "x = torch.zeros(1).to(accel.device_type)\n"
    )
    assert port(text)[1][2] == {("PTR604", "manual")}


def test_allocator_settings_are_noted_and_precede_the_shim() -> None:
    text = (
        'import os\nos.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"\n'
        "import torch\nx = torch.zeros(1).cuda()\n"
    )
    lines = rewrite_source(text.encode()).output.decode().splitlines()
    assert lines.index("import porter_runtime as accel") > 1
    message = next(f.message for f in rewrite_source(text.encode()).findings if f.line == 2)
    assert "PYTORCH_NPU_ALLOC_CONF" in message


@pytest.mark.parametrize(
    "write",
    [
        'os.environ["CUDA_VISIBLE_DEVICES"] = ids',
        'os.environ.setdefault("CUDA_VISIBLE_DEVICES", ids)',
        'os.environ.pop("CUDA_VISIBLE_DEVICES", None)',
        'os.environ.update({"CUDA_VISIBLE_DEVICES": ids})',
        "os.environ.update(CUDA_VISIBLE_DEVICES=ids)",
        'os.putenv("CUDA_VISIBLE_DEVICES", ids)',
        'del os.environ["CUDA_VISIBLE_DEVICES"]',
    ],
)
def test_a_file_that_writes_the_visible_devices_keeps_its_reads(write: str) -> None:
    read = 'return os.getenv("CUDA_VISIBLE_DEVICES")'
    text = f"import os, torch\ndef f(ids):\n    {write}\n    {read}\n"
    ported, found = port(text)
    assert ported == text
    assert ("PTR604", "manual") in found[3]
    assert ("PTR604", "manual") in found[4]


def test_reads_of_the_visible_devices_ask_for_the_machines_own_variable() -> None:
    ported, _ = port(
        "import os\nimport torch\n"
        "n = len(os.environ.get('CUDA_VISIBLE_DEVICES', '').split(','))\n"
        "print(f\"{os.environ['CUDA_VISIBLE_DEVICES']}\")\n"
        'if "CUDA_VISIBLE_DEVICES" not in os.environ:\n    n = torch.cuda.device_count()\n'
    )
    assert ported == (
        "import os\nimport torch\n"
        "n = len(os.environ.get(accel.visible_devices_env, '').split(','))\n"
        'print(f"{os.environ[accel.visible_devices_env]}")\n'
        "if accel.visible_devices_env not in os.environ:\n    n = accel.device_count()\n"
    )


def test_harmless_settings_are_noted_and_checks_are_not() -> None:
    text = (
        "import os\n"
        "os.environ['NCCL_DEBUG'] = 'INFO'\n"
        "os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n"
        "assert 'CUDA_DEVICE_MAX_CONNECTIONS' in os.environ\n"
        "os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\n"
        "os.environ['NVTE_FLASH_ATTN'] = '0'\n"
    )
    ported, found = port(text)
    assert ported == text
    assert found == {
        2: {("PTR604", "note")},
        3: {("PTR604", "note")},
        4: {("PTR604", "manual")},
        5: {("PTR604", "note")},
        6: {("PTR604", "note")},
    }


def test_cudnn_flags_stay() -> None:
    text = (
        "import torch\n"
        "torch.backends.cudnn.benchmark = True\n"
        "torch.backends.cudnn.deterministic = False\n"
    )
    ported, found = port(text)
    assert ported == text
    assert {level for on_line in found.values() for _, level in on_line} <= {"note"}


def test_tf32_flags_stay_beside_ported_code() -> None:
    ported, found = port(
        "import torch\nx = x.cuda()\n"
        "torch.backends.cuda.matmul.allow_tf32 = True\ntorch.backends.cudnn.allow_tf32 = True\n"
    )
    assert ported == (
        "import torch\nx = x.to(accel.device_type)\n"
        "torch.backends.cuda.matmul.allow_tf32 = True\ntorch.backends.cudnn.allow_tf32 = True\n"
    )
    assert found[3] == found[4] == {("PTR605", "note")}


def test_a_test_for_nvidia_is_left_to_a_person() -> None:
    text = (
        "import torch\nif torch.version.cuda is not None:\n    f()\n"
        "major = float(torch.version.cuda)\nprint('CUDA', torch.version.cuda)\n"
    )
    ported, found = port(text)
    assert ported == text
    assert found == {
        2: {("PTR606", "manual")},
        4: {("PTR606", "manual")},
        5: {("PTR606", "note")},
    }


def test_forked_workers_are_pointed_out() -> None:
    ported, found = port(
        "import multiprocessing as mp, torch\n"
        "def w(): return torch.zeros(1).cuda()\n"
        'if __name__ == "__main__":\n'
        '    mp.get_context("fork").Process(target=w).start()\n'
    )
    assert "def w(): return torch.zeros(1).to(accel.device_type)\n" in ported
    assert 'mp.get_context("fork")' in ported
    assert found[4] == {("PTR608", "manual")}


@pytest.mark.parametrize(
    ("test", "ported_test"),
    [
        ("'out of memory' in str(e)", "accel.is_out_of_memory(e)"),
        ('"CUDA out of memory" in str(e)', "accel.is_out_of_memory(e)"),
        ('"CUDA error: out of memory" in repr(e)', "accel.is_out_of_memory(e)"),
        ("'out of memory' in str(e).lower()", "accel.is_out_of_memory(e)"),
        ("'out of memory' not in e.args[0]", "not accel.is_out_of_memory(e)"),
        ("'out of memory' in str(e) or retry", "accel.is_out_of_memory(e) or retry"),
    ],
)
def test_running_out_of_memory_is_recognised_by_the_exception(test: str, ported_test: str) -> None:
    head = "try:\n    f()\nexcept RuntimeError as e:\n    if "
    ported, _ = port(f"{head}{test}:\n        g()\n")
    assert ported == f"{head}{ported_test}:\n        g()\n"


def test_a_list_of_texts_is_pointed_out_line_by_line() -> None:
    text = (
        "texts = [\n"
        '    "CUDA out of memory.",  # CUDA OOM\n'
        '    "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED.",\n'
        "]\n"
        "if any(t in e.args[0] for t in texts):\n    pass\n"
    )
    ported, found = port(text)
    assert ported == text
    assert ("PTR602", "manual") in found[2]


def test_pinned_memory() -> None:
    ported, found = port(
        "from torch.utils.data import DataLoader\nimport torch\n"
        "a = DataLoader(ds, pin_memory=True, num_workers=4)\n"
        'b = DataLoader(ds, pin_memory=torch.cuda.is_available(), pin_memory_device="cuda")\n'
        "c = torch.empty(4, pin_memory=True).cuda(non_blocking=True)\n"
        "d = {k: v.pin_memory() for k, v in batch.items()}\n"
    )
    assert ported == (
        "from torch.utils.data import DataLoader\nimport torch\n"
        "a = DataLoader(ds, pin_memory=True, num_workers=4)\n"
        "b = DataLoader(ds, pin_memory=accel.is_available(), pin_memory_device=accel.device_type)\n"
        "c = torch.empty(4, pin_memory=accel.is_available())"
        ".to(accel.device_type, non_blocking=True)\n"
        "d = {k: accel.pin_memory(v) for k, v in batch.items()}\n"
    )
    assert found[3] == {("PTR601", "note")}


def test_a_checkpoint_is_loaded_onto_the_device_that_is_there() -> None:
    ported, found = port(
        'import torch\nsd = torch.load("m.pt")\n'
        'sd2 = torch.load("m.pt", map_location="cuda:0", weights_only=True)\n'
    )
    assert 'sd = torch.load("m.pt", map_location=accel.map_location)\n' in ported
    assert "map_location=accel.torch_device(0), weights_only=True)" in ported
    assert found[2] == {("PTR603", "rewritten")}


def test_float64_is_kept_and_noted() -> None:
    ported, found = port(
        "import torch\nt = torch.from_numpy(a).double().cuda()\n"
        'z = torch.zeros(4, dtype=torch.float64, device="cuda")\n'
        "u = x.cuda().double()\nv = x.double()\n"
    )
    assert ported == (
        "import torch\nt = torch.from_numpy(a).double().to(accel.device_type)\n"
        "z = torch.zeros(4, dtype=torch.float64, device=accel.device_type)\n"
        "u = x.to(accel.device_type).double()\nv = x.double()\n"
    )
    assert all(("PTR607", "note") in found[line] for line in (2, 3, 4))
    assert 5 not in found


def test_channels_last_is_kept_and_pointed_out() -> None:
    ported, found = port(
        "import torch\nmodel = model.cuda().to(memory_format=torch.channels_last)\n"
    )
    assert ported == (
        "import torch\nmodel = model.to(accel.device_type).to(memory_format=torch.channels_last)\n"
    )
    assert ("PTR607", "manual") in found[2]


def test_compiling_for_a_device_is_pointed_out_and_its_insides_are_ported() -> None:
    ported, found = port(
        'import torch\nnet = torch.compile(net, backend="inductor", mode="max-autotune")\n'
        "net = torch.compile(net.cuda())\n"
    )
    assert ported == (
        'import torch\nnet = torch.compile(net, backend="inductor", mode="max-autotune")\n'
        "net = torch.compile(net.to(accel.device_type))\n"
    )
    assert found[2] == {("PTR609", "manual")}
    assert ("PTR609", "manual") in found[3]


def test_legacy_tensor_types_by_name() -> None:
    ported, found = port(
        "import torch\n"
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n"
        "if t.type() == 'torch.cuda.HalfTensor':\n    pass\n"
        'y = x.type("torch.cuda.LongTensor")\n'
    )
    assert ported == (
        "import torch\n"
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n"
        "if accel.is_accelerator(t) and isinstance(t, accel.HalfTensor):\n    pass\n"
        "y = x.type(accel.LongTensor)\n"
    )
    assert found[2] == {("PTR111", "manual")}
