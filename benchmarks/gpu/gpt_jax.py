"""The same GPT in plain JAX: `jax.jit` with donation, and cuDNN's attention where there is a GPU."""

from __future__ import annotations

import functools

import gpt_config
import jax
import jax.numpy as jnp


def make(c: gpt_config.Config):
    """A function that does one training step and returns the loss."""
    tokens, targets = map(jnp.asarray, gpt_config.batch(c))
    head = c.width // c.heads
    implementation = "cudnn" if jax.default_backend() == "gpu" else None

    def norm(x, gain, bias):
        wide = x.astype(jnp.float32)
        mean = wide.mean(-1, keepdims=True)
        variance = jnp.square(wide - mean).mean(-1, keepdims=True)
        return ((wide - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias).astype(jnp.bfloat16)

    def forward(p):
        half = jax.tree.map(lambda v: v.astype(jnp.bfloat16), p)
        x = half["wte"][tokens] + half["wpe"]
        for i in range(c.layers):
            h = norm(x, p[f"{i}.ln1.g"], p[f"{i}.ln1.b"])
            q, k, v = jnp.split(h @ half[f"{i}.qkv.w"] + half[f"{i}.qkv.b"], 3, axis=-1)
            q, k, v = (z.reshape(c.batch, c.tokens, c.heads, head) for z in (q, k, v))
            a = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=implementation)
            a = a.reshape(c.batch, c.tokens, c.width)
            x = x + (a @ half[f"{i}.proj.w"] + half[f"{i}.proj.b"])
            h = norm(x, p[f"{i}.ln2.g"], p[f"{i}.ln2.b"])
            h = jax.nn.gelu(h @ half[f"{i}.up.w"] + half[f"{i}.up.b"], approximate=True)
            x = x + (h @ half[f"{i}.down.w"] + half[f"{i}.down.b"])
        x = norm(x, p["lnf.g"], p["lnf.b"])
        logits = (x @ half["wte"].T).astype(jnp.float32)
        picked = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
        return (jax.nn.logsumexp(logits, axis=-1) - picked).mean()

    @functools.partial(jax.jit, donate_argnums=(0,))
    def step(state):
        weights, first, second, count = state
        loss, gradients = jax.value_and_grad(forward)(weights)
        count = count + 1
        rate = c.learning_rate * jnp.sqrt(1 - c.beta2**count) / (1 - c.beta1**count)
        new_w, new_m, new_v = {}, {}, {}
        for k, w in weights.items():
            g = gradients[k]
            m = new_m[k] = c.beta1 * first[k] + (1 - c.beta1) * g
            v = new_v[k] = c.beta2 * second[k] + (1 - c.beta2) * jnp.square(g)
            decay = c.learning_rate * c.decay if w.ndim > 1 else 0.0
            new_w[k] = w - rate * m / (jnp.sqrt(v) + c.epsilon) - decay * w
        return (new_w, new_m, new_v, count), loss

    weights = {k: jnp.asarray(v) for k, v in gpt_config.parameters(c).items()}
    state = [
        (
            weights,
            jax.tree.map(jnp.zeros_like, weights),
            jax.tree.map(jnp.zeros_like, weights),
            jnp.float32(0),
        )
    ]

    def run():
        state[0], loss = step(state[0])
        return loss

    return run
