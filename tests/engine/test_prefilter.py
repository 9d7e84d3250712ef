"""Which files are parsed at all: each site's own words suffice, and mere mentions don't."""

from __future__ import annotations

import pytest

from porter.engine import may_have_sites


@pytest.mark.parametrize(
    "text",
    [
        "x.cuda()",
        'os.environ["NCCL_DEBUG"] = "INFO"',
        'subprocess.run(["nvidia-smi"])',
        "import torch as th\nsd = th.load(p)",
        "sd = torch.load(path)",
        "sd = torch.load(\n    path,\n    map_location='cpu',\n)",
        "sd = torch.load(p, map_location=None)",
        "from torch import load",
        "from torch import nn, amp, optim",
        "net = torch.compile(net)",
        "@torch.compile\ndef f(x): ...",
        "fuse = torch.compile\n",
        "scaler = torch.amp.GradScaler()",
        "from torch import GradScaler",
        "if torch.is_autocast_enabled(): pass",
        "torch.set_autocast_enabled(True)",
        "with torch.random.fork_rng(): pass",
        "from torch.utils import cpp_extension",
        "from torch.utils.cpp_extension import load",
        "from transformers.utils import is_torch_bf16_gpu_available",
        "x = x.pin_memory()",
        "DataLoader(ds, pin_memory=True)",
        'options = {"pin_memory": True}',
        'options["pin_memory"] = True',
        "if 'out of memory' in str(e): pass",
        "m = nn.DataParallel(m)",
        "from torch.nn.parallel import DistributedDataParallel as DDP",
        "DDP(m, device_ids=[rank])",
        "DDP(m, device_ids=ids, output_device=None)",
        "dist.barrier(device_ids = [rank])",
        "wrap(m, output_device=rank)",
        "y = x.to(z.get_device())",
        'm(device_map={"": 0})',
        "m(device_map=local_rank)",
        'options["device_map"] = {"": rank}',
        "nn.SyncBatchNorm.convert_sync_batchnorm(m)",
        "m(load_in_8bit=True)",
        'options = {"load_in_4bit": use_4bit}',
        'm(attn_implementation="flash_attention_2")',
        'options["attn_implementation"] = "flash_attention_2"',
        'kind = "flash_attention_2" if fast else "sdpa"',
        "m(use_flash_attention_2=True)",
        'TrainingArguments(o, optim="paged_adamw_32bit")',
        "TrainingArguments(o, tf32=True)",
        "import pytorch_lightning as pl\npl.Trainer(gpus=2)",
        'from lightning import Trainer\nTrainer(accelerator="auto")',
        "import triton\n",
        "def f():\n    from flash_attn import flash_attn_func\n",
    ],
)
def test_a_site_is_enough(text: str) -> None:
    assert may_have_sites(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = torch.zeros(1).to(device)\n",
        'sd = torch.load(path, map_location="cpu")',
        "# faster with torch.compile, see the docs\n",
        "torch.compiler.reset()",
        "def f(device_map=None, load_in_8bit=False): ...",
        "m(device_map=device_map, load_in_8bit=load_in_8bit)",
        'm(device_map="auto")',
        "class A:\n    load_in_8bit: bool = False\n",
        'if config._attn_implementation == "flash_attention_2": pass',
        'CLASSES = {"flash_attention_2": A}',
        "DataLoader(ds, pin_memory=False)",
        "self.pin_memory = pin_memory",
        "DDP(m, device_ids=None)",
        "isinstance(m, nn.DataParallel)",
        "# may run out of memory\n",
        'TrainingArguments(o, optim="adamw_torch", tf32=False)',
        "import triton_utils\nimport apexcharts\n",
        "loop(accelerator=accelerator, gpus=2)",
    ],
)
def test_a_mention_is_not(text: str) -> None:
    assert not may_have_sites(text.encode())
