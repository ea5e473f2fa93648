"""Files of a study: one Parquet file per block, written whole, and the record of what is merged."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flexapod.design.summary import Summary
from flexapod.errors import FileError, InputError
from flexapod.files import not_written, read_whole, write_whole

RECORD = "study.json"
EVERY = 0.5
"""Seconds between records: what a kill can cost."""

AGAIN = "remove the folder to start again, or choose another"


class StudyFiles:
    """The folder of a study, or none.

    Args:
        folder: None keeps nothing on the disk.
        key: what the study is; a folder of another one is refused.
        unknown_content: why a folder with a record cannot be known as this study's; empty where it can.

    Checked by: tests/design/test_study_killed.py.
    """

    def __init__(self, folder: str | Path | None, key: str, unknown_content: str = "") -> None:
        self.folder = None if folder is None else Path(folder)
        self._key, self._digests, self._written = key, list[str](), 0.0
        if self.folder is None:
            return
        _arrow()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise not_written(self.folder, error) from error
        if unknown_content and (self.folder / RECORD).exists():
            raise FileError(f"save: cannot check whether {self.folder} holds this study: {unknown_content}; {AGAIN}")
        if not (self.folder / RECORD).exists():
            if any(self.folder.iterdir()):
                raise FileError(f"save: the folder {self.folder} is not empty and holds no study; choose another")
            self._record(None)

    def restore(self, total: Summary) -> int:
        """Blocks that are done; their summary goes into `total`."""
        if self.folder is None:
            return 0
        try:
            data = read_whole(self.folder / RECORD)
            record = json.loads(data)
            key, digests, state = record["key"], list(record["blocks"]), record["summary"]
            whole = data == _written(record)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f"save: {self.folder / RECORD} is damaged; {AGAIN}") from error
        if not whole:
            raise FileError(f"save: {self.folder / RECORD} was altered (its digest differs); {AGAIN}")
        if key != self._key:
            raise FileError(
                f"save: the folder {self.folder} holds another study (robot, variables, criteria, functions or plan differ); "
                "choose another"
            )
        for number, digest in enumerate(digests):
            if digest and hashlib.sha256(read_whole(self.file(number))).hexdigest() != digest:
                raise FileError(f"save: {self.file(number)} was altered; {AGAIN}")
        if state is not None:
            total.restore(state)
        self._digests = digests
        return len(digests)

    def file(self, number: int) -> Path:
        """File of a block."""
        assert self.folder is not None
        return self.folder / f"block-{number:07d}.parquet"

    def add(self, number: int, data: bytes | None, total: Summary) -> None:
        """Keep a merged block; the record follows from time to time."""
        if self.folder is None:
            return
        digest = ""
        if data is not None:
            write_whole({self.file(number): data})
            digest = hashlib.sha256(data).hexdigest()
        self._digests.append(digest)
        if time.monotonic() - self._written > EVERY:
            self._record(total)

    def finish(self, total: Summary) -> None:
        """Write the record of the end."""
        if self.folder is not None:
            self._record(total)

    def _record(self, total: Summary | None) -> None:
        assert self.folder is not None
        state = {"key": self._key, "blocks": self._digests, "summary": None if total is None else total.state()}
        write_whole({self.folder / RECORD: _written(state)})
        self._written = time.monotonic()


def _written(record: Mapping[str, object]) -> bytes:
    """A record as its file has it, with the digest of all that it says."""
    content = {name: value for name, value in record.items() if name != "sha256"}
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return json.dumps({**content, "sha256": digest}).encode()


def parquet(rows: dict[str, Any]) -> bytes:
    """A block as a Parquet file; its bytes depend on the rows alone."""
    pa, pq = _arrow()
    columns = {name: values for name, values in rows.items() if name != "reason"}
    empty = not any(rows["reason"])
    texts = pa.array([""] * len(rows["reason"]) if empty else rows["reason"], pa.string())
    table = pa.table({**columns, "reason": texts.dictionary_encode().cast(pa.dictionary(pa.int32(), pa.string()))})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="none", use_dictionary=["reason"], write_statistics=False)
    return sink.getvalue()


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError:
        raise InputError("save: a dataset of designs needs pyarrow; install flexapod[files]") from None
    return pa, pq


def read_rows(folder: Path) -> dict[str, Any]:
    """All rows of a finished study, column by column."""
    import numpy as np

    _, pq = _arrow()
    files = sorted(folder.glob("block-*.parquet"))
    if not files:
        raise FileError(f"{folder}: holds no rows; the study was run with keep=False")
    tables = [pq.ParquetFile(file).read() for file in files]
    return {
        name: np.concatenate([t.column(name).to_numpy(zero_copy_only=False) for t in tables]) for name in tables[0].column_names
    }
