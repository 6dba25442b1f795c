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
# The same for format 2, in which a number is a double, however it is spelt; RFC 8785, appendix B, and more.
DOUBLES = {
    "-0": "0",
    "5e-324": "5e-324",
    "-1.7976931348623157e308": "-1.7976931348623157e+308",
    "9007199254740992": "9007199254740992",
    "295147905179352825856.0": "295147905179352830000",
    "9.999999999999997e22": "9.999999999999997e+22",
    "1E23": "1e+23",
    "999999999999999868928.0": "999999999999999900000",
    "1e21": "1e+21",
    "9.999999999999997e-7": "9.999999999999997e-7",
    "1e-6": "0.000001",
    "333333333.33333329": "333333333.3333333",
    "-0.0000033333333333333333": "-0.0000033333333333333333",
    "1424953923781206.25": "1424953923781206.2",
    "10.50": "10.5",
}

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
    document = seal.read(path.read_text(encoding="utf-8"))
    edit(document["certificate"])
    return write(tmp_path / "edited.json", document)


def write(path, document):
    """Numbers are written as they stand."""
    path.write_text(seal.sorted_json(document), encoding="utf-8")
    return path


def sealed(document):
    document["certificate"].pop("signature", None)
    document["certificate"]["digest"] = seal.digest(document)
    return document


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_files_of_every_version_hold(path):
    document = seal.read(path.read_text(encoding="utf-8"))
    assert seal.digest(document) == document["certificate"]["digest"]


def test_the_standard_library_is_enough_for_what_nobody_signed(model):
    text = model.read_text(encoding="utf-8")
    for number in ("-1e+22", "5e-324", "1e-7", "-0.0", "1.8446744073709552e+19"):
        assert number in text, number
    assert privet.verify(model)
    said = alone(model)
    assert "digest holds" in said and "not signed" in said
    assert json.loads(text)["format"] == "privet-2"
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
    # Moved from another file, of the other format.
    copy = edited(GOLDEN[0], tmp_path, lambda certificate: certificate.update(signature=original))
    assert script(copy, code=1) == "NOT VALID: the signature does not hold\n"
    assert not is_sealed(copy)


def test_what_is_no_model_file(model, script, tmp_path):
    text = model.read_text(encoding="utf-8")
    copy = tmp_path / "odd.json"
    for odd, words in (
        (text.replace('"rows"', '"rows": 1, "rows"'), "stands twice"),
        (text.replace('"format"', '"\\u0066ormat": "x", "format"', 1), "stands twice"),
        (text.replace('"body"', '"model"', 1), "body, certificate, format, kind"),
        (text.replace("{", '{"more": 1,', 1), "body, certificate, format, kind"),
        (text.replace('"privet-2"', '"privet-3"'), "privet-2 or privet-model-1"),
        (text.replace('"privet-2"', '["privet-2"]'), "privet-2 or privet-model-1"),
        (text.replace("privet-certificate-2", "privet-certificate-1"), "privet-certificate-2"),
        (GOLDEN[0].read_text().replace("privet-certificate-1", "privet-certificate-2"), "privet-certificate-1"),
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
        if words.startswith("privet-certificate"):  # which privet reads, to say so
            assert not is_sealed(copy)
            continue
        with pytest.raises(ValueError, match="not a privet model"):
            privet.verify(copy)
    copy.write_bytes(text.encode("utf-16"))
    assert "utf-8" in script(copy, code=2)
    assert "No such file" in script(tmp_path / "nothing", code=2)
    assert "usage" in script(code=2)


TEXTS = ["".join(map(chr, range(0x20))), '"\\/', "\x7f\x80\u2028\u2029", "\ufeff\uffff", "😀"]


@pytest.mark.parametrize("text", TEXTS)
def test_odd_numbers_and_texts_of_format_1_are_sealed_as_privet_seals_them(text, script, tmp_path):
    document = seal.read(ODD.read_text(encoding="utf-8"))
    document["model"]["weights"] = [list(map(seal.number, numbers)) for numbers in NUMBERS]
    document["certificate"]["request"]["rows"] = seal.number("18446744073709551615")
    document["certificate"]["notes"] = [text]
    path = write(tmp_path / "odd.json", sealed(document))
    script(path)
    assert is_sealed(path)
    document["model"]["weights"][0][0] = seal.number("1e-8")
    write(path, document)
    script(path, code=1)
    assert not is_sealed(path)


@pytest.mark.parametrize("text", TEXTS)
def test_odd_numbers_and_texts_of_format_2_are_sealed_as_privet_seals_them(text, model, script, tmp_path):
    document = seal.read(model.read_text(encoding="utf-8"))
    document["certificate"]["notes"] = [text]
    weights, spelt = document["body"]["weights"][0], list(map(seal.number, DOUBLES))
    for start in range(0, len(spelt), len(weights)):
        weights[:] = (spelt + spelt)[start : start + len(weights)]
        path = write(tmp_path / "odd.json", sealed(document))
        script(path)
        assert is_sealed(path)
    weights[0] = seal.number("0.12345")
    write(path, document)
    script(path, code=1)
    assert not is_sealed(path)


def test_doubles_are_written_as_the_standard_writes_them():
    for spelt, text in DOUBLES.items():
        assert seal.ecmascript(seal.number(spelt)) == text


def test_whole_numbers_that_no_double_holds_are_refused(model, script, tmp_path):
    for wide in ("9007199254740993", "-9007199254740993", "18446744073709551615"):
        document = seal.read(model.read_text(encoding="utf-8"))
        document["body"]["weights"][0][0] = seal.number(wide)
        path = write(tmp_path / "wide.json", document)
        assert "beyond 2^53" in script(path, code=2)
        assert not is_sealed(path)


def test_the_points_of_order_eight():
    """Doubled, they are those of order four, which have y = 0: then x² = −y², and the curve is d·y⁴ + 2·y² = 1."""
    d = -121665 * pow(121666, -1, seal.PRIME)
    assert (d * seal.EIGHTH**4 + 2 * seal.EIGHTH**2 - 1) % seal.PRIME == 0


def test_the_order_of_keys():
    keys = ["😀", "\uffff", "é", "z", "Z", "\x01", ""]
    by_bytes, by_units = sorted(keys, key=str.encode), sorted(keys, key=lambda key: key.encode("utf-16-be"))
    assert by_bytes != by_units
    assert list(json.loads(seal.sorted_json(dict.fromkeys(keys)))) == by_bytes
    assert list(json.loads(seal.canonical(dict.fromkeys(keys)))) == by_units
