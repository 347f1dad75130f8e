#!/usr/bin/env python3
"""Writes the input of examples/llama_layer.cpp, one small layer of a LLaMA model with random weights, and its output.

    python3 make_llama_data.py [FOLDER]

Needs NumPy. Weights are float32; the output is computed from them in float64.
"""

import pathlib
import sys

import numpy

BATCH, TOKENS, ATTRIBUTES, HEADS, DEPTH, NEURONS = 8, 6, 32, 8, 4, 48


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent) / "llama_layer"
    folder.mkdir(exist_ok=True)
    random = numpy.random.default_rng(7)

    def weights(name, *shape, scale, around=0.0):
        made = (around + scale * random.standard_normal(shape)).astype(numpy.float32)
        numpy.save(folder / f"{name}.npy", made)
        return made.astype(numpy.float64)

    x = weights("x", BATCH, TOKENS, ATTRIBUTES, scale=1.0)
    attention_gain = weights("attention_gain", ATTRIBUTES, scale=0.1, around=1.0)
    network_gain = weights("network_gain", ATTRIBUTES, scale=0.1, around=1.0)
    # A head's numbers for query and key come in pairs, which the rotary position turns.
    w_q = weights("W_Q", ATTRIBUTES, HEADS, DEPTH // 2, 2, scale=ATTRIBUTES**-0.5)
    w_k = weights("W_K", ATTRIBUTES, HEADS, DEPTH // 2, 2, scale=ATTRIBUTES**-0.5)
    w_v = weights("W_V", ATTRIBUTES, HEADS, DEPTH, scale=ATTRIBUTES**-0.5)
    w_o = weights("W_O", HEADS, DEPTH, ATTRIBUTES, scale=(HEADS * DEPTH) ** -0.5)
    w_gate = weights("W_gate", ATTRIBUTES, NEURONS, scale=ATTRIBUTES**-0.5)
    w_up = weights("W_up", ATTRIBUTES, NEURONS, scale=ATTRIBUTES**-0.5)
    w_down = weights("W_down", NEURONS, ATTRIBUTES, scale=NEURONS**-0.5)

    def normalised(values, gain):
        return values * gain / numpy.sqrt(numpy.mean(values**2, axis=-1, keepdims=True) + 1e-5)

    def turned(pairs):
        angle = numpy.arange(TOKENS)[:, None] * 10000.0 ** (-2.0 * numpy.arange(DEPTH // 2) / DEPTH)
        cosine, sine = numpy.cos(angle)[:, None, :], numpy.sin(angle)[:, None, :]
        first, second = pairs[..., 0], pairs[..., 1]
        return numpy.stack([first * cosine - second * sine, first * sine + second * cosine], axis=-1)

    inner = normalised(x, attention_gain)
    query = turned(numpy.einsum("bsa,ahrc->bshrc", inner, w_q))
    key = turned(numpy.einsum("bsa,ahrc->bshrc", inner, w_k))
    value = numpy.einsum("bsa,ahd->bshd", inner, w_v)
    scores = numpy.einsum("bshrc,bthrc->bhst", query, key) / numpy.sqrt(DEPTH)
    scores = numpy.where(numpy.tril(numpy.ones((TOKENS, TOKENS), dtype=bool)), scores, -numpy.inf)
    shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    x = x + numpy.einsum("bhst,bthd,hda->bsa", shares, value, w_o)
    inner = normalised(x, network_gain)
    gate = inner @ w_gate
    y = x + (gate / (1 + numpy.exp(-gate)) * (inner @ w_up)) @ w_down
    numpy.save(folder / "y.npy", y.astype(numpy.float32))
    print(f"NumPy {numpy.__version__}, largest output {numpy.abs(y).max():.4f}")


if __name__ == "__main__":
    main()
