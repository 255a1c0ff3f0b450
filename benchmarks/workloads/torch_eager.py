"""The workloads in PyTorch's words: plain tensors, `autograd.grad`, updates in place.

Each function takes the imported library and returns a function that does the work once.
"""

from __future__ import annotations

import inputs


def chain(torch):
    x = torch.tensor(inputs.chain(), requires_grad=True)

    def step():
        y = x
        for _ in range(inputs.CHAIN_LENGTH):
            y = torch.sin(y) * x
        return torch.autograd.grad(y.sum(), x)[0]

    return step


def mlp(torch):
    functional = torch.nn.functional
    layers, images, labels = inputs.mlp()
    parameters = [array for layer in layers for array in linear(torch, layer)]
    w1, b1, w2, b2, w3, b3 = parameters
    images, labels = torch.tensor(images), torch.tensor(labels, dtype=torch.int64)

    def step():
        hidden = functional.relu(functional.linear(images, w1, b1))
        hidden = functional.relu(functional.linear(hidden, w2, b2))
        loss = functional.cross_entropy(functional.linear(hidden, w3, b3), labels)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.sub_(gradient, alpha=inputs.LEARNING_RATE)
        return loss.detach()

    return step


def rnn(torch):
    functional = torch.nn.functional
    w_input, w_state, bias, xs, h0 = inputs.rnn()
    w_input, bias = linear(torch, (w_input, bias))
    w_state = torch.tensor(w_state.T.copy(), requires_grad=True)
    parameters = [w_input, w_state, bias]
    xs, h0 = [torch.tensor(x) for x in xs], torch.tensor(h0)

    def step():
        h = h0
        for x in xs:
            h = torch.tanh(functional.linear(x, w_input, bias) + functional.linear(h, w_state))
        return torch.autograd.grad((h * h).mean(), parameters)[1]

    return step


def deep_mlp(torch, depth):
    functional = torch.nn.functional
    layers, x = inputs.deep_mlp(depth)
    layers = [linear(torch, layer) for layer in layers]
    parameters = [parameter for layer in layers for parameter in layer]
    x = torch.tensor(x)

    def step():
        h = x
        for weights, bias in layers:
            h = functional.relu(functional.linear(h, weights, bias))
        return torch.autograd.grad(h.mean(), parameters)[0]

    return step


def linear(torch, layer):
    """Return weights as `functional.linear` wants them, one row an output, and the bias."""
    weights, bias = layer
    return (
        torch.tensor(weights.T.copy(), requires_grad=True),
        torch.tensor(bias, requires_grad=True),
    )
