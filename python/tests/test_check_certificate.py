"""The script in docs/ that checks a seal without privet says what `privet verify` says of it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import privet

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "check_certificate.py"
GOLDEN = sorted((ROOT / "crates" / "privet-learn" / "tests" / "golden").rglob("*.json"))

# Quotes, blanks that end a line elsewhere, a control character, and beyond the first 65,536.
CLASSES = ['"é\\\u2028\x7f', "\uffee", "😀"]
# A file of three classes and five coordinates, and numbers for it as privet writes them.
ODD = next(path for path in GOLDEN if path.stem == "gd-logistic-add-remove-3-approximate")
NUMBERS = [
    ["1e-7", "5e-324", "1e+22", "-0.0", "0.00001"],
    ["9007199254740992.0", "-1000000000000000.0", "1e+16", "1.8446744073709552e+19", "-0.0001"],
    ["0.1", "123456789.125", "-1.7976931348623157e+308", "2.2250738585072014e-308", "0.0"],
]

spec = importlib.util.spec_from_file_location("check_certificate", SCRIPT)
seal = importlib.util.module_from_spec(spec)
spec.loader.exec_module(seal)


def alone(*arguments, code=0):
    """The script in a Python with nothing but the standard library."""
    command = [sys.executable, "-I", "-S", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def script(monkeypatch, capsys):
    """The script in this process, for the sake of time."""

    def run(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["check_certificate.py", *map(str, arguments)])
        try:
            ended = seal.main()
        except SystemExit as exit:
            ended = exit.code
        said = capsys.readouterr()
        assert ended == code, said
        return said.out + said.err

    return run


def is_sealed(path):
    """What privet says of the seal."""
    (check,) = [check for check in privet.verify(path).checks if "belong together" in check.what]
    return check.holds


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    """A file with odd classes and bounds."""
    X, _ = table
    y = np.array(CLASSES)[np.arange(len(X)) % 3]
    bounds = ([-1e22, -0.0, 1e-7], [1e22, 5e-324, 18446744073709551615.0])
    path = tmp_path_factory.mktemp("seal") / "model.json"
    privet.PrivateLogisticRegression(epsilon=2, bounds=bounds, classes=CLASSES).fit(X, y).save(path)
    return path


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A signed file of the command line, and the key."""
    folder = tmp_path_factory.mktemp("signed")

    def command(*arguments):
        done = subprocess.run([sys.executable, "-m", "privet", *arguments], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (folder / "schema.toml").write_text(
        '[target]\ncolumn = "ill"\nclasses = ["no", "yes"]\n[clip]\nnorm = "l2"\nradius = 1.0\n'
        '[[columns]]\nname = "age"\ntype = "number"\nbounds = [0, 100]\n'
    )
    (folder / "table.csv").write_text("age,ill\n" + "30,no\n70,yes\n" * 200)
    command("keygen", "--out", "key")
    train = "train table.csv --schema schema.toml --epsilon 1 --sign key --out model.json"
    command(*train.split())
    path = folder / "model.json"
    return path, json.loads(path.read_text())["certificate"]["signature"]["public_key"]


def edited(path, tmp_path, edit):
    """A copy with another certificate."""
    model, certificate = seal.read(path.read_text(encoding="utf-8"))
    edit(certificate)
    return write(tmp_path / "edited.json", model, certificate)


def write(path, model, certificate):
    document = {"format": "privet-model-1", "model": model, "certificate": certificate}
    path.write_text(seal.canonical(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_files_of_every_version_hold(path):
    model, certificate = seal.read(path.read_text(encoding="utf-8"))
    assert seal.digest(model, certificate) == certificate["digest"]


def test_the_standard_library_is_enough_for_what_nobody_signed(model):
    text = model.read_text(encoding="utf-8")
    for number in ("-1e+22", "5e-324", "1e-7", "-0.0", "1.8446744073709552e+19"):
        assert number in text, number
    assert privet.verify(model)
    said = alone(model)
    assert "digest holds" in said and "not signed" in said
    assert "Exit code" in alone("--help")


def test_who_signed(signed, script):
    path, key = signed
    assert f"signed by {key}" in script(path)
    assert f"signed by {key}" in script(path, "--signer", key.upper())
    assert "the key that --signer names" in script(path, "--signer", "ab" * 32, code=1)
    assert "the key that --signer names" in script(GOLDEN[0], "--signer", key, code=1)
    assert "64 hexadecimal digits" in script(path, "--signer", "ab", code=2)
    assert "cryptography" in alone(path, code=2)


def test_what_was_changed_does_not_hold(model, signed, script, tmp_path):
    text = model.read_text(encoding="utf-8")
    for before, after in (
        ("5e-324", "1e-323"),
        ("😀", "😁"),
        ('"rows": 2000', '"rows": 2001'),
        ('"digest": "', '"digest": "0'),
    ):
        assert before in text
        copy = tmp_path / "changed.json"
        copy.write_text(text.replace(before, after), encoding="utf-8")
        assert "the digest is missing or that of other contents" in script(copy, code=1)
        assert not is_sealed(copy)
    for key in ("digest", "made"):
        copy = edited(signed[0], tmp_path, lambda certificate: certificate.pop(key))
        assert "NOT VALID: the digest is missing" in script(copy, code=1)


def test_signatures_that_do_not_hold(signed, script, tmp_path):
    path, key = signed
    neutral = "01" + "00" * 31
    eighth = seal.EIGHTH.to_bytes(32, "little").hex()

    original = json.loads(path.read_text(encoding="utf-8"))["certificate"]["signature"]
    proof = original["signature"]
    for odd in (
        original | {"public_key": "ab" * 32},
        original | {"signature": "00" * 64},
        original | {"signature": f"{proof[:2]} {proof[2:]}"},
        original | {"signature": f"{proof[:126]}  "},
        original | {"signature": int("1" * 128)},
        original | {"other": 1},
        {"public_key": key},
        {"public_key": neutral, "signature": neutral + "00" * 32},
        {"public_key": eighth, "signature": neutral + "00" * 32},
        "x",
    ):
        copy = edited(path, tmp_path, lambda certificate: certificate.update(signature=odd))
        assert script(copy, code=1) == "NOT VALID: the signature does not hold\n", odd
    # Moved from another file.
    copy = edited(GOLDEN[0], tmp_path, lambda certificate: certificate.update(signature=original))
    assert script(copy, code=1) == "NOT VALID: the signature does not hold\n"
    assert not is_sealed(copy)


def test_what_is_no_model_file(model, script, tmp_path):
    text = model.read_text(encoding="utf-8")
    copy = tmp_path / "odd.json"
    for odd, words in (
        (text.replace('"rows"', '"rows": 1, "rows"'), "stands twice"),
        (text.replace('"format"', '"\\u0066ormat": "x", "format"', 1), "stands twice"),
        (text.replace('"model"', '"models"', 1), "format, model and certificate"),
        (text.replace("{", '{"more": 1,', 1), "format, model and certificate"),
        (text.replace("privet-model-1", "privet-model-2"), "privet-model-1"),
        (text.replace("privet-certificate-1", "privet-certificate-2"), "privet-certificate-1"),
        (text.replace("5e-324", "NaN"), "not finite"),
        (text.replace("5e-324", "1e999"), "not finite"),
        (text.replace("😀", "\\ud83d"), "surrogates"),
        (text[:-9], "line"),
        (text + "{}", "Extra data"),
        ("\ufeff" + text, "BOM"),
        ("[" * 100_000, "recursion"),
        ("[]", "accepted"),
    ):
        copy.write_text(odd, encoding="utf-8")
        assert words in script(copy, code=2), words
        if "certificate-2" not in odd:  # which privet reads, to say so
            with pytest.raises(ValueError, match="not a privet model"):
                privet.verify(copy)
    copy.write_bytes(text.encode("utf-16"))
    assert "utf-8" in script(copy, code=2)
    assert "No such file" in script(tmp_path / "nothing", code=2)
    assert "usage" in script(code=2)


@pytest.mark.parametrize("text", ["".join(map(chr, range(0x20))), '"\\/', "\x7f\x80\u2028\u2029", "\ufeff\uffff", "😀"])
def test_odd_numbers_and_texts_are_sealed_as_privet_seals_them(text, script, tmp_path):
    model, certificate = seal.read(ODD.read_text(encoding="utf-8"))
    model["weights"] = [list(map(seal.number, numbers)) for numbers in NUMBERS]
    certificate["request"]["rows"] = seal.number("18446744073709551615")
    certificate["notes"] = [text]
    del certificate["digest"]
    certificate["digest"] = seal.digest(model, certificate)
    path = write(tmp_path / "odd.json", model, certificate)
    script(path)
    assert is_sealed(path)
    model["weights"][0][0] = seal.number("1e-8")
    write(path, model, certificate)
    script(path, code=1)
    assert not is_sealed(path)


def test_the_points_of_order_eight():
    """Doubled, they are those of order four, which have y = 0: then x² = −y², and the curve is d·y⁴ + 2·y² = 1."""
    d = -121665 * pow(121666, -1, seal.PRIME)
    assert (d * seal.EIGHTH**4 + 2 * seal.EIGHTH**2 - 1) % seal.PRIME == 0


def test_keys_are_sorted_by_their_bytes():
    keys = ["😀", "\uffff", "é", "z", "Z", "\x01", ""]
    expected = sorted(keys, key=str.encode)
    assert list(json.loads(seal.canonical(dict.fromkeys(keys)))) == expected != sorted(keys, key=lambda k: k.encode("utf-16-be"))
