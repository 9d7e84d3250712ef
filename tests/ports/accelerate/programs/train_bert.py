"""Train a tiny random BERT classifier with Accelerate and print every loss, to the last digit."""

from __future__ import annotations

import json

import torch
from accelerate import Accelerator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accelerate.utils import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    set_seed,
)
from transformers import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    BertConfig,
    BertForSequenceClassification,
    get_linear_schedule_with_warmup,
)

STEPS = 24


def main() -> None:
    accelerator = Accelerator()
    set_seed(1234)
    config = BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=16,
    )
    model = BertForSequenceClassification(config)
    generator = torch.Generator().manual_seed(7)
    labels = torch.randint(2, (8 * STEPS,), generator=generator)
    tokens = torch.randint(1, 32, (8 * STEPS, 12), generator=generator) + 32 * labels[:, None]
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(tokens, labels), batch_size=8, shuffle=True
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = get_linear_schedule_with_warmup(optimizer, 4, STEPS)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    losses = []
    model.train()
    for ids, target in loader:
        loss = model(input_ids=ids, labels=target).loss
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    if accelerator.is_main_process:
        device = str(next(model.parameters()).device)
        print(json.dumps({"losses": losses, "device": device}))


if __name__ == "__main__":
    main()
