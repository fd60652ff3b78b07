"""A TCP proxy before a server that a test can take away without touching the server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy.engine import make_url


class Proxy:
    """Forwards connections; `cut` ends them and refuses new ones, `freeze` keeps them and forwards nothing."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._flowing = threading.Event()
        self._flowing.set()
        self._open: set[socket.socket] = set()
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]

    def cut(self) -> None:
        """Go away: every connection ends, none is accepted."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def back(self) -> None:
        """Be there again, at the same port."""
        self._listener = self._listen(self.port)

    def freeze(self) -> None:
        """Keep every connection and forward nothing: the worst that a network does."""
        self._flowing.clear()

    def close(self) -> None:
        """End everything."""
        self._flowing.set()
        with suppress(OSError):
            self.cut()

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            self._open |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
            self._open.discard(end)


@contextmanager
def proxied(url: str) -> Iterator[tuple[str, Proxy]]:
    """Give the address of the database through a proxy, and the proxy."""
    parsed = make_url(url)
    proxy = Proxy(parsed.host or "127.0.0.1", parsed.port or 5432)
    try:
        through = parsed.set(host="127.0.0.1", port=proxy.port)
        yield through.render_as_string(hide_password=False), proxy
    finally:
        proxy.close()
