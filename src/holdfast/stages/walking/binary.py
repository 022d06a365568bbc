"""Which files are clearly not text, by their names alone?

Only what no reader will ever take, and what nobody writes behind the last dot of a text (`.ko` and
`.pt` are languages). Everything else is opened, and the reader looks at the content.
"""

from __future__ import annotations

PICTURES = """
    png jpg jpeg gif bmp tif tiff webp ico icns heic heif avif psd xcf cr2 nef arw dng jxl exr
"""
SOUND_AND_FILM = """
    mp3 wav flac ogg oga opus m4a aac wma aif aiff mid midi
    mp4 m4v mkv mov avi wmv flv webm mpg mpeg 3gp vob
"""
ARCHIVES = """
    zip gz tgz bz2 tbz2 xz txz zst lz lz4 7z rar tar cab cpio deb rpm apk jar war ear whl egg
    nupkg gem dmg iso img vhd vhdx vmdk qcow2 msi pkg appimage
"""
PROGRAMS = "exe dll so dylib o lib pdb bin elf class pyc pyo pyd wasm"
FONTS = "ttf otf woff woff2 eot"
DATA = """
    db sqlite sqlite3 db-wal db-shm mdb accdb ldb parquet arrow feather orc
    npy npz pkl pickle h5 hdf5 onnx pth ckpt safetensors gguf ggml tflite
"""
BINARY = frozenset((PICTURES + SOUND_AND_FILM + ARCHIVES + PROGRAMS + " " + FONTS + DATA).split())


def is_clearly_binary(name: str) -> bool:
    stem, dot, ending = name.rpartition(".")
    return bool(stem and dot) and ending.lower() in BINARY
