"""Makes what axolotl is to train on: a tiny random Llama, its tokenizer, records and an adapter.

Runs in axolotl's environment: `python make_inputs.py FOLDER` writes FOLDER/model,
FOLDER/records.jsonl and FOLDER/start, the same ones each time.
"""

# mypy: disable-error-code="attr-defined, import-not-found, import-untyped"
from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

RECORDS = 200
VOCABULARY = 400
THINGS = "apple river stone window garden letter candle bridge mirror basket".split()
COLOURS = "red green blue yellow white black".split()
PLACES = "on the table|under the tree|behind the house|near the lake|in the box".split("|")


def records() -> Iterator[dict[str, str]]:
    """Yields instructions with their answers, in the columns of Alpaca."""
    choose = random.Random(20)
    for _ in range(RECORDS):
        thing, colour, place = (choose.choice(words) for words in (THINGS, COLOURS, PLACES))
        fact = f"The {colour} {thing} is {place}."
        question, answer = choose.choice(
            [
                (f"Where is the {thing}?", f"It is {place}."),
                (f"What colour is the {thing}?", f"The {thing} is {colour}."),
                ("Repeat the sentence.", fact),
                (f"How many letters has the word {thing}?", f"It has {len(thing)} letters."),
            ]
        )
        yield {"instruction": question, "input": fact, "output": answer}


def tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Trains a byte-level BPE."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )


def main(folder: Path) -> None:
    lines = list(records())
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "records.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    tokens = tokenizer([text for line in lines for text in line.values()])
    torch.set_num_threads(1)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=512,
        unk_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder / "model")
    tokens.save_pretrained(folder / "model")
    lora = LoraConfig(
        r=8, lora_alpha=16, target_modules="all-linear", lora_dropout=0.0, task_type="CAUSAL_LM"
    )
    get_peft_model(model, lora).save_pretrained(str(folder / "start"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
