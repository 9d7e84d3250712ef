"""Hugging Face's Trainer on a tiny random BERT; its argument is the output directory."""

from __future__ import annotations

import sys

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
)

from tests.emulated.device import DEVICE


class Sentences(Dataset[dict[str, Tensor]]):
    """Two classes of sentences with different words."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        label = index % 2
        words = torch.Generator().manual_seed(index)
        ids = torch.randint(2, 32, (12,), generator=words) + 30 * label
        return {"input_ids": ids, "labels": torch.tensor(label)}


torch.manual_seed(0)
model = BertForSequenceClassification(
    BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=32,
    )
)
before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
arguments = TrainingArguments(
    sys.argv[1],
    per_device_train_batch_size=8,
    num_train_epochs=4,
    learning_rate=5e-3,
    logging_steps=4,
    save_strategy="no",
    report_to=[],
    fp16=True,
)
trainer = Trainer(model, arguments, train_dataset=Sentences())
trainer.train()

losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
assert float(losses[-1]) < float(losses[0]), losses
assert arguments.device.type == DEVICE
for name, parameter in model.named_parameters():
    assert parameter.device.type == DEVICE, name
    # The rows of tokens that never occur, and of the one segment that does, may stay.
    assert not torch.equal(before[name], parameter.detach().cpu()), name
print("done")
