"""The workloads in JAX's words, eager: `jax.grad` without `jax.jit`.

Each function takes the imported library and returns a function that does the work once. JAX
returns before its work is done, so each waits for the result.
"""

from __future__ import annotations

import inputs


def chain(jax):
    jnp = jax.numpy
    x = jnp.asarray(inputs.chain())

    def total(x):
        y = x
        for _ in range(inputs.CHAIN_LENGTH):
            y = jnp.sin(y) * x
        return jnp.sum(y)

    gradient = jax.grad(total)
    return lambda: gradient(x).block_until_ready()


def mlp(jax):
    jnp = jax.numpy
    layers, images, labels = inputs.mlp()
    parameters = [jnp.asarray(array) for layer in layers for array in layer]
    images, labels = jnp.asarray(images), jnp.asarray(labels)

    def loss_of(parameters):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = jax.nn.relu(images @ w1 + b1)
        hidden = jax.nn.relu(hidden @ w2 + b2)
        log_probabilities = jax.nn.log_softmax(hidden @ w3 + b3)
        return -jnp.mean(jnp.take_along_axis(log_probabilities, labels[:, None], axis=1))

    loss_and_gradients = jax.value_and_grad(loss_of)

    def step():
        nonlocal parameters
        loss, gradients = loss_and_gradients(parameters)
        parameters = [
            parameter - inputs.LEARNING_RATE * gradient
            for parameter, gradient in zip(parameters, gradients, strict=True)
        ]
        jax.block_until_ready(parameters)
        return loss

    return step


def rnn(jax):
    jnp = jax.numpy
    w_input, w_state, bias, xs, h0 = inputs.rnn()
    parameters = [jnp.asarray(w_input), jnp.asarray(w_state), jnp.asarray(bias)]
    xs, h0 = [jnp.asarray(x) for x in xs], jnp.asarray(h0)

    def loss_of(parameters):
        w_input, w_state, bias = parameters
        h = h0
        for x in xs:
            h = jnp.tanh(x @ w_input + h @ w_state + bias)
        return jnp.mean(h * h)

    gradient = jax.grad(loss_of)
    return lambda: jax.block_until_ready(gradient(parameters))[1]


def deep_mlp(jax, depth):
    jnp = jax.numpy
    layers, x = inputs.deep_mlp(depth)
    layers = [(jnp.asarray(weights), jnp.asarray(bias)) for weights, bias in layers]
    x = jnp.asarray(x)

    def loss_of(layers):
        h = x
        for weights, bias in layers:
            h = jax.nn.relu(h @ weights + bias)
        return jnp.mean(h)

    gradient = jax.grad(loss_of)
    return lambda: jax.block_until_ready(gradient(layers))[0][0]
