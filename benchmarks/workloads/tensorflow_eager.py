"""The workloads in TensorFlow's words. One source serves `tensorflow` and `tapeflow`.

Each function takes the imported library and returns a function that does the work once.
"""

from __future__ import annotations

import inputs


def chain(tf):
    x = tf.constant(inputs.chain())

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(inputs.CHAIN_LENGTH):
                y = tf.sin(y) * x
            total = tf.reduce_sum(y)
        return tape.gradient(total, x)

    return step


def mlp(tf):
    layers, images, labels = inputs.mlp()
    parameters = [tf.Variable(array) for layer in layers for array in layer]
    w1, b1, w2, b2, w3, b3 = parameters
    images, labels = tf.constant(images), tf.constant(labels)

    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(images, w1) + b1)
            hidden = tf.nn.relu(tf.matmul(hidden, w2) + b2)
            logits = tf.matmul(hidden, w3) + b3
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.assign_sub(inputs.LEARNING_RATE * gradient)
        return loss

    return step


def rnn(tf):
    w_input, w_state, bias, xs, h0 = inputs.rnn()
    parameters = [tf.Variable(w_input), tf.Variable(w_state), tf.Variable(bias)]
    w_input, w_state, bias = parameters
    xs, h0 = [tf.constant(x) for x in xs], tf.constant(h0)

    def step():
        with tf.GradientTape() as tape:
            h = h0
            for x in xs:
                h = tf.tanh(tf.matmul(x, w_input) + tf.matmul(h, w_state) + bias)
            loss = tf.reduce_mean(h * h)
        return tape.gradient(loss, parameters)[1]

    return step


def deep_mlp(tf, depth):
    layers, x = inputs.deep_mlp(depth)
    layers = [(tf.Variable(weights), tf.Variable(bias)) for weights, bias in layers]
    parameters = [parameter for layer in layers for parameter in layer]
    x = tf.constant(x)

    def step():
        with tf.GradientTape() as tape:
            h = x
            for weights, bias in layers:
                h = tf.nn.relu(tf.matmul(h, weights) + bias)
            loss = tf.reduce_mean(h)
        return tape.gradient(loss, parameters)[0]

    return step


def jacobian_cnn(tf):
    filters1, filters2, weights, images = inputs.small_cnn()
    parameters = [tf.Variable(filters1), tf.Variable(filters2), tf.Variable(weights)]
    images = tf.constant(images)

    def step():
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(images, parameters[0], strides=1, padding="SAME"))
            h = tf.nn.relu(tf.nn.conv2d(h, parameters[1], strides=2, padding="SAME"))
            scores = tf.matmul(tf.reshape(h, [images.shape[0], -1]), parameters[2])
        return tape.jacobian(scores, parameters)[0]

    return step


def jacobian_lstm(tf):
    w_input, w_state, w_out, xs = inputs.lstm()
    parameters = [tf.Variable(w_input), tf.Variable(w_state), tf.Variable(w_out)]
    xs = [tf.constant(x) for x in xs]
    width, batch = w_state.shape[0], xs[0].shape[0]

    def step():
        with tf.GradientTape() as tape:
            h = c = tf.zeros([batch, width])
            for x in xs:
                gates = tf.matmul(x, parameters[0]) + tf.matmul(h, parameters[1])
                i, f, o, g = tf.split(gates, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
            scores = tf.matmul(h, parameters[2])
        return tape.jacobian(scores, parameters)[1]

    return step


def input_pipeline(tf):
    features, labels = inputs.samples()
    data = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(labels)).batch(32)

    def step():
        samples = 0
        for _, labels in data:
            samples += labels.shape[0]
        return samples

    return step
