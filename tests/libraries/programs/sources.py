"""Which programs are run, where each comes from, and what is replaced in it when it is fetched.

No line of them is kept in this repository. They are fetched into build/libraries/programs, where a file that is there
already is taken as it is.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.libraries import environments
from tests.libraries.catalogue import LIBRARIES

WORK = environments.WORK / "programs"


class Program(NamedTuple):
    """A program that others wrote.

    Attributes:
      title: what it is called in the table.
      origin: where it comes from, for the table.
      lines: how long it is.
      address: where its file is fetched: an address, a file in the archive of a library of the catalogue
        ("deepxde:examples/..."), or nothing where its library installs it.
      edits: what is replaced in it.
      changed: what the edits and the driver change, for the table.
    """

    title: str
    origin: str
    lines: int
    address: str
    edits: Mapping[str, str]
    changed: str


_GITHUB = "https://raw.githubusercontent.com"

PROGRAMS: dict[str, Program] = {
    "gpflow": Program(
        "GPflow: regression, exact, sparse and variational",
        "GPflow 2.11.2, its package `benchmark`",
        2949,
        "",
        {},
        "run in one process, each task once; housing data made in memory, 90 rows; 10 iterations of L-BFGS",
    ),
    "iwae": Program(
        "Probability: importance weighted autoencoder",
        "nbip/IWAE at 9a05708, src/iwae1.py",
        251,
        f"{_GITHUB}/nbip/IWAE/9a05708b263534afa7205b9bbe32b20cebaed885/src/iwae1.py",
        {
            # Keras 3 takes tensors alone by position.
            "self.encoder(x, n_samples)": "self.encoder(x, n_samples=n_samples)",
        },
        "digits made in memory; 40 steps of 20 images with 5 samples, two validations, 16 images drawn",
    ),
    "navier-stokes": Program(
        "DeepXDE: Navier-Stokes, the Beltrami flow",
        "DeepXDE 1.15.0, examples/pinn_forward/Beltrami_flow.py",
        233,
        "deepxde:examples/pinn_forward/Beltrami_flow.py",
        {
            "num_domain=50000": "num_domain=400",
            "num_boundary=5000": "num_boundary=80",
            "num_initial=5000": "num_initial=80",
            "num_test=10000": "num_test=80",
            "iterations=30000": "iterations=40, display_every=10",
        },
        "560 points; 40 steps of Adam and 5 of L-BFGS",
    ),
    "vqvae": Program(
        "Sonnet: VQ-VAE",
        "google-deepmind/sonnet at 5c5ef16, `examples/vqvae_example.ipynb`",
        375,
        f"{_GITHUB}/google-deepmind/sonnet/5c5ef16d48f16b4c46db449ffcf3ba8903412afd/examples/vqvae_example.ipynb",
        {"num_training_updates = 100000": "num_training_updates = 7"},
        "images made in memory; 8 steps",
    ),
    "glue": Program(
        "keras-hub: BERT classifier with random weights",
        "keras-team/keras-hub at 3bac2ad, examples/glue_benchmark/glue.py",
        311,
        f"{_GITHUB}/keras-team/keras-hub/3bac2ad954c9dafef87dd5f68a7c7232e85f462d/examples/glue_benchmark/glue.py",
        {
            # Names that Keras 3 has in another place, and float32, as processors have no mixed precision.
            "tf.keras.optimizers.experimental.AdamW": "tf.keras.optimizers.AdamW",
            "decay_steps=train_ds.cardinality()": "decay_steps=int(train_ds.cardinality())",
            "mixed_float16": "float32",
        },
        "sentences made in memory, tokenized in Python; two layers of 64 units instead of the preset; two epochs of 6"
        " batches",
    ),
}


def fetched(name: str) -> Path:
    """The folder that a program is in, with what is replaced in it; an empty one where its library installs it."""
    program = PROGRAMS[name]
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    if not program.address:
        return folder
    original = folder / "program.py"
    if not original.exists():
        original.write_text(_text(program.address), encoding="utf-8")
    text = original.read_text(encoding="utf-8")
    for before, after in program.edits.items():
        if before not in text:
            raise ValueError(f"{program.title}: {before!r} is not in {original}.")
        text = text.replace(before, after)
    (folder / "edited.py").write_text(text, encoding="utf-8")
    return folder


def _text(address: str) -> str:
    """The program at an address; of a notebook, its cells of code."""
    library, _, path = address.partition(":")
    if library in LIBRARIES:
        sources = environments.sources_of(library, LIBRARIES[library])
        return (sources / path).read_text(encoding="utf-8")
    with urllib.request.urlopen(address) as answer:
        text = answer.read().decode()
    if not address.endswith(".ipynb"):
        return text
    cells = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n\n".join("".join(cell) for cell in cells)
