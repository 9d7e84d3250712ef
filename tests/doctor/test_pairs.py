from __future__ import annotations

import pytest

from porter.doctor import pairs


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("2.13.0+cpu", "2.13.0"),
        ("2.5.1.post1", "2.5.1"),
        ("2.1.0.post17+git1234abc", "2.1.0"),
        ("2.13.0+emulated", "2.13.0"),
        ("2.11.0rc1", "2.11.0"),
        ("unknown", ""),
    ],
)
def test_release(version: str, release: str) -> None:
    assert pairs.release(version) == release


@pytest.mark.parametrize(
    ("torch_npu", "cann"),
    [
        ("2.5.1", "8.1.RC1"),
        ("2.5.1.post1", "8.2.RC1"),
        ("2.5.1.post1+gitabc", "8.2.RC1"),
        ("2.7.1.post6", "9.0.0"),  # not listed: a repair of post4
        ("2.7.1.post11", "9.2.0"),
        ("2.1.0.post9", "8.0.RC3"),
        ("2.14.0", "9.2.0"),
        ("2.5.0", ""),
        ("3.0.0", ""),
    ],
)
def test_cann_of_a_torch_npu(torch_npu: str, cann: str) -> None:
    assert pairs.cann(torch_npu) == cann


def test_the_newest_torch_npu_of_a_torch() -> None:
    assert pairs.newest_npu("2.7.1") == "2.7.1.post11"
    assert pairs.newest_npu("2.9.0") == "2.9.0.post9"
    assert pairs.newest_npu("2.5.0") == ""
    assert pairs.newest_pair() == ("2.14.0", "2.14.0")


@pytest.mark.parametrize(
    ("there", "wanted", "stands"),
    [
        ("8.1.RC1", "8.1.RC1", "same"),
        ("8.0.1", "8.0.0", "same"),
        ("8.0.RC2", "8.0.RC3", "older"),
        ("8.0.0", "8.0.RC3", "newer"),
        ("8.0.RC3", "8.0.0", "older"),
        ("8.2.RC1", "9.0.0", "older"),
        ("9.2.0", "8.5.0", "compatible"),
        ("8.5.1", "9.1.0", "compatible"),
        ("9.0.0-beta.1", "9.0.0", "same"),
        ("10.0.0", "9.2.0", "newer"),
        ("", "9.2.0", ""),
    ],
)
def test_how_a_cann_stands_to_the_wanted_one(there: str, wanted: str, stands: str) -> None:
    assert pairs.compare(there, wanted) == stands
