"""What native code prints while a programme is solved goes to standard error."""

from __future__ import annotations

import ctypes

import pytest

from app.search.gear.model import stdout_to_stderr


def test_native_output_goes_to_stderr_and_only_inside(capfd: pytest.CaptureFixture[str]) -> None:
    native = ctypes.CDLL(None)
    with stdout_to_stderr():
        native.puts(b"noise")
    native.puts(b"result")
    native.fflush(None)
    out, err = capfd.readouterr()
    assert (out, err) == ("result\n", "noise\n")


def test_standard_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="broken"), stdout_to_stderr():
        raise ValueError("broken")
    ctypes.CDLL(None).puts(b"result")
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == "result\n"
