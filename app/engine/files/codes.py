"""Share codes: the build's XML, deflated (zlib), in URL-safe base64, as PoB reads and writes them."""

from __future__ import annotations

import base64
import binascii
import zlib

from app.core.errors import BadImport
from app.engine.files.xml import MAX_XML_BYTES

MAX_CODE_CHARS = 2 * MAX_XML_BYTES
_LEVEL = 9


def encode(xml: bytes) -> str:
    """Return the share code of the XML; `decode` gives back the same bytes."""
    return base64.urlsafe_b64encode(zlib.compress(xml, _LEVEL)).decode()


def decode(code: str) -> bytes:
    """Return the XML in a share code; surrounding and inner white space and missing padding are forgiven.

    Raises:
        BadImport: this is not a share code, or it inflates to more than 1 MB.
    """
    if len(code) > MAX_CODE_CHARS:
        raise BadImport("the share code is too long")
    plain = "".join(code.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        data = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as exc:
        raise BadImport("the share code is not base64") from exc
    inflater = zlib.decompressobj()
    try:
        xml = inflater.decompress(data, MAX_XML_BYTES + 1)
    except zlib.error as exc:
        raise BadImport("the share code is not a deflated build") from exc
    if len(xml) > MAX_XML_BYTES or inflater.unconsumed_tail:
        raise BadImport(f"the share code holds more than {MAX_XML_BYTES} bytes")
    if not inflater.eof or inflater.unused_data:
        raise BadImport("the share code is cut off or has something after its end")
    return xml
