#!/usr/bin/env python3
"""Makes a checkpoint of the LLaMA architecture with random weights, and computes with it in PyTorch.

    python3 checkpoint.py FOLDER [--type float32|bfloat16|float16] [--gains float32|…] [--rope-scaling JSON]
                          [--width A --layers L …] [--prompts B --tokens S --steps N]

writes config.json and model.safetensors, the gains of normalisations in a type of their own with --gains, and with the
scaling of rotary frequencies that --rope-scaling '{"rope_type": "llama3", …}' says; with --prompts also tokens.npy
[prompt, token + step] and logits.npy [step, prompt, v], the scores behind the prompt and behind each of the tokens that
follow it, in float64. Weights are scaled so that attention looks at few tokens, and scores deviate by one and more: a
model that is wrong in a mask, a position or an index of its cache shows it. Needs NumPy and PyTorch.
"""

import argparse
import json
import math
import pathlib

import numpy
import torch
import torch.nn.functional as functional


def frequencies(n):
    """Radians a position by which pairs of a head's numbers turn, float64."""
    plain = n["rope_theta"] ** (-torch.arange(0, n["head_dim"], 2, dtype=torch.float64) / n["head_dim"])
    scaling = n.get("rope_scaling") or {"rope_type": "default"}
    rule = scaling.get("rope_type", scaling.get("type"))
    if rule == "default":
        return plain
    if rule == "linear":
        return plain / scaling["factor"]
    if rule != "llama3":
        raise ValueError(f"rope_type {rule} is not known here")
    made, trained = plain.clone(), scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    for at, each in enumerate(plain.tolist()):
        wavelength = 2 * math.pi / each
        if wavelength > trained / low:
            made[at] = each / scaling["factor"]
        elif wavelength >= trained / high:
            smooth = (trained / wavelength - low) / (high - low)
            made[at] = (1 - smooth) * each / scaling["factor"] + smooth * each
    return made


class Model:
    """As one writes it in PyTorch; `entropies` collects the entropy of attention beside a uniform one's."""

    def __init__(self, config, weights, dtype):
        self.config, self.dtype = config, dtype
        self.weights = {name: each.to(dtype) for name, each in weights.items()}
        angle = torch.arange(config["max_position_embeddings"])[:, None] * frequencies(config)
        self.cosine, self.sine = (torch.cat([f(angle)] * 2, -1).to(dtype) for f in (torch.cos, torch.sin))
        self.entropies = None

    def cache(self, batch, capacity):
        shape = (batch, self.config["num_key_value_heads"], capacity, self.config["head_dim"])
        layers = range(self.config["num_hidden_layers"])
        return [tuple(torch.zeros(shape, dtype=self.dtype) for _ in "kv") for _ in layers]

    def turned(self, x, position):
        first, second = x.chunk(2, -1)
        return x * self.cosine[position] + torch.cat((-second, first), -1) * self.sine[position]

    def __call__(self, tokens, position, cache):
        """Scores behind the last of tokens [b, s] at positions [s]; writes the cache."""
        n, w = self.config, self.weights
        batch, count = tokens.shape
        groups, depth = n["num_key_value_heads"], n["head_dim"]
        norm = lambda x, name: functional.rms_norm(x, x.shape[-1:], w[name], n["rms_norm_eps"])
        heads = lambda x: x.view(batch, count, -1, depth).transpose(1, 2)
        x = w["model.embed_tokens.weight"][tokens]
        seen = torch.arange(cache[0][0].shape[2])[None, :] <= position[:, None]
        for number, (keys, values) in enumerate(cache):
            layer = f"model.layers.{number}."
            y = norm(x, layer + "input_layernorm.weight")
            query, key, value = (
                heads(functional.linear(y, w[f"{layer}self_attn.{each}_proj.weight"])) for each in "qkv"
            )
            query = self.turned(query, position)
            keys[:, :, position] = self.turned(key, position)
            values[:, :, position] = value
            if self.entropies is not None:
                expanded = keys.repeat_interleave(query.shape[1] // groups, 1)
                scores = (query @ expanded.mT / math.sqrt(depth)).masked_fill(~seen, -math.inf)
                entropy = torch.special.entr(scores.softmax(-1)).sum(-1)[..., -1]
                self.entropies.append(float(entropy.mean()) / math.log(int(position[-1]) + 1))
            y = functional.scaled_dot_product_attention(
                query, keys, values, attn_mask=seen, enable_gqa=query.shape[1] != groups
            )
            x = x + functional.linear(
                y.transpose(1, 2).reshape(batch, count, -1), w[layer + "self_attn.o_proj.weight"]
            )
            y = norm(x, layer + "post_attention_layernorm.weight")
            gate, up = (functional.linear(y, w[f"{layer}mlp.{each}_proj.weight"]) for each in ("gate", "up"))
            x = x + functional.linear(functional.silu(gate) * up, w[layer + "mlp.down_proj.weight"])
        last = norm(x[:, -1], "model.norm.weight")
        return functional.linear(last, w["model.embed_tokens.weight" if n["tie_word_embeddings"] else "lm_head.weight"])


def random_weights(n, dtype, gains=None):
    a, f, v, d = n["hidden_size"], n["intermediate_size"], n["vocab_size"], n["head_dim"]
    heads, groups = n["num_attention_heads"] * d, n["num_key_value_heads"] * d
    torch.manual_seed(7)
    made = {}

    def normal(name, *shape, scale, around=0.0):
        made[name] = (around + scale * torch.randn(shape)).to(gains or dtype if name.endswith("norm.weight") else dtype)

    normal("model.embed_tokens.weight", v, a, scale=1.5 * a**-0.5)
    if not n["tie_word_embeddings"]:
        normal("lm_head.weight", v, a, scale=1.5 * a**-0.5)
    normal("model.norm.weight", a, scale=0.1, around=1.0)
    for number in range(n["num_hidden_layers"]):
        layer = f"model.layers.{number}."
        normal(layer + "input_layernorm.weight", a, scale=0.1, around=1.0)
        normal(layer + "post_attention_layernorm.weight", a, scale=0.1, around=1.0)
        normal(layer + "self_attn.q_proj.weight", heads, a, scale=2.0 * a**-0.5)
        normal(layer + "self_attn.k_proj.weight", groups, a, scale=2.0 * a**-0.5)
        normal(layer + "self_attn.v_proj.weight", groups, a, scale=a**-0.5)
        normal(layer + "self_attn.o_proj.weight", a, heads, scale=heads**-0.5)
        normal(layer + "mlp.gate_proj.weight", f, a, scale=a**-0.5)
        normal(layer + "mlp.up_proj.weight", f, a, scale=a**-0.5)
        normal(layer + "mlp.down_proj.weight", a, f, scale=f**-0.5)
    return made


def write(folder, n, weights):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(n, indent=2) + "\n")
    names = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}
    header, begin = {}, 0
    for name, each in weights.items():
        end = begin + each.numel() * each.element_size()
        header[name] = {"dtype": names[each.dtype], "shape": list(each.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for each in weights.values():
            out.write(each.contiguous().view(torch.uint8).numpy().tobytes())


def write_reference(folder, n, weights, prompts, tokens, steps):
    torch.manual_seed(11)
    all_tokens = torch.randint(n["vocab_size"], (prompts, tokens + steps))
    model = Model(n, weights, torch.float64)
    model.entropies = []
    cache = model.cache(prompts, tokens + steps)
    logits = [model(all_tokens[:, :tokens], torch.arange(tokens), cache)]
    for step in range(steps):
        at = tokens + step
        logits.append(model(all_tokens[:, at : at + 1], torch.tensor([at]), cache))
    logits = torch.stack(logits)
    entropy, deviation = max(model.entropies), float(logits.std())
    print(f"entropy of attention at most {entropy:.2f} of uniform, deviation of scores {deviation:.2f}")
    if entropy >= 0.5 or deviation < 1:
        print("of no use as a test: these weights make attention too even, or scores too alike")
    numpy.save(folder / "tokens.npy", all_tokens.to(torch.int32).numpy())
    numpy.save(folder / "logits.npy", logits.to(torch.float32).numpy())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    types = ("float32", "bfloat16", "float16")
    parser.add_argument("--type", choices=types, default="float32")
    parser.add_argument("--gains", choices=types, help="type of the normalisations' weights, where it is another")
    parser.add_argument("--rope-scaling", type=json.loads, help="as in config.json")
    for name, value in dict(width=32, neurons=48, layers=2, heads=8, groups=4, depth=8, vocabulary=64).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in dict(positions=128, prompts=0, tokens=56, steps=16).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--tied", action="store_true")
    asked = parser.parse_args()
    n = dict(
        architectures=["LlamaForCausalLM"],
        model_type="llama",
        hidden_act="silu",
        hidden_size=asked.width,
        intermediate_size=asked.neurons,
        num_hidden_layers=asked.layers,
        num_attention_heads=asked.heads,
        num_key_value_heads=asked.groups,
        head_dim=asked.depth,
        vocab_size=asked.vocabulary,
        max_position_embeddings=asked.positions,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        rope_scaling=asked.rope_scaling,
        attention_bias=False,
        tie_word_embeddings=asked.tied,
        torch_dtype=asked.type,
    )
    weights = random_weights(n, getattr(torch, asked.type), getattr(torch, asked.gains or asked.type))
    write(asked.folder, n, weights)
    if asked.prompts > 0:
        write_reference(asked.folder, n, weights, asked.prompts, asked.tokens, asked.steps)


if __name__ == "__main__":
    main()
