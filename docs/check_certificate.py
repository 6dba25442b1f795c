#!/usr/bin/env python3
"""Check the seal of a privet file without privet: its digest, and its signature if it has one.

Format privet-2: the digest is SHA-256, in hexadecimal, over the canonical JSON (RFC 8785) of the whole document
without the certificate's `digest` and `signature`; the signature is ed25519 over "privet-2:" and those 64 letters.

Format privet-model-1: the digest is over the JSON of the model, a zero byte, and the JSON of the certificate
without `digest` and `signature`, with sorted keys, no white space, and numbers as they stand in the file, so
that a file whose numbers another program has written anew (0.1 as 1e-1) is refused; the signature is over the letters.

A seal that holds shows that model and certificate belong together and, if signed, who vouches for them. It
does not show that the certificate's claim is proved: `privet verify` does, and checks the seal too.

Exit code: 0 the seal holds, 1 it does not, 2 not a privet file or wrong usage.
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
FORMATS = {  # of a document: of its certificate, and its fields
    "privet-2": ("privet-certificate-2", {"format", "kind", "body", "certificate"}),
    "privet-model-1": ("privet-certificate-1", {"format", "model", "certificate"}),
}


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


def ecmascript(text):
    """The number as RFC 8785 writes it: a double, by its shortest digits."""
    if re.fullmatch("-?[0-9]+", text) and 2**53 < abs(int(text)) and -(2**63) <= int(text) < 2**64:
        raise ValueError("a whole number is beyond 2^53, where readers differ: it is to be written as a text")
    mantissa, _, exponent = repr(abs(float(text))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)  # the number is 0.digits · 10^point
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    sign = "-" * (float(text) < 0)
    if len(digits) <= point <= 21:
        return f"{sign}{digits:0<{point}}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+}"


def canonical(value, order=lambda key: key.encode("utf-16-be", "surrogatepass"), form=ecmascript):
    """Canonical JSON after RFC 8785, or with another order of keys and form of numbers."""
    if isinstance(value, dict):
        items = (f"{json.dumps(key, ensure_ascii=False)}:{canonical(value[key], order, form)}" for key in sorted(value, key=order))
        return "{" + ",".join(items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, order, form) for item in value) + "]"
    return form(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def sorted_json(value):  # by code point, which is the order of the bytes in UTF-8
    return canonical(value, order=str, form=str)


def digest(document):
    bare = {key: value for key, value in document["certificate"].items() if key not in ("digest", "signature")}
    if document["format"] == "privet-model-1":
        return hashlib.sha256(f"{sorted_json(document['model'])}\0{sorted_json(bare)}".encode()).hexdigest()
    return hashlib.sha256(canonical(document | {"certificate": bare}).encode()).hexdigest()


def read(text):
    document = json.loads(text, parse_int=number, parse_float=number, parse_constant=number, object_pairs_hook=once)
    if not isinstance(document, dict) or str(document.get("format")) not in FORMATS:
        raise ValueError(f"accepted are documents of format {' or '.join(FORMATS)}")
    inner, fields = FORMATS[document["format"]]
    certificate = document.get("certificate")
    if set(document) != fields or not isinstance(certificate, dict) or certificate.get("format") != inner:
        raise ValueError(f"accepted is an object of {', '.join(sorted(fields))} with a certificate of format {inner}")
    return document


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
            document = read(file.read().decode("utf-8"))
        found, certificate = digest(document), document["certificate"]
        signature = certificate.get("signature")
        message = found if document["format"] == "privet-model-1" else f"privet-2:{found}"
        key = None if signature is None else signer(signature, message.encode())
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
