"""A saved model from a stranger runs no code, and one that is damaged is refused with a reason."""

import json
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.proofs.test_table import SAMPLES
from tests.saved_model import mutations
from tests.saved_model.models import LOOPS, MODELS
from tests.saved_model.mutations import CODES, MARK

import tapeflow as tf
import tapeflow._src.lookup.static
import tapeflow._src.sparse.crossing
import tapeflow._src.strings.loaded  # their rows are in UNLISTED
import tapeflow.saved_model
from tapeflow._src.core.dtypes import float32
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.all_rows import TABLE, UNLISTED
from tapeflow._src.saved_model import attributes, encoding
from tapeflow._src.saved_model.damage import Damage
from tapeflow._src.saved_model.saving import FILE
from tapeflow._src.train import tensor_file

NO_NAMES = [*CODES, "class", "1a", "a b", ""]


@pytest.fixture(autouse=True)
def no_code_was_run():
    yield
    assert MARK not in sys.modules


def _saved(name, folder):
    tf.saved_model.save(MODELS[name](), folder)
    return folder


def _refused(folder, change, match=""):
    mutations.changed(folder, change)
    with pytest.raises(tf.errors.DataLossError, match=rf"saved_model\.safetensors.*{match}"):
        tf.saved_model.load(folder)


# Code.


@pytest.mark.parametrize("code", CODES, ids=range(len(CODES)))
@pytest.mark.parametrize("name", ["inverse", "cholesky", "expm", "sqrtm", "tensordot"])
def test_the_name_of_an_attribute_is_never_code(tmp_path, name, code):
    def change(model):
        nodes = model["graphs"][0]["nodes"]
        node = next((n for n in nodes if n[0] == name), nodes[0])
        node[2][code] = 1

    _refused(_saved("linalg", tmp_path), change, "attributes are")


@pytest.mark.parametrize("row", [*TABLE.values(), *UNLISTED.values()], ids=lambda row: row.name)
def test_no_primitive_takes_an_attribute_that_it_does_not_have(row):
    names, needed = attributes.names_of(row)
    good = {name: _EXAMPLES[name] for name in names}
    assert attributes.checked(row, good) == good
    for code in (*CODES, "out", "where", "casting", "effect"):
        with pytest.raises(Damage, match="attributes"):
            attributes.checked(row, {**good, code: 1})
    for name in needed:
        with pytest.raises(Damage, match="attributes"):
            attributes.checked(row, {k: v for k, v in good.items() if k != name})


_EXAMPLES = {
    **dict.fromkeys(attributes.KINDS, 1),
    **{name: False for name, kind in attributes.KINDS.items() if kind(False)},
    **{name: () for name, kind in attributes.KINDS.items() if kind(())},
    "seeds": (1, 2),
    "comparison": "<",
    "dtype": float32,
    "message": "x",
    "op": "x",
    "output": "i",
    "stretch": "",
    "method": "linear",
    "norm": "ortho",
    "operation": "union",
    "side": "left",
    "encoding": "utf-8",
    "errors": "strict",
    "form": "%08.3f",
    "key": (1, 2),
    "placeholder": "{}",
    "target": "UTF-8",
    "unit": "BYTE",
    "layout": None,
}


@pytest.mark.parametrize("name", attributes.KINDS)
def test_the_value_of_an_attribute_is_of_its_kind(name):
    kind = attributes.KINDS[name]
    assert kind(_EXAMPLES[name])
    wrong = [object(), print, [1], {1: 2}, 10**400, ("x", 1), np.zeros(3), tf.constant(1)]
    wrong += [] if name in ("message", "op", "placeholder") else CODES
    for value in wrong:
        assert not kind(value), value


def test_attributes_of_all_samples_are_taken():
    """The table says of no attribute that a primitive has that it has not."""
    seen = 0
    for name, samples in SAMPLES.items():
        for sample in samples:
            attributes.checked(TABLE[name], sample.attrs)
            seen += 1
    assert seen > 300


@pytest.mark.parametrize("code", [*NO_NAMES, "Ä", "a" * 100], ids=range(len(NO_NAMES) + 2))
def test_a_program_is_made_of_names_and_of_nothing_else(code):
    """Also where a graph does not come from a file."""
    x, y = Value((2, 2), float32), Value((2, 2), float32)
    graph = Graph(code)
    graph.inputs, graph.outputs = [x], [y]
    graph.nodes = [Node(TABLE["inverse"], [x], {code: 1}, [y])]
    with pytest.raises(ValueError, match="an attribute cannot be called"):
        NumpyProgram(graph)
    graph.nodes = [Node(TABLE["check_numerics"], [x], {"message": code}, [y])]
    program = NumpyProgram(graph)
    assert code not in program.source or not code.strip("a")
    (found,) = program.run_arrays([np.eye(2, dtype=np.float32)])
    np.testing.assert_array_equal(found, np.eye(2))


@pytest.mark.parametrize("code", CODES, ids=range(len(CODES)))
def test_names_of_all_kinds_are_names(tmp_path, code):
    """Of functions, graphs, variables, specs, signatures, objects and keys: they are texts, and stay that."""

    def change(model):
        for graph in model["graphs"]:
            graph["name"] = code
        for variable in model["variables"]:
            variable["name"] = code
        (root, *_) = model["objects"]
        for function in root["functions"].values():
            function["name"] = code
            for trace in function["traces"]:
                for spec in trace["takes"]["tuple"][0]["tuple"]:
                    if isinstance(spec, dict) and "spec" in spec:
                        spec["spec"][2] = code
        root["functions"][code] = root["functions"]["choose"]
        root["children"][code] = 1
        model["signatures"] = {code: model["signatures"]["serving_default"]}

    mutations.changed(_saved("net", tmp_path), change)
    loaded = tf.saved_model.load(tmp_path)
    x = tf.ones([1, 2])
    assert loaded(x).numpy().tolist() == [[4.5, 5.5]]
    with tf.GradientTape() as tape:
        y = loaded(x)
    assert tape.gradient(y, loaded.w).shape == (2, 2)
    assert loaded.signatures[code](x)["output_0"].numpy().tolist() == [[4.5, 5.5]]
    assert vars(loaded)[code](tf.constant([1.0, 2.0]))["y"].numpy().tolist() == [1.0, 2.0]
    assert code in loaded.w.name
    assert repr(loaded.signatures)
    assert str(vars(loaded)[code].graph())
    jitted = tf.function(lambda x: loaded(x), jit_compile=True)
    assert jitted(x).numpy().tolist() == [[4.5, 5.5]]


@pytest.mark.parametrize("code", NO_NAMES, ids=range(len(NO_NAMES)))
def test_names_that_have_to_be_words_are_words(tmp_path, code):
    """Parameters and named tuples: Python makes code of those."""
    _saved("net", tmp_path)
    arrays, before = mutations.read(tmp_path)

    def parameter(model):
        model["objects"][0]["functions"]["choose"]["parameters"][0][0] = code

    def kind(model):
        model["objects"][0]["functions"]["choose"]["parameters"][0][1] = code

    def field(model):
        trace = model["objects"][0]["functions"]["choose"]["traces"][0]
        trace["gives"] = {"named": ["Point", ["x", code], [0, 0]]}

    def title(model):
        trace = model["objects"][0]["functions"]["choose"]["traces"][0]
        trace["gives"] = {"named": [code, ["x", "y"], [0, 0]]}

    for change in (parameter, kind, field, title):
        _refused(tmp_path, change)
        mutations.write(tmp_path, arrays, before)


@pytest.mark.parametrize("code", CODES, ids=range(len(CODES)))
def test_kinds_of_sizes_and_dtypes_are_known_ones(tmp_path, code):
    _saved("sizes", tmp_path)
    arrays, before = mutations.read(tmp_path)

    def sizes(data):
        if isinstance(data, dict):
            for key, value in data.items():
                if key == "size":
                    value[:] = [[1, [code, value[:], 2]]]
                else:
                    sizes(value)
        elif isinstance(data, list):
            for value in data:
                sizes(value)

    _refused(tmp_path, sizes, "a size of the kind")
    mutations.write(tmp_path, arrays, before)
    _refused(tmp_path, lambda model: model["graphs"][0]["inputs"][0].__setitem__(2, code))
    mutations.write(tmp_path, arrays, before)
    _refused(
        tmp_path, lambda model: model["graphs"][0]["nodes"][0].__setitem__(0, code), "primitive"
    )


# Damage.


def _net_changes():
    def graph(change):
        return lambda model: change(model["graphs"][0])

    def node(change):
        return lambda model: change(model["graphs"][0]["nodes"][0])

    def trace(change):
        return lambda model: change(model["objects"][0]["functions"]["__call__"]["traces"][0])

    scalar = {"spec": [[], "int32", None]}
    return {
        "a value that is not there": node(lambda n: n[1].__setitem__(0, 99)),
        "a value before it is made": node(lambda n: n[1].__setitem__(0, n[3][0][0])),
        "a value made twice": graph(lambda g: g["nodes"].append(g["nodes"][0])),
        "an input too many": node(lambda n: n[1].append(n[1][0])),
        "an input too few": node(lambda n: n[1].pop()),
        "an output too many": node(lambda n: n[3].append([77, [2], "float32"])),
        "an output of another dtype": node(lambda n: n[3][0].__setitem__(2, "float64")),
        "an output of another shape": node(lambda n: n[3][0].__setitem__(1, [None, 3])),
        "an output of another rank": node(lambda n: n[3][0].__setitem__(1, [2])),
        "another primitive": node(lambda n: n.__setitem__(0, "add")),
        "no primitive": node(lambda n: n.__setitem__(0, "frobnicate")),
        "an attribute of another kind": node(lambda n: n[2].__setitem__("transpose_a", 1)),
        "an attribute that is missing": node(lambda n: n[2].pop("transpose_a")),
        "a result that is not there": graph(lambda g: g["outputs"].__setitem__(0, 99)),
        "an assignment to nothing": graph(lambda g: g["assigned"].append([0, 0])),
        "a variable that is not there": graph(lambda g: g["variables"].__setitem__(0, 99)),
        "a variable from the end": graph(lambda g: g["variables"].__setitem__(0, -1)),
        "another variable": graph(lambda g: g["variables"].reverse()),
        "an input of another dtype": graph(lambda g: g["inputs"][0].__setitem__(2, "float16")),
        "an input of an endless shape": graph(lambda g: g["inputs"][0].__setitem__(1, [None] * 99)),
        "a constant that is not there": graph(lambda g: g["captured"].append("constants/99")),
        "nodes that are none": graph(lambda g: g.__setitem__("nodes", [5])),
        "no nodes": graph(lambda g: g.pop("nodes")),
        "a trace without a graph": trace(lambda t: t.__setitem__("graph", 99)),
        "a trace of another graph": trace(lambda t: t.__setitem__("graph", 1)),
        "a trace that takes more": trace(lambda t: t["takes"]["tuple"][0]["tuple"].append(scalar)),
        "a trace that takes nothing": trace(lambda t: t.__setitem__("takes", None)),
        "a trace that gives more": trace(lambda t: t.__setitem__("gives", [0, 1])),
        "a trace that gives the last": trace(lambda t: t.__setitem__("gives", -1)),
        "an object that is not there": lambda model: model["objects"][0]["children"].update(w=99),
        "an object of no kind": lambda model: model["objects"][0].update(kind="file"),
        "no objects": lambda model: model["objects"].clear(),
        "a variable without a value": lambda model: model["variables"].append(
            model["variables"][0]
        ),
        "a variable of another shape": lambda model: model["variables"][0].update(shape=[7]),
        "an attribute of our own": lambda model: model["objects"][0]["children"].update(
            _expecting=1
        ),
    }


@pytest.mark.parametrize("what", _net_changes())
def test_a_graph_that_makes_no_sense_is_refused(tmp_path, what):
    _refused(_saved("net", tmp_path), _net_changes()[what])


def _file_changes():
    def names(change):
        return lambda model: change(model["assets"])

    def renamed(name):
        return names(lambda assets: assets.update(dict.fromkeys(assets, name)))

    def asset(change):
        return lambda model: change(next(o for o in model["objects"] if o["kind"] == "asset"))

    return {
        "a file above the folder": renamed("../models.py"),
        "a file above the folder, later": renamed("a/../../models.py"),
        "a file anywhere": renamed("/etc/passwd"),
        "the folder itself": renamed(""),
        "the folder itself, by another name": renamed("./"),
        "a folder": renamed("a/."),
        "a name that no file has": renamed("models\0.py"),
        "a number": renamed(7),
        "nothing": renamed(None),
        "a list": renamed(["models.py"]),
        "names in a list": lambda model: model.update(assets=list(model["assets"])),
        "no names": lambda model: model.pop("assets"),
        "names that are one text": lambda model: model.update(assets="models.py"),
        "a constant that is not there": names(lambda a: a.update({"constants/99": "models.py"})),
        "a constant of another kind": lambda model: model["assets"].update(
            dict.fromkeys(_captured(model), "models.py")
        ),
        "an asset of no constant": asset(lambda o: o.pop("path")),
        "an asset of another constant": lambda model: asset(
            lambda o: o.update(path=next(n for n in _captured(model) if n not in model["assets"]))
        )(model),
        "an asset of a list": asset(lambda o: o.update(path=["constants/0"])),
    }


def _captured(model):
    return [name for graph in model["graphs"] for name in graph["captured"]]


@pytest.mark.parametrize("what", _file_changes())
def test_files_that_make_no_sense_are_refused(tmp_path, what):
    _refused(_saved("files", tmp_path), _file_changes()[what])


@pytest.mark.parametrize("depth", [150, 900, 100_000])
def test_structures_without_end_are_refused(tmp_path, depth):
    _saved("net", tmp_path)
    arrays, model = mutations.read(tmp_path)
    deep = '{"tuple": [' * depth + "0" + "]}" * depth
    text = json.dumps(model).replace('"gives": 0', f'"gives": {deep}')
    assert deep in text
    tensor_file.write(str(tmp_path / FILE), arrays, {"saved_model": text})
    try:
        loaded = tf.saved_model.load(tmp_path)
    except tf.errors.DataLossError as error:
        assert "saved_model.safetensors" in error.message
    else:
        assert depth < 500
        loaded(tf.ones([1, 2]))


def test_a_tuple_that_contains_itself_is_refused(tmp_path):
    def change(model):
        number = next(i for i, x in enumerate(model["objects"]) if x["kind"] == "tuple")
        model["objects"][number]["children"] = {"0": number}

    _refused(_saved("net", tmp_path), change, "contains itself")


def test_a_chain_of_objects_is_loaded(tmp_path):
    root = tf.Module()
    module: Any = root
    for _ in range(200):
        module.next = tf.Module()
        module = module.next
    module.v = tf.Variable(3.0)
    tf.saved_model.save(root, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    for _ in range(200):
        loaded = loaded.next
    assert loaded.v.numpy() == 3.0


@pytest.mark.parametrize("size", [2**31, 2**40, 2**62, 2**70])
def test_no_memory_is_taken_for_sizes_that_were_made_up(tmp_path, size):
    """Shapes are compared before anything is computed, and nothing is computed when a model is loaded."""

    def change(model):
        for node in model["graphs"][0]["nodes"]:
            for name, value in node[2].items():
                if name in ("shape", "multiples", "paddings", "depth", "sizes", "perm") and value:
                    node[2][name] = size if name == "depth" else {"tuple": [size]}

    _refused(_saved("arrays", tmp_path), change)

    def endless(model):
        graph = model["graphs"][0]
        graph["inputs"][0][1], graph["hints"][0] = [size], [size]
        spec = model["objects"][0]["functions"]["f"]["traces"][0]["takes"]["tuple"][0]["tuple"][0]
        spec["spec"][0] = [size]
        for node in graph["nodes"]:
            if node[0] == "unstack":
                node[1] = [graph["inputs"][0][0]]

    _refused(_saved("arrays", tmp_path), endless)


def test_a_loop_without_a_condition_is_refused(tmp_path):
    def change(model):
        (node,) = [n for n in model["graphs"][0]["nodes"] if n[0] == "while"]
        del node[2]["condition"]

    _refused(_saved("loop", tmp_path), change, "neither a condition nor a number of turns")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_saved_and_loaded_as_it_is(name, tmp_path):
    assert mutations.outcome(_saved(name, tmp_path)) == "run"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.sample(4)
def test_random_changes_end_in_a_result_or_in_an_error_that_is_documented(name, tmp_path):
    """Never in code that runs, in another exception, or in memory without bound. Loops are traced, and not run."""
    arrays, description = mutations.read(_saved(name, tmp_path))
    rng = random.Random(sum(map(ord, name)))
    refused = 0
    for _ in range(40):
        mutations.write(tmp_path, arrays, mutations.mutated(description, rng))
        refused += mutations.outcome(tmp_path, run=name not in LOOPS) == "refused"
    assert refused > 10


def test_the_command_of_a_stranger_is_not_run(tmp_path):
    """From loading to a result, in a process of its own."""
    folder = _saved("linalg", tmp_path / "model")
    made = tmp_path / "made"

    def change(model):
        for node in model["graphs"][0]["nodes"]:
            node[2][f"a=__import__('os').system('touch {made}'), b"] = 1

    mutations.changed(folder, change)
    code = (
        "import tapeflow as tf, tapeflow.saved_model\n"
        f"loaded = tf.saved_model.load({str(folder)!r})\n"
        "loaded.f(tf.ones([3]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "DataLossError" in run.stderr
    assert not made.exists()


@pytest.mark.parametrize("name", [["RaggedTensorSpec"], None, "os", "spec.os"])
def test_a_spec_of_another_name_is_damage(name):
    with pytest.raises(Damage, match="does not know"):
        encoding._spec_class(name)
