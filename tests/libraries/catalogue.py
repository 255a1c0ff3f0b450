"""The libraries that are tried: which version, what belongs to it, and where its tests are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Library(NamedTuple):
    """A library built on TensorFlow.

    Attributes:
      title: what it is called in the table.
      package: it, with its version, as pip takes it.
      tests: files and folders, below where they are.
      what: what these are, for the table.
      where: "wheel", the library as installed; "sdist", its archive of sources; "checks", our folder, where it brings
        none; "examples", the examples in the docstrings of the modules that `tests` names.
      leave_out: files and folders among them that are not run; `what` says why.
      needs: other packages it needs, which TensorFlow and tapeflow do not bring, with their versions.
      sources: the archive that has the tests, where it is not that of `package`, or that the checks need.
      options: what pytest is told.
      environment: variables of its process.
      reasons: how the names of tests begin that fail here, and why.
    """

    title: str
    package: str
    tests: tuple[str, ...]
    what: str
    where: str = "wheel"
    leave_out: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    sources: str = ""
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    reasons: Mapping[str, str] = {}


_SCIPY = "scipy==1.17.1"

LIBRARIES: dict[str, Library] = {
    "einops": Library(
        "einops",
        "einops==0.8.2",
        ("einops/tests",),
        "its tests of TensorFlow and Keras",
        options=("-k", "tensorflow or tf or keras or layers or ops or einsum or packing or util"),
        environment={"EINOPS_TEST_BACKENDS": "numpy,tensorflow"},
    ),
    "tensorly": Library(
        "tensorly",
        "tensorly==0.10.0",
        ("tensorly",),
        "all its tests",
        needs=(_SCIPY,),
        environment={"TENSORLY_BACKEND": "tensorflow"},
    ),
    "autoray": Library(
        "autoray",
        "autoray==0.8.4",
        ("tests",),
        "its tests of TensorFlow",
        where="sdist",
        options=("-k", "tensorflow"),
    ),
    "sonnet": Library(
        "Sonnet",
        "dm-sonnet==2.0.2",
        ("sonnet",),
        "its tests but the thousands in `conformance`",
        leave_out=("sonnet/src/conformance",),
        needs=("dm-tree==0.1.10", "tabulate==0.10.0", "wrapt==2.5.2", "absl-py==2.5.1"),
    ),
    "tf-explain": Library(
        "tf-explain",
        "tf-explain==0.3.1",
        ("tests",),
        "all its tests",
        where="sdist",
        needs=("opencv-python-headless==5.0.0.93", "pytest-mock==3.15.1"),
    ),
    "safetensors": Library(
        "safetensors.tensorflow",
        "safetensors==0.8.0",
        ("bindings/python/tests/test_tf_comparison.py",),
        "its tests of TensorFlow",
        where="sdist",
    ),
    "shap": Library(
        "SHAP",
        "shap==0.51.0",
        ("tests/explainers/test_gradient.py", "tests/explainers/test_deep.py"),
        "its tests of the gradient and deep explainers on TensorFlow",
        where="sdist",
        options=("-k", "tf"),
        needs=(
            *(
                _SCIPY,
                "scikit-learn==1.9.1",
                "joblib==1.6.0",
                "threadpoolctl==3.8.0",
                "narwhals==2.28.0",
            ),
            *("pandas==3.1.1", "python-dateutil==4.0.0", "numba==0.68.1", "llvmlite==0.50.0"),
            *("slicer==0.0.8", "cloudpickle==3.1.2", "tqdm==4.70.1"),
        ),
    ),
    "deepxde": Library(
        "DeepXDE",
        "DeepXDE==1.15.0",
        ("checks/deepxde_checks.py",),
        "its examples, shortened as in its own tests: the losses must be TensorFlow's",
        where="checks",
        sources="DeepXDE==1.15.0",
        needs=(
            *(
                _SCIPY,
                "scikit-learn==1.9.1",
                "joblib==1.6.0",
                "threadpoolctl==3.8.0",
                "narwhals==2.28.0",
            ),
            *("matplotlib==3.11.2", "contourpy==1.3.3", "cycler==0.12.1", "fonttools==4.68.0"),
            *("kiwisolver==1.5.1", "pyparsing==3.3.3", "pillow==13.0.0", "python-dateutil==4.0.0"),
            *("pyaml==26.7.0", "PyYAML==6.0.3", "scikit-optimize==0.10.2", "tqdm==4.70.1"),
        ),
        environment={"DDE_BACKEND": "tensorflow"},
    ),
    "eagerpy": Library(
        "eagerpy",
        "eagerpy==0.30.0",
        ("checks/eagerpy_checks.py",),
        "checks of ours, as it brings no tests: its methods on TensorFlow and on NumPy",
        where="checks",
    ),
}
