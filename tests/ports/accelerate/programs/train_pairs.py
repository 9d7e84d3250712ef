"""Fine-tune a tiny BERT on pairs of sentences, as Accelerate's own examples do on MRPC.

It is hard-coded for no device: which one it trains on, and how, is left to Accelerate.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
from pathlib import Path

import torch
from accelerate import Accelerator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accelerate.utils import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    gather_object,
    set_seed,
)
from torch.utils.data import DataLoader, TensorDataset
from transformers import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    BertConfig,
    BertForSequenceClassification,
    get_linear_schedule_with_warmup,
)

PAIRS = Path(__file__).parents[1] / "data" / "paraphrases.tsv"
LENGTH = 24
PAD, CLS, SEP = range(3)
Loader = DataLoader[tuple[torch.Tensor, ...]]


def encode(rows: list[dict[str, str]]) -> tuple[TensorDataset, int]:
    """Return a dataset of (input_ids, token_type_ids, attention_mask, label) and its vocabulary."""
    texts = [
        [row[key].lower().replace(",", "").split() for key in ("first", "second")] for row in rows
    ]
    words = sorted({word for pair in texts for text in pair for word in text})
    vocabulary = {word: index for index, word in enumerate(words, start=SEP + 1)}
    examples = []
    for first, second in texts:
        left = [CLS, *(vocabulary[word] for word in first), SEP]
        right = [*(vocabulary[word] for word in second), SEP]
        padding = [0] * (LENGTH - len(left) - len(right))
        kinds = [0] * len(left) + [1] * len(right) + padding
        mask = [1] * len(left + right) + padding
        examples.append((left + right + [PAD] * len(padding), kinds, mask))
    columns = [torch.tensor(column) for column in zip(*examples, strict=True)]
    labels = torch.tensor([int(row["paraphrase"]) for row in rows])
    return TensorDataset(*columns, labels), SEP + 1 + len(vocabulary)


def loaders(batch_size: int, shuffle: bool) -> tuple[Loader, Loader, int]:
    """Return the loaders of the two splits, and the size of the vocabulary."""
    with PAIRS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    dataset, words = encode(rows)
    splits = [
        torch.utils.data.Subset(dataset, [i for i, row in enumerate(rows) if row["split"] == split])
        for split in ("train", "validation")
    ]
    train = DataLoader(splits[0], batch_size=batch_size, shuffle=shuffle)
    return train, DataLoader(splits[1], batch_size=2 * batch_size), words


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed_precision", choices=["no", "fp16", "bf16"])
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
    parser.add_argument("--split_batches", action="store_true")
    parser.add_argument("--in_order", action="store_true", help="don't shuffle")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, help="end after so many batches, without evaluation")
    parser.add_argument("--save", help="where to save the state after the first epoch")
    parser.add_argument("--resume", help="a state to go on from, with the second epoch")
    parser.add_argument("--result", type=Path, help="where to write what is measured, as JSON")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    accelerator = Accelerator(
        cpu=args.cpu,
        mixed_precision=args.mixed_precision,
        gradient_accumulation_steps=args.gradient_accumulation_steps,
        split_batches=args.split_batches,
    )
    set_seed(42)
    train, validation, words = loaders(batch_size=16, shuffle=not args.in_order)
    config = BertConfig(
        vocab_size=words,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=LENGTH,
        hidden_dropout_prob=args.dropout,
        attention_probs_dropout_prob=args.dropout,
    )
    model = BertForSequenceClassification(config)
    initial = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = get_linear_schedule_with_warmup(optimizer, 20, args.epochs * len(train))
    model, optimizer, train, validation, schedule = accelerator.prepare(
        model, optimizer, train, validation, schedule
    )
    if args.resume:
        accelerator.load_state(args.resume)
    losses: list[float] = []
    accuracies: list[float] = []
    for epoch in range(1 if args.resume else 0, args.epochs):
        model.train()
        begin = len(losses)
        for ids, kinds, mask, labels in train:
            if len(losses) == args.steps:
                break
            with accelerator.accumulate(model):
                loss = model(ids, mask, kinds, labels=labels).loss
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()).mean().item())
        if len(losses) == args.steps:
            break
        model.eval()
        right: list[bool] = []
        for ids, kinds, mask, labels in validation:
            with torch.no_grad():
                predicted = model(ids, mask, kinds).logits.argmax(dim=-1)
            predicted, labels = accelerator.gather_for_metrics((predicted, labels))
            right += (predicted == labels).tolist()
        accuracies.append(sum(right) / len(right))
        mean = sum(losses[begin:]) / (len(losses) - begin)
        accelerator.print(f"epoch {epoch}: loss {mean:.4f}, accuracy {accuracies[-1]:.4f}")
        if args.save and epoch == 0:
            accelerator.save_state(args.save)
    parameters = list(model.parameters())
    state = [value for slot in optimizer.state.values() for value in slot.values()]
    changed = [
        not torch.equal(old, new.detach().cpu())
        for old, new in zip(initial, parameters, strict=True)
    ]
    result = {
        "losses": losses,
        "accuracies": accuracies,
        "evaluated": len(right) if accuracies else 0,
        "devices": gather_object([str(accelerator.device)]),
        "parameters": sorted({str(parameter.device) for parameter in parameters}),
        "moments": sorted({str(value.device) for value in state if value.dim()}),
        "changed": sum(changed) / len(changed),
        "kind": str(accelerator.distributed_type),
        "scale": accelerator.scaler.get_scale() if accelerator.scaler else None,
    }
    if accelerator.is_main_process and args.result:
        args.result.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
    gc.collect()  # the wrapped model is in cycles, and keeps the process group
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
