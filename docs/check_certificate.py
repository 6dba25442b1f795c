#!/usr/bin/env python3
"""Check the seal of a privet model file without privet: its digest, and its signature if it has one.

The digest is SHA-256, in hexadecimal, over the canonical JSON of the model, a zero byte, and the canonical
JSON of the certificate without `digest` and `signature`. The signature is ed25519 over those 64 letters.
Canonical JSON has sorted keys and no white space; numbers stand as in the file, so a file whose numbers
another program has written anew (0.1 as 1e-1) is refused.

A seal that holds shows that model and certificate belong together and, if signed, who vouches for them. It
does not show that the certificate's claim is proved: `privet verify` does, and checks the seal too.

Exit code: 0 the seal holds, 1 it does not, 2 not a model file or wrong usage.
Needs Python 3.10 or later and, for signed files, the package `cryptography`.
"""

import argparse
import hashlib
import json
import math
import re
import sys

PRIME = 2**255 - 19
# The y-coordinates of the points of order 1, 2, 4 and 8: as keys, they "sign" everything.
EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022
SMALL_ORDER = {0, 1, PRIME - 1, EIGHTH, PRIME - EIGHTH}


class Number(str):
    """The text of a number."""


def number(text):
    if not math.isfinite(float(text)):
        raise ValueError("a number is not finite")
    return Number(text)


def once(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def canonical(value):
    if isinstance(value, dict):  # sorted by code point, which is the order of the bytes in UTF-8
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def digest(model, certificate):
    bare = {key: value for key, value in certificate.items() if key not in ("digest", "signature")}
    return hashlib.sha256(f"{canonical(model)}\0{canonical(bare)}".encode()).hexdigest()


def read(text):
    """Model and certificate of a document."""
    document = json.loads(text, parse_int=number, parse_float=number, parse_constant=number, object_pairs_hook=once)
    if not isinstance(document, dict) or set(document) != {"format", "model", "certificate"}:
        raise ValueError("accepted is an object of format, model and certificate")
    certificate = document["certificate"]
    inner = certificate.get("format") if isinstance(certificate, dict) else None
    if (document["format"], inner) != ("privet-model-1", "privet-certificate-1"):
        raise ValueError("accepted are the formats privet-model-1 and privet-certificate-1")
    return document["model"], certificate


def signer(signature, message):
    """The public key of a signature that holds; otherwise nothing."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(signature, dict) or set(signature) != {"public_key", "signature"}:
        return None
    key, proof = signature["public_key"], signature["signature"]
    if not is_hexadecimal(key, 64) or not is_hexadecimal(proof, 128):
        return None
    points = (int.from_bytes(bytes.fromhex(text[:64]), "little") for text in (key, proof))
    if any(point % 2**255 % PRIME in SMALL_ORDER for point in points):
        return None
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(proof), message)
    except (InvalidSignature, ValueError):
        return None
    return key.lower()


def is_hexadecimal(text, digits):
    return type(text) is str and re.fullmatch(f"[0-9a-fA-F]{{{digits}}}", text) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="the model file")
    parser.add_argument("--signer", metavar="PUBKEY", help="public key that must have signed it")
    given = parser.parse_args()
    if given.signer is not None and not is_hexadecimal(given.signer, 64):
        parser.error("--signer: a public key is 64 hexadecimal digits, as printed by `privet keygen`")
    try:
        with open(given.model, "rb") as file:
            model, certificate = read(file.read().decode("utf-8"))
        found = digest(model, certificate)
        signature = certificate.get("signature")
        key = None if signature is None else signer(signature, found.encode())
    except (OSError, ValueError, RecursionError, ImportError) as error:
        parser.error(f"{given.model}: {error}")
    checks = {"the digest is missing or that of other contents": certificate.get("digest") == found}
    checks["the signature does not hold"] = signature is None or key is not None
    checks["the key that --signer names has not signed it"] = given.signer is None or key == given.signer.lower()
    for problem, holds in checks.items():
        if not holds:
            print(f"NOT VALID: {problem}")
    if not all(checks.values()):
        return 1
    print(f"digest holds: {found}")
    print(f"signed by {key}" if key else "not signed: nobody vouches for it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
