"""The page in a file: whole or not at all."""

from pathlib import Path

import pytest

from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.page.written import check_file, write_page
from cheblienet_graphs.store import durable


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    for document in ("<p>ε²</p>", "<p>other</p>"):
        write_page(document, file)
        assert file.read_text(encoding="utf-8") == document
        assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    write_page("before", file)

    def full(path: Path, contents: bytes) -> None:
        path.write_bytes(contents[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable, "write", full)
    with pytest.raises(StoreError, match=r"No space left.*No report was written; free some space"):
        write_page("after", file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_folders_and_stores_are_refused(tmp_path: Path, store_of_pages: Path) -> None:
    with pytest.raises(SpecError, match="html must be a file"):
        check_file(tmp_path)
    with pytest.raises(StoreError, match="there is no folder"):
        check_file(tmp_path / "missing" / "report.html")
    with pytest.raises(StoreError, match=r"is in the store .*; choose another `html`"):
        check_file(store_of_pages / "se2" / "report.html")
