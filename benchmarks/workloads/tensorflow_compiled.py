"""The compiled workloads in TensorFlow's words. One source serves `tensorflow` and `tapeflow`.

Each function takes the imported library and its compiler, which is `tf.function` with or without
`jit_compile`, and returns a function that does the work once and waits for its end. Data are
arguments of the compiled function: what it took from around it could be computed with in advance.
"""

from __future__ import annotations

import inputs


def chain(tf, compiled):
    @compiled
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(inputs.CHAIN_LENGTH):
                y = tf.sin(y) * x
            total = tf.reduce_sum(y)
        return tape.gradient(total, x)

    return _waiting(tf, gradient, [tf.constant(inputs.chain())], [])


def call_one(tf, compiled):
    @compiled
    def function(x):
        return x * 2.0 + 1.0

    x = function(tf.constant(inputs.chain()))
    return _calling(function, x, [])


def call_step(tf, compiled):
    variables = [tf.Variable(inputs.chain()) for _ in range(4)]

    @compiled
    def function(x):
        for variable in variables:
            variable.assign_sub(x * inputs.LEARNING_RATE)
        return x + 1.0

    x = function(tf.constant(inputs.chain()))
    return _calling(function, x, variables)


def mlp(tf, compiled):
    layers, images, labels = inputs.mlp()
    parameters = [tf.Variable(array) for layer in layers for array in layer]

    def loss_of(images, labels):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = tf.nn.relu(tf.matmul(images, w1) + b1)
        hidden = tf.nn.relu(tf.matmul(hidden, w2) + b2)
        logits = tf.matmul(hidden, w3) + b3
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    return _training(tf, compiled, parameters, loss_of, [images, labels])


def computed(tf, compiled):
    """The MLP with labels that follow from floats when the step runs."""
    layers, images, labels = inputs.mlp()
    parameters = [tf.Variable(array) for layer in layers for array in layer]

    def loss_of(images, scores):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = tf.nn.relu(tf.matmul(images, w1) + b1)
        hidden = tf.nn.relu(tf.matmul(hidden, w2) + b2)
        logits = tf.matmul(hidden, w3) + b3
        labels = tf.cast(tf.sqrt(tf.square(scores)), tf.int32)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    scores = labels.astype(images.dtype)
    return _training(tf, compiled, parameters, loss_of, [images, scores])


def embedding(tf, compiled):
    arrays, ids, labels = inputs.embedding()
    parameters = [tf.Variable(array) for array in arrays]

    def loss_of(ids, labels):
        table, weights, bias = parameters
        means = tf.reduce_mean(tf.gather(table, ids), axis=1)
        logits = tf.matmul(means, weights) + bias
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    return _training(tf, compiled, parameters, loss_of, [ids, labels])


def cnn(tf, compiled):
    arrays, images, labels = inputs.cnn()
    parameters = [tf.Variable(array) for array in arrays]

    def layer(x, filters, bias):
        x = tf.nn.relu(tf.nn.conv2d(x, filters, strides=1, padding="SAME") + bias)
        return tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")

    def loss_of(images, labels):
        filters1, bias1, filters2, bias2, weights, bias = parameters
        h = layer(layer(images, filters1, bias1), filters2, bias2)
        logits = tf.matmul(tf.reshape(h, [images.shape[0], -1]), weights) + bias
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    return _training(tf, compiled, parameters, loss_of, [images, labels], rate=inputs.GENTLE_RATE)


def transformer(tf, compiled):
    arrays, x, target = inputs.transformer()
    parameters = {name: tf.Variable(array) for name, array in arrays.items()}
    batch, tokens, width = x.shape
    head = width // inputs.HEADS

    def norm(x, name):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        centred = x - mean
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        scaled = centred * tf.math.rsqrt(variance + 1e-5)
        return scaled * parameters[f"{name}.gain"] + parameters[f"{name}.bias"]

    def dense(x, name):
        return tf.matmul(x, parameters[f"{name}.weights"]) + parameters[f"{name}.bias"]

    def attention(x):
        qkv = tf.reshape(dense(x, "qkv"), [batch, tokens, 3, inputs.HEADS, head])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        scores = tf.matmul(q, k, transpose_b=True) * head**-0.5
        mixed = tf.matmul(tf.nn.softmax(scores), v)
        mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch * tokens, width])
        return dense(mixed, "out")

    def loss_of(x, target):
        # Tokens as rows of a matrix: products of matrices are what every library does best.
        h = tf.reshape(x, [batch * tokens, width])
        h = h + attention(norm(h, "norm1"))
        inner = tf.nn.gelu(dense(norm(h, "norm2"), "up"), approximate=True)
        h = h + dense(inner, "down")
        errors = tf.square(h - tf.reshape(target, [batch * tokens, width]))
        return tf.reduce_mean(tf.reduce_sum(errors, axis=-1))

    return _training(
        tf, compiled, list(parameters.values()), loss_of, [x, target], rate=inputs.GENTLE_RATE
    )


def lstm(tf, compiled):
    """A loop in Python, which the trace unrolls."""
    arrays, xs = inputs.long_lstm()
    parameters = [tf.Variable(array) for array in arrays]

    def loss_of(xs):
        h = c = tf.zeros(xs.shape[1:])
        for x in tf.unstack(xs):
            h, c = _cell(tf, parameters, x, h, c)
        return tf.reduce_mean(tf.reduce_sum(tf.square(h), axis=-1))

    return _training(tf, compiled, parameters, loss_of, [xs])


def lstm_loop(tf, compiled):
    """A loop in the graph, as AutoGraph makes it from `for t in tf.range(n)`."""
    arrays, xs = inputs.long_lstm()
    parameters = [tf.Variable(array) for array in arrays]

    def loss_of(xs):
        h = c = tf.zeros(xs.shape[1:])
        for t in tf.range(inputs.LSTM_STEPS):
            h, c = _cell(tf, parameters, xs[t], h, c)
        return tf.reduce_mean(tf.reduce_sum(tf.square(h), axis=-1))

    return _training(tf, compiled, parameters, loss_of, [xs])


def adam(tf, compiled):
    arrays = inputs.adam()
    parameters, means, squares = ([tf.Variable(array) for array in arrays[i]] for i in (0, 2, 3))
    gradients = [tf.constant(array) for array in arrays[1]]
    count = tf.Variable(0.0)
    rate, beta1, beta2, epsilon = inputs.ADAM.values()

    @compiled
    def update(gradients):
        count.assign_add(1.0)
        scale1 = 1.0 / (1.0 - beta1**count)
        scale2 = 1.0 / (1.0 - beta2**count)
        for p, g, m, s in zip(parameters, gradients, means, squares, strict=True):
            m.assign(beta1 * m + (1 - beta1) * g)
            s.assign(beta2 * s + (1 - beta2) * tf.square(g))
            p.assign_sub(rate * (m * scale1) / (tf.sqrt(s * scale2) + epsilon))
        return count + 0.0

    variables = [count, *parameters, *means, *squares]
    return _waiting(tf, update, [gradients], variables, result_of=lambda _: parameters[0])


def _cell(tf, parameters, x, h, c):
    w_input, w_state, bias = parameters
    gates = tf.matmul(x, w_input) + tf.matmul(h, w_state) + bias
    i, f, o, g = tf.split(gates, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


def _training(tf, compiled, parameters, loss_of, data, rate=inputs.LEARNING_RATE):
    @compiled
    def step(*data):
        with tf.GradientTape() as tape:
            loss = loss_of(*data)
        gradients = tape.gradient(loss, parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.assign_sub(rate * tf.convert_to_tensor(gradient))  # a table has slices
        return loss

    return _waiting(tf, step, [tf.constant(array) for array in data], parameters)


def _calling(function, x, variables):
    """Return a function that calls the compiled one. Nothing is waited for: small programs have run when it returns."""
    beginning = [variable.numpy().copy() for variable in variables]

    def step():
        return function(x)

    def restart():
        for variable, value in zip(variables, beginning, strict=True):
            variable.assign(value)

    step.restart = restart
    step.report = getattr(function, "report", None)
    return step


def _waiting(tf, function, data, variables, result_of=lambda result: result):
    """Return a function that calls the compiled one and waits for all it changes.

    TensorFlow's call returns when all is done. tapeflow's may return before: each variable is waited
    for without looking at it, because memory that is looked at cannot be written over in the next step.

    Its `restart` puts the variables back to their first values, and its `report` is tapeflow's.
    """
    lazy = tf.__name__ == "tapeflow"
    beginning = [variable.numpy().copy() for variable in variables]

    def step():
        result = function(*data)
        result.numpy()
        if lazy:
            for variable in variables:
                buffer = getattr(variable.value(), "_buffer", None)
                if buffer is not None:
                    buffer.block_until_ready()
        return result_of(result)

    def restart():
        for variable, value in zip(variables, beginning, strict=True):
            variable.assign(value)

    step.restart = restart
    step.report = getattr(function, "report", None)
    return step
