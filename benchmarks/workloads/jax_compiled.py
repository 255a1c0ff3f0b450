"""The compiled workloads in JAX's words: `jax.jit`, with the old parameters' memory given to the new.

Each function takes the imported library and returns a function that does the work once. JAX
returns before its work is done, so each waits for all results.
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

    gradient = jax.jit(jax.grad(total))
    return lambda: gradient(x).block_until_ready()


def call_one(jax):
    function = jax.jit(lambda x: x * 2.0 + 1.0)
    x = function(inputs.chain())
    return lambda: function(x)


def call_step(jax):
    variables = [jax.numpy.array(inputs.chain()) for _ in range(4)]

    def update(variables, x):
        return [v - x * inputs.LEARNING_RATE for v in variables], x + 1.0

    function = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal variables
        variables, result = function(variables, x)
        return result

    x = jax.numpy.array(inputs.chain())
    x = step()
    return step


def mlp(jax):
    layers, images, labels = inputs.mlp()

    def loss_of(parameters, images, labels):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = jax.nn.relu(images @ w1 + b1)
        hidden = jax.nn.relu(hidden @ w2 + b2)
        return _cross_entropy(jax, hidden @ w3 + b3, labels)

    return _training(jax, [array for layer in layers for array in layer], loss_of, [images, labels])


def cnn(jax):
    lax = jax.lax
    parameters, images, labels = inputs.cnn()

    def layer(x, filters, bias):
        x = lax.conv_general_dilated(
            x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x + bias)
        return lax.reduce_window(x, -float("inf"), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss_of(parameters, images, labels):
        filters1, bias1, filters2, bias2, weights, bias = parameters
        h = layer(layer(images, filters1, bias1), filters2, bias2)
        return _cross_entropy(jax, h.reshape(len(images), -1) @ weights + bias, labels)

    return _training(jax, parameters, loss_of, [images, labels], rate=inputs.GENTLE_RATE)


def transformer(jax):
    jnp = jax.numpy
    parameters, x, target = inputs.transformer()
    batch, tokens, width = x.shape

    def norm(parameters, x, name):
        mean = jnp.mean(x, axis=-1, keepdims=True)
        centred = x - mean
        variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
        scaled = centred * jax.lax.rsqrt(variance + 1e-5)
        return scaled * parameters[f"{name}.gain"] + parameters[f"{name}.bias"]

    def dense(parameters, x, name):
        return x @ parameters[f"{name}.weights"] + parameters[f"{name}.bias"]

    def loss_of(parameters, x, target):
        x, target = x.reshape(-1, width), target.reshape(-1, width)
        qkv = dense(parameters, norm(parameters, x, "norm1"), "qkv")
        q, k, v = jnp.moveaxis(qkv.reshape(batch, tokens, 3, inputs.HEADS, -1), 2, 0)
        mixed = jax.nn.dot_product_attention(q, k, v).reshape(-1, width)
        x = x + dense(parameters, mixed, "out")
        inner = dense(parameters, norm(parameters, x, "norm2"), "up")
        x = x + dense(parameters, jax.nn.gelu(inner, approximate=True), "down")
        return jnp.mean(jnp.sum(jnp.square(x - target), axis=-1))

    return _training(jax, parameters, loss_of, [x, target], rate=inputs.GENTLE_RATE)


def lstm(jax):
    jnp = jax.numpy
    parameters, xs = inputs.long_lstm()

    def loss_of(parameters, xs):
        w_input, w_state, bias = parameters

        def cell(carry, x):
            h, c = carry
            i, f, o, g = jnp.split(x @ w_input + h @ w_state + bias, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros(xs.shape[1:], xs.dtype)
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), xs)
        return jnp.mean(jnp.sum(jnp.square(h), axis=-1))

    return _training(jax, parameters, loss_of, [xs])


def adam(jax):
    jnp = jax.numpy
    parameters, gradients, means, squares = jax.tree.map(jnp.asarray, inputs.adam())
    state = (parameters, means, squares, jnp.zeros((), jnp.float32))
    rate, beta1, beta2, epsilon = inputs.ADAM.values()

    def update(state, gradients):
        parameters, means, squares, count = state
        count = count + 1.0
        scale1 = 1.0 / (1.0 - beta1**count)
        scale2 = 1.0 / (1.0 - beta2**count)
        means = [beta1 * m + (1 - beta1) * g for m, g in zip(means, gradients, strict=True)]
        squares = [
            beta2 * s + (1 - beta2) * jnp.square(g) for s, g in zip(squares, gradients, strict=True)
        ]
        parameters = [
            p - rate * (m * scale1) / (jnp.sqrt(s * scale2) + epsilon)
            for p, m, s in zip(parameters, means, squares, strict=True)
        ]
        return parameters, means, squares, count

    update = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal state
        state = jax.block_until_ready(update(state, gradients))
        return state[0][0]

    return step


def _cross_entropy(jax, logits, labels):
    log_probabilities = jax.nn.log_softmax(logits)
    return -jax.numpy.mean(jax.numpy.take_along_axis(log_probabilities, labels[:, None], axis=1))


def _training(jax, parameters, loss_of, data, rate=inputs.LEARNING_RATE):
    parameters, data = jax.tree.map(jax.numpy.array, (parameters, data))

    def update(parameters, *data):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *data)
        return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients), loss

    update = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal parameters
        parameters, loss = jax.block_until_ready(update(parameters, *data))
        return loss

    return step
