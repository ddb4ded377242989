"""The programs beside this file that the benchmarks run."""
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def compiled(name):
    """The program of a source beside this file. A virtual machine, which has no compiler, uses the one of an earlier run."""
    source, target = HERE / f"{name}.cpp", HERE.parent.parent / "build/bench/compiled" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-std=c++23", "-O2", "-static", "-o", target, source], check=True)
    return str(target)
