"""Writes `recorded.json`: what the programs give in TensorFlow, and their gradients. Run it where TensorFlow is.

    python tests/function/autograph/record.py

The values are those that TensorFlow gives eagerly, and `compiled` says whether its AutoGraph takes the program.
"""

import importlib.util
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def main() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    sys.modules["tapeflow"] = tf
    spec = importlib.util.spec_from_file_location("programs", HERE / "programs.py")
    programs = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = programs
    spec.loader.exec_module(programs)
    recorded = {}
    for name, (function, arguments) in programs.PROGRAMS.items():
        recorded[name] = {"compiled": True, "results": []}
        for numbers in arguments:
            result = run(tf, function, numbers)
            recorded[name]["results"].append(result)
            try:
                compiled = run(tf, tf.function(function), numbers)
            except Exception as error:
                recorded[name]["compiled"] = False
                print(f"{name}: {type(error).__name__}")
            else:
                if compiled != result:
                    print(f"{name}: {compiled} compiled, {result} eagerly")
    lines = [f" {json.dumps(name)}: {json.dumps(each)}" for name, each in recorded.items()]
    (HERE / "recorded.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def run(tf, function, numbers):
    inputs = [tf.constant(x) for x in numbers]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        leaves = [tf.convert_to_tensor(x) for x in tf.nest.flatten(function(*inputs))]
        total = tf.add_n(
            [tf.reduce_sum(x) for x in leaves if x.dtype.is_floating] or [tf.constant(0.0)]
        )
    gradients = tape.gradient(total, inputs, unconnected_gradients="zero")
    return {
        "values": [x.numpy().tolist() for x in leaves],
        "gradients": [x.numpy().tolist() for x in gradients],
    }


if __name__ == "__main__":
    main()
