"""A mail server that takes everything and keeps nothing, in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Sink(asyncio.Protocol):
    """One connection; commands may come together."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._buffer, self._in_mail = transport, b"", False
        transport.write(b"220 sink\r\n")

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._take():
            pass

    def _take(self) -> bool:
        end = b"\r\n.\r\n" if self._in_mail else b"\r\n"
        line, found, rest = self._buffer.partition(end)
        if not found:
            return False
        self._buffer = rest
        if not self._in_mail and line.upper() == b"DATA":
            self._in_mail = True
            self._transport.write(b"354 go on\r\n")
        else:
            self._in_mail = False
            self._transport.write(b"221 bye\r\n" if line.upper() == b"QUIT" else b"250 2.0.0 fine\r\n")
        return True


@contextmanager
def mail_sink() -> Iterator[int]:
    """Run a sink, and give its port."""
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


async def serve() -> None:
    """Serve until the process is killed, and print the port first."""
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
