"""The same GPT in PyTorch: autocast to bfloat16, fused AdamW, eager or under `torch.compile`."""

from __future__ import annotations

import gpt_config
import torch
import torch.nn.functional as F


def make(c: gpt_config.Config, compiled: bool):
    """A function that does one training step and returns the loss."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    weights = {
        k: torch.nn.Parameter(torch.tensor(v, device=device))
        for k, v in gpt_config.parameters(c).items()
    }
    tokens, targets = (torch.tensor(x, device=device).long() for x in gpt_config.batch(c))
    head = c.width // c.heads

    def split(x):
        return x.view(c.batch, c.tokens, c.heads, head).transpose(1, 2)

    def forward():
        p = weights
        x = F.embedding(tokens, p["wte"]) + p["wpe"]
        for i in range(c.layers):
            h = F.layer_norm(x, (c.width,), p[f"{i}.ln1.g"], p[f"{i}.ln1.b"], 1e-5)
            q, k, v = F.linear(h, p[f"{i}.qkv.w"].t(), p[f"{i}.qkv.b"]).split(c.width, dim=-1)
            a = F.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=True)
            a = a.transpose(1, 2).reshape(c.batch, c.tokens, c.width)
            x = x + F.linear(a, p[f"{i}.proj.w"].t(), p[f"{i}.proj.b"])
            h = F.layer_norm(x, (c.width,), p[f"{i}.ln2.g"], p[f"{i}.ln2.b"], 1e-5)
            h = F.gelu(F.linear(h, p[f"{i}.up.w"].t(), p[f"{i}.up.b"]), approximate="tanh")
            x = x + F.linear(h, p[f"{i}.down.w"].t(), p[f"{i}.down.b"])
        x = F.layer_norm(x, (c.width,), p["lnf.g"], p["lnf.b"], 1e-5)
        logits = F.linear(x, p["wte"])
        return F.cross_entropy(logits.view(-1, c.vocabulary), targets.view(-1))

    matrices = [w for w in weights.values() if w.dim() > 1]
    vectors = [w for w in weights.values() if w.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": c.decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=c.learning_rate,
        betas=(c.beta1, c.beta2),
        eps=c.epsilon,
        fused=device == "cuda",
    )
    run_forward = torch.compile(forward) if compiled else forward

    def step():
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = run_forward()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step
