"""A GPT written with `tf.GradientTape`, eager or in `tf.function`: bfloat16 compute, float32 master weights, AdamW."""

from __future__ import annotations

import gpt_config

import tapeflow as tf


def make(c: gpt_config.Config, compiled: bool = True):
    """A function that does one training step and returns the loss. Eagerly, everything is on the GPU."""
    if not compiled:
        tf.config.set_default_placement("all")
    weights = {k: tf.Variable(v, name=k) for k, v in gpt_config.parameters(c).items()}
    names = list(weights)
    first = {k: tf.Variable(tf.zeros_like(v)) for k, v in weights.items()}
    second = {k: tf.Variable(tf.zeros_like(v)) for k, v in weights.items()}
    count = tf.Variable(0.0, trainable=False)
    tokens, targets = map(tf.constant, gpt_config.batch(c))
    head = c.width // c.heads

    def norm(x, gain, bias):
        wide = tf.cast(x, tf.float32)
        mean = tf.reduce_mean(wide, axis=-1, keepdims=True)
        centred = wide - mean
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        return tf.cast(centred * tf.math.rsqrt(variance + 1e-5) * gain + bias, tf.bfloat16)

    def split(x):
        return tf.transpose(tf.reshape(x, [c.batch, c.tokens, c.heads, head]), [0, 2, 1, 3])

    def forward(p):
        half = {k: tf.cast(v, tf.bfloat16) for k, v in p.items()}
        x = tf.gather(half["wte"], tokens) + half["wpe"]
        for i in range(c.layers):
            h = norm(x, p[f"{i}.ln1.g"], p[f"{i}.ln1.b"])
            # Splitting the weights moves less memory than splitting what they give.
            parts = zip(
                tf.split(half[f"{i}.qkv.w"], 3, axis=-1),
                tf.split(half[f"{i}.qkv.b"], 3, axis=-1),
                strict=True,
            )
            q, k, v = (h @ w + b for w, b in parts)
            a = tf.nn.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=True)
            a = tf.reshape(tf.transpose(a, [0, 2, 1, 3]), [c.batch, c.tokens, c.width])
            x = x + (a @ half[f"{i}.proj.w"] + half[f"{i}.proj.b"])
            h = norm(x, p[f"{i}.ln2.g"], p[f"{i}.ln2.b"])
            h = tf.nn.gelu(h @ half[f"{i}.up.w"] + half[f"{i}.up.b"], approximate=True)
            x = x + (h @ half[f"{i}.down.w"] + half[f"{i}.down.b"])
        x = norm(x, p["lnf.g"], p["lnf.b"])
        logits = tf.matmul(x, half["wte"], transpose_b=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=tf.cast(logits, tf.float32)
        )
        return tf.reduce_mean(losses)

    def step():
        with tf.GradientTape() as tape:
            loss = forward(weights)
        gradients = tape.gradient(loss, [weights[k] for k in names])
        count.assign_add(1.0)
        rate = c.learning_rate * tf.sqrt(1.0 - c.beta2**count) / (1.0 - c.beta1**count)
        for k, g in zip(names, gradients, strict=True):
            w, m, v = weights[k], first[k], second[k]
            g = tf.convert_to_tensor(g)
            m.assign(c.beta1 * m + (1.0 - c.beta1) * g)
            v.assign(c.beta2 * v + (1.0 - c.beta2) * tf.square(g))
            decay = c.learning_rate * c.decay if len(w.shape) > 1 else 0.0
            w.assign(w - rate * m / (tf.sqrt(v) + c.epsilon) - decay * w)
        return loss

    return tf.function(step, jit_compile=True) if compiled else step
