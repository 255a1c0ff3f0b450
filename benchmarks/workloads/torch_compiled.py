"""The compiled workloads in PyTorch's words, which serve `torch.compile` and eager mode.

Each function takes the imported library and `torch.compile`, or None for eager mode, and returns a
function that does the work once. The loss is compiled with its backward pass, and so is the update
of the parameters.
"""

from __future__ import annotations

import inputs
import torch_eager


def chain(torch, compiler):
    x = torch.tensor(inputs.chain(), requires_grad=True)

    def total(x):
        y = x
        for _ in range(inputs.CHAIN_LENGTH):
            y = torch.sin(y) * x
        return y.sum()

    if compiler is not None:
        total = compiler(total)
    return lambda: torch.autograd.grad(total(x), x)[0]


def mlp(torch, compiler):
    functional = torch.nn.functional
    layers, images, labels = inputs.mlp()
    parameters = [array for layer in layers for array in torch_eager.linear(torch, layer)]
    images, labels = torch.tensor(images), torch.tensor(labels, dtype=torch.int64)

    def loss_of(parameters, images, labels):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = functional.relu(functional.linear(images, w1, b1))
        hidden = functional.relu(functional.linear(hidden, w2, b2))
        return functional.cross_entropy(functional.linear(hidden, w3, b3), labels)

    return _training(torch, compiler, parameters, loss_of, [images, labels])


def cnn(torch, compiler):
    functional = torch.nn.functional
    arrays, images, labels = inputs.cnn()
    filters1, bias1, filters2, bias2, weights, bias = arrays
    # Channels come first here, in the images and in what the dense layer gets.
    rows = weights.reshape(8, 8, 64, 10).transpose(3, 2, 0, 1).reshape(10, -1)
    arrays = [_filters(filters1), bias1, _filters(filters2), bias2, rows, bias]
    parameters = [torch.tensor(array.copy(), requires_grad=True) for array in arrays]
    images = torch.tensor(images.transpose(0, 3, 1, 2).copy())
    labels = torch.tensor(labels, dtype=torch.int64)

    def layer(x, filters, bias):
        x = functional.relu(functional.conv2d(x, filters, bias, padding="same"))
        return functional.max_pool2d(x, 2)

    def loss_of(parameters, images, labels):
        filters1, bias1, filters2, bias2, weights, bias = parameters
        h = layer(layer(images, filters1, bias1), filters2, bias2)
        logits = functional.linear(h.flatten(1), weights, bias)
        return functional.cross_entropy(logits, labels)

    return _training(
        torch, compiler, parameters, loss_of, [images, labels], rate=inputs.GENTLE_RATE
    )


def transformer(torch, compiler):
    functional = torch.nn.functional
    arrays, x, target = inputs.transformer()
    names = list(arrays)
    parameters = [
        torch.tensor(array.T.copy() if array.ndim == 2 else array, requires_grad=True)
        for array in arrays.values()
    ]
    x, target = torch.tensor(x), torch.tensor(target)
    batch, tokens, width = x.shape

    def loss_of(parameters, x, target):
        named = dict(zip(names, parameters, strict=True))

        def norm(x, name):
            return functional.layer_norm(
                x, (width,), named[f"{name}.gain"], named[f"{name}.bias"], 1e-5
            )

        def dense(x, name):
            return functional.linear(x, named[f"{name}.weights"], named[f"{name}.bias"])

        qkv = dense(norm(x, "norm1"), "qkv").view(batch, tokens, 3, inputs.HEADS, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind()
        mixed = functional.scaled_dot_product_attention(q, k, v)
        h = x + dense(mixed.transpose(1, 2).reshape(batch, tokens, width), "out")
        inner = functional.gelu(dense(norm(h, "norm2"), "up"), approximate="tanh")
        h = h + dense(inner, "down")
        return (h - target).square().sum(-1).mean()

    return _training(torch, compiler, parameters, loss_of, [x, target], rate=inputs.GENTLE_RATE)


def lstm(torch, compiler):
    functional = torch.nn.functional
    (w_input, w_state, bias), xs = inputs.long_lstm()
    parameters = [
        torch.tensor(array, requires_grad=True)
        for array in (w_input.T.copy(), w_state.T.copy(), bias)
    ]
    xs = torch.tensor(xs)

    def loss_of(parameters, xs):
        w_input, w_state, bias = parameters
        h = c = torch.zeros(xs.shape[1:])
        for x in xs.unbind():
            gates = functional.linear(x, w_input, bias) + functional.linear(h, w_state)
            i, f, o, g = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h.square().sum(-1).mean()

    return _training(torch, compiler, parameters, loss_of, [xs])


def adam(torch, compiler):
    """Written out for `torch.compile`; in eager mode PyTorch's own fused kernel is the way to do it."""
    parameters, gradients, means, squares = (
        [torch.tensor(array) for array in group] for group in inputs.adam()
    )
    rate, beta1, beta2, epsilon = inputs.ADAM.values()
    if compiler is None:
        optimizer = torch.optim.Adam(
            parameters, lr=rate, betas=(beta1, beta2), eps=epsilon, fused=True
        )
        for p, g, m, s in zip(parameters, gradients, means, squares, strict=True):
            p.grad = g
            optimizer.state[p] = {"step": torch.tensor(0.0), "exp_avg": m, "exp_avg_sq": s}

        def fused():
            optimizer.step()
            return parameters[0]

        return fused

    count = torch.zeros(())

    @compiler
    def update(parameters, gradients, means, squares, scale1, scale2):
        for p, g, m, s in zip(parameters, gradients, means, squares, strict=True):
            m.mul_(beta1).add_(g, alpha=1 - beta1)
            s.mul_(beta2).add_(g.square(), alpha=1 - beta2)
            p.sub_(rate * (m * scale1) / ((s * scale2).sqrt() + epsilon))

    def step():
        # Outside, because inside the powers would be computed again for every parameter.
        count.add_(1.0)
        scales = 1.0 / (1.0 - beta1**count), 1.0 / (1.0 - beta2**count)
        update(parameters, gradients, means, squares, *scales)
        return parameters[0]

    return step


def _filters(filters):
    """Return filters as PyTorch wants them: what comes out, what goes in, height, width."""
    return filters.transpose(3, 2, 0, 1)


def _training(torch, compiler, parameters, loss_of, data, rate=inputs.LEARNING_RATE):
    def update(parameters, gradients):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.sub_(gradient, alpha=rate)

    if compiler is not None:
        loss_of, update = compiler(loss_of), compiler(update)

    def step():
        loss = loss_of(parameters, *data)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            update(parameters, gradients)
        return loss.detach()

    return step
