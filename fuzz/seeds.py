"""Writes the seed corpus of the fuzz targets into fuzz/corpus.

    python3 fuzz/seeds.py            # text, gzip and schema seeds; Parquet seeds if pyarrow is there

`valid-*` must be read, `bad-*` refused, `odd-*` either, but without a panic
(crates/privet-fuzz/tests/replay.rs). `bad-decoder-panic-*` were found by fuzzing: the Parquet decoder
panics on them and the reader has to fence it. Model seeds start from fuzz/corpus/model/valid-*.json, which
`privet train` wrote; the damaged ones are derived from it here.
"""

import gzip
import json
import pathlib
import sys

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)


def cut(data, share=0.5):
    return data[: int(len(data) * share)]


# ---- CSV: the columns of privet_fuzz::TABLE_SCHEMA -------------------------------------------
HEADER = "age,gain,work,town,smokes,note,who,label\n"
ROWS = (
    "39,2174,private,Bern,0,x,u1,no\n"
    '50,-1e3,public,"Biel, Bienne",1,"a ""quoted"" note",u2,yes\n'
    "?,?,?,?,?,,u1,no\n"
    "17,0,elsewhere,Genève,1,x,u1,yes\n"
)


def csv():
    table = HEADER + ROWS
    write("csv", "valid-table.csv", table)
    write("csv", "valid-crlf.csv", table.replace("\n", "\r\n"))
    write("csv", "valid-gzip.csv.gz", gzip.compress(table.encode(), mtime=0))
    write("csv", "valid-two-gzip-members.csv.gz",
          gzip.compress(HEADER.encode(), mtime=0) + gzip.compress(ROWS.encode(), mtime=0))
    write("csv", "odd-bom.csv", b"\xef\xbb\xbf" + table.encode())
    write("csv", "odd-utf16.csv", table.encode("utf-16"))
    write("csv", "odd-no-last-newline.csv", table.rstrip("\n"))
    write("csv", "odd-blank-lines.csv", table.replace("\n", "\n\n"))
    write("csv", "odd-long-cell.csv", HEADER + "1,1,private," + "x" * 20000 + ",0,x,u1,no\n")
    write("csv", "odd-huge-number.csv", HEADER + "1e308,1" + "0" * 400 + ",private,a,0,x,u1,no\n")
    write("csv", "odd-tiny-number.csv", HEADER + "5e-324,-5e-324,private,a,0,x,u1,no\n")
    write("csv", "odd-many-users.csv",
          HEADER + "".join(f"{i},1,private,a,0,x,u{i % 3},no\n" for i in range(60)))
    write("csv", "bad-empty.csv", "")
    write("csv", "bad-header-only.csv", HEADER)
    write("csv", "bad-no-header.csv", ROWS)
    write("csv", "bad-ragged.csv", HEADER + "39,1,private\n")
    write("csv", "bad-too-many-cells.csv", HEADER + "39,1,private,a,0,x,u1,no,extra\n")
    write("csv", "bad-nan.csv", HEADER + "NaN,1,private,a,0,x,u1,no\n")
    write("csv", "bad-infinite.csv", HEADER + "1,inf,private,a,0,x,u1,no\n")
    write("csv", "bad-hexadecimal.csv", HEADER + "0x1p3,1,private,a,0,x,u1,no\n")
    write("csv", "bad-third-label.csv", HEADER + "1,1,private,a,0,x,u1,maybe\n")
    write("csv", "bad-repeated-column.csv", "age," + HEADER + "1," + ROWS)
    write("csv", "bad-missing-column.csv", table.replace("gain", "pain"))
    write("csv", "bad-invalid-utf8.csv", HEADER.encode() + b"\xff\xfe,\x80,private,a,0,x,u1,no\n")
    write("csv", "bad-nul.csv", HEADER.encode() + b"\x00,1,private,a,0,x,u1,no\n")
    write("csv", "odd-open-quote.csv", HEADER + '1,1,"private,a,0,x,u1,no\n' * 3)
    write("csv", "bad-truncated-gzip.csv.gz", cut(gzip.compress(table.encode(), mtime=0), 0.6))
    write("csv", "bad-gzip-header-only.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
    write("csv", "bad-zstd-magic-only.csv.zst", b"\x28\xb5\x2f\xfd")
    bomb = gzip.compress((HEADER + "1,1,private,a,0,x,u1,no\n" * 20000).encode(), mtime=0)
    write("csv", "odd-well-compressed.csv.gz", bomb)


# ---- LIBSVM ----------------------------------------------------------------------------------
def libsvm():
    table = "-1 1:0.5 3:1 1000:-2.5\n+1 2:1e-3 7:10 # a comment\n1.0 5:1\n-1\n"
    write("libsvm", "valid-table.svm", table)
    write("libsvm", "valid-crlf.svm", table.replace("\n", "\r\n"))
    write("libsvm", "valid-gzip.svm.gz", gzip.compress(table.encode(), mtime=0))
    write("libsvm", "odd-blank-lines.svm", "\n\n" + table + "\n# only a comment\n")
    write("libsvm", "odd-huge-number.svm", "-1 1:1e308 2:-1e308 3:5e-324\n")
    write("libsvm", "odd-bom.svm", b"\xef\xbb\xbf" + table.encode())
    write("libsvm", "bad-empty.svm", "")
    write("libsvm", "bad-index-zero.svm", "-1 0:1\n")
    write("libsvm", "bad-index-beyond.svm", "-1 1001:1\n")
    write("libsvm", "bad-index-overflow.svm", "-1 99999999999999999999:1\n")
    write("libsvm", "bad-decreasing.svm", "-1 3:1 2:1\n")
    write("libsvm", "bad-repeated.svm", "-1 3:1 3:1\n")
    write("libsvm", "bad-nan.svm", "-1 1:nan\n")
    write("libsvm", "bad-infinite.svm", "-1 1:-inf\n")
    write("libsvm", "bad-label.svm", "2 1:1\n")
    write("libsvm", "bad-no-value.svm", "-1 1:\n")
    write("libsvm", "bad-no-colon.svm", "-1 1 2\n")
    write("libsvm", "bad-invalid-utf8.svm", b"-1 1:\xff\n")
    write("libsvm", "bad-truncated-gzip.svm.gz", cut(gzip.compress(table.encode(), mtime=0), 0.7))


# ---- schema ----------------------------------------------------------------------------------
SMALL = """
bias = true
[file]
missing_values = ["?"]
[clip]
norm = "l2"
radius = 1.0
[target]
column = "label"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [0, 120]
[[columns]]
name = "work"
type = "category"
categories = ["private", "public"]
unknown = "other"
missing = { as = "public" }
"""


def schema():
    write("schema", "valid-small.toml", SMALL)
    write("schema", "valid-crlf.toml", SMALL.replace("\n", "\r\n"))
    write("schema", "valid-everything.toml", """
bias = 0.5
storage = "csr"
[file]
format = "csv"
separator = ";"
quote = "'"
header = false
trim = false
missing_values = ["?", "", "NA"]
[clip]
norm = "linf"
radius = 0.25
[target]
column = "price"
bounds = [0, 500000]
[unit]
column = "who"
max_records = 3
[[columns]]
name = "who"
type = "unit"
[[columns]]
name = "price"
type = "target"
[[columns]]
name = "gain"
type = "number"
bounds = [-1e9, 1e9]
scale = "symmetric"
transform = "log1p"
missing = "category"
[[columns]]
name = "town"
type = "category"
hash_buckets = 64
missing = "category"
[[columns]]
name = "smokes"
type = "binary"
values = ["no", "yes"]
missing = { as = "no" }
[[columns]]
name = "note"
type = "ignore"
""")
    write("schema", "valid-libsvm.toml", """
[file]
format = "libsvm"
[clip]
norm = "l2"
radius = 1
[target]
classes = ["-1", "+1"]
[libsvm]
features = 123
bounds = [0, 1]
""")
    write("schema", "bad-empty.toml", "")
    write("schema", "bad-unknown-key.toml", SMALL + 'colour = "red"\n')
    write("schema", "bad-nan-bound.toml", SMALL.replace("[0, 120]", "[nan, 120]"))
    write("schema", "bad-infinite-bound.toml", SMALL.replace("[0, 120]", "[0, inf]"))
    write("schema", "bad-reversed-bounds.toml", SMALL.replace("[0, 120]", "[120, 0]"))
    write("schema", "bad-huge-bounds.toml", SMALL.replace("[0, 120]", "[-1e308, 1e308]"))
    write("schema", "bad-radius.toml", SMALL.replace("radius = 1.0", "radius = -1.0"))
    write("schema", "bad-one-class.toml", SMALL.replace('["no", "yes"]', '["no"]'))
    write("schema", "bad-repeated-class.toml", SMALL.replace('["no", "yes"]', '["no", "no"]'))
    write("schema", "bad-integer-overflow.toml",
          SMALL.replace("radius = 1.0", "radius = 1" + "0" * 30))
    write("schema", "bad-buckets.toml",
          SMALL.replace('categories = ["private", "public"]', "hash_buckets = 4294967295"))
    write("schema", "bad-cut.toml", cut(SMALL.encode(), 0.8))
    write("schema", "bad-deep.toml", "x = " + "[" * 5000 + "]" * 5000)
    write("schema", "bad-deep-table.toml", "[" + ".".join(["a"] * 5000) + "]\n")
    write("schema", "bad-invalid-utf8.toml", SMALL.encode().replace(b"age", b"\xffge"))
    write("schema", "odd-unicode.toml", SMALL.replace("private", "прив\\u0000ет"))
    write("schema", "odd-bom.toml", b"\xef\xbb\xbf" + SMALL.encode())


# ---- Parquet ---------------------------------------------------------------------------------
def parquet():
    try:
        import pyarrow as arrow
        import pyarrow.parquet as writer
    except ImportError:
        print("SKIPPED: Parquet seeds: no pyarrow", file=sys.stderr)
        return
    import io

    def table(**changes):
        columns = {
            "age": [39.0, 50.0, None, 17.0],
            "gain": [2174, -1000, None, 0],
            "work": ["private", "public", None, "elsewhere"],
            "town": ["Bern", "Biel", None, "Genève"],
            "smokes": ["0", "1", None, "1"],
            "note": [b"x", b"\xff", None, b""],
            "who": ["u1", "u2", "u1", "u1"],
            "label": ["no", "yes", "no", "yes"],
        }
        columns.update(changes)
        return arrow.table(columns)

    def encoded(content, **options):
        sink = io.BytesIO()
        writer.write_table(content, sink, **options)
        return sink.getvalue()

    plain = encoded(table(), compression="none", store_schema=False)
    write("parquet", "valid-plain.parquet", plain)
    for codec in ["snappy", "zstd", "gzip", "lz4"]:
        write("parquet", f"valid-{codec}.parquet",
              encoded(table(), compression=codec, store_schema=False))
    # A codec that is not built in.
    write("parquet", "bad-brotli.parquet",
          encoded(table(), compression="brotli", store_schema=False))
    write("parquet", "valid-delta.parquet", encoded(
        table(), compression="none", use_dictionary=False, data_page_version="2.0",
        store_schema=False,
        column_encoding={"gain": "DELTA_BINARY_PACKED", "work": "DELTA_LENGTH_BYTE_ARRAY",
                         "town": "DELTA_BYTE_ARRAY"}))
    write("parquet", "odd-types.parquet", encoded(
        table(age=arrow.array([1, 2, 3, None], arrow.uint64()),
              gain=arrow.array([True, False, None, True])), store_schema=False))
    write("parquet", "bad-nan.parquet",
          encoded(table(age=[float("nan"), 1.0, 2.0, 3.0]), store_schema=False))
    write("parquet", "bad-nested.parquet",
          encoded(table(age=[[1.0], [2.0, 3.0], None, []]), store_schema=False))
    write("parquet", "bad-no-rows.parquet", encoded(table().slice(0, 0), store_schema=False))
    write("parquet", "bad-empty.parquet", b"")
    write("parquet", "bad-magic-only.parquet", b"PAR1PAR1")
    write("parquet", "bad-cut.parquet", cut(plain))
    write("parquet", "bad-no-footer.parquet", plain[:-8])
    write("parquet", "bad-footer-length.parquet", plain[:-8] + b"\xff\xff\xff\x7fPAR1")
    half = len(plain) // 2
    write("parquet", "odd-flipped.parquet",
          plain[:half] + bytes([plain[half] ^ 0xFF]) + plain[half + 1:])


# ---- model files -----------------------------------------------------------------------------
def model():
    sources = sorted((CORPUS / "model").glob("valid-*.json"))
    if not sources:
        print("SKIPPED: model seeds: no fuzz/corpus/model/valid-*.json", file=sys.stderr)
        return
    text = sources[0].read_text()
    write("model", "bad-empty.json", "")
    write("model", "bad-cut.json", cut(text.encode()))
    write("model", "bad-deep.json", '{"format":"privet-2","kind":"linear","body":' + "[" * 100000)
    write("model", "bad-extra-field.json", json.dumps({**json.loads(text), "extra": 1}))
    write("model", "bad-huge-rows.json", text.replace('"rows": 4', '"rows": 1' + "0" * 40))
    write("model", "bad-not-utf8.json", text.encode().replace(b"privet", b"priv\xff", 1))
    write("model", "bad-format.json", text.replace("privet-2", "privet-9"))

    def edited(name, change):
        document = json.loads(text)
        change(document)
        write("model", name, json.dumps(document))

    def huge(document):
        document["body"]["weights"][0][0] = 1e400

    def longer(document):
        document["body"]["weights"][0].append(0.0)

    def stronger(document):
        document["certificate"]["guarantee"]["epsilon"] /= 2

    def rows(document):
        document["certificate"]["request"]["rows"] = 2**53

    def no_digest(document):
        document["certificate"].pop("digest", None)

    def repeated(document):
        event = document["certificate"]["events"]
        for _ in range(40):
            event = {"repeat": {"count": 4294967295, "event": event}}
        document["certificate"]["events"] = event

    def nothing(document):
        document["certificate"]["events"] = {"all": []}

    edited("bad-infinite-weight.json", huge)
    edited("bad-too-many-weights.json", longer)
    edited("odd-stronger-claim.json", stronger)
    edited("odd-many-rows.json", rows)
    edited("odd-no-digest.json", no_digest)
    edited("odd-repeated-event.json", repeated)
    edited("odd-no-event.json", nothing)


if __name__ == "__main__":
    for part in (csv, libsvm, schema, parquet, model):
        part()
    for folder in sorted(CORPUS.iterdir()):
        print(f"{folder.name}: {len(list(folder.iterdir()))} seeds")
