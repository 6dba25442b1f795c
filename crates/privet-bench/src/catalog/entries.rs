//! What is known of each set.

use super::{Entry, Original};

const fn plain(name: &'static str, sha256: &'static str) -> Original {
    Original { name, sha256, gzip_sha256: None }
}

const fn gzipped(name: &'static str, sha256: &'static str, gzip: &'static str) -> Original {
    Original { name, sha256, gzip_sha256: Some(gzip) }
}

const CC_BY: &str = "CC BY 4.0 (cite)";

const COD_RNA: Original =
    plain("cod-rna.csv", "3e06433182ea21578952c790b09279d43b958d973875d01caccf55b69a4ec631");
const COD_RNA_ORIGIN: &str =
    "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#cod-rna";
const COD_RNA_LICENCE: &str = "none stated (cite Uzilov, Keegan and Mathews 2006)";

/// The weighted files are derived; this says how, so that whoever repeats it can compare digests.
const NEWSGROUPS: &str = "https://doi.org/10.24432/C5C323; the files are derived from its word-only \
    form by date (20ng-train-all-terms, 20ng-test-all-terms): words of two or more training \
    documents in alphabetical order, weight (1 + ln tf)·ln(N/df) with N and df of the training \
    part, rows scaled to norm 1, five significant digits, +1 for comp.* and sci.*, else -1";

/// In pairs of images and labels, training first.
const MNIST: &[Original] = &[
    gzipped(
        "train-images-idx3-ubyte",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    gzipped(
        "train-labels-idx1-ubyte",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    gzipped(
        "t10k-images-idx3-ubyte",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    gzipped(
        "t10k-labels-idx1-ubyte",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
];

/// Likewise.
const FASHION_MNIST: &[Original] = &[
    gzipped(
        "train-images-idx3-ubyte",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ),
    gzipped(
        "train-labels-idx1-ubyte",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    ),
    gzipped(
        "t10k-images-idx3-ubyte",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    gzipped(
        "t10k-labels-idx1-ubyte",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
];

/// All known sets.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "adult",
        title: "Adult (Census Income)",
        task: "income above 50K from 14 attributes; rows with unknown values left out",
        rows: 45_222,
        columns: 104,
        classes: 2,
        folder: "adult",
        origin: "https://archive.ics.uci.edu/dataset/2/adult",
        licence: CC_BY,
        files: &[
            plain("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            plain("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ],
    },
    Entry {
        name: "kddcup99",
        title: "KDD Cup 1999, 70,000 records of the 10 % file",
        task: "normal connection or attack from 41 attributes",
        rows: 70_000,
        columns: 114,
        classes: 2,
        folder: "kddcup99",
        origin: "https://archive.ics.uci.edu/dataset/130/kdd+cup+1999+data",
        licence: CC_BY,
        files: &[gzipped(
            "kddcup.data_10_percent",
            "f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a",
            "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561",
        )],
    },
    Entry {
        name: "covtype",
        title: "Forest Covertype",
        task: "one of seven kinds of forest from ten measurements, wilderness area and soil type",
        rows: 581_012,
        columns: 54,
        classes: 7,
        folder: "covtype",
        origin: "https://archive.ics.uci.edu/dataset/31/covertype",
        licence: CC_BY,
        files: &[plain(
            "covtype.data",
            "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
        )],
    },
    Entry {
        name: "covtype-2",
        title: "Forest Covertype, the second kind against the rest",
        task: "lodgepole pine or another forest from ten measurements, wilderness area and soil type",
        rows: 581_012,
        columns: 54,
        classes: 2,
        folder: "covtype",
        origin: "https://archive.ics.uci.edu/dataset/31/covertype",
        licence: CC_BY,
        files: &[plain(
            "covtype.data",
            "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
        )],
    },
    Entry {
        name: "mnist",
        title: "MNIST handwritten digits (first 55,000 training and all 10,000 test images)",
        task: "one of ten digits from 784 pixels",
        rows: 65_000,
        columns: 784,
        classes: 10,
        folder: "mnist",
        origin: "http://yann.lecun.com/exdb/mnist/",
        licence: "CC BY-SA 3.0",
        files: MNIST,
    },
    Entry {
        name: "cod-rna",
        title: "Cod-RNA (the LIBSVM training file, each row as \"label, v1, …, v8\")",
        task: "coding or non-coding RNA from eight measurements",
        rows: 59_535,
        columns: 8,
        classes: 2,
        folder: "cod-rna",
        origin: COD_RNA_ORIGIN,
        licence: COD_RNA_LICENCE,
        files: &[COD_RNA],
    },
    Entry {
        name: "a9a",
        title: "a9a (Adult in 123 binary features), with its published split",
        task: "income above 50K from 123 indicators",
        rows: 48_842,
        columns: 123,
        classes: 2,
        folder: "a9a",
        origin: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#a9a",
        licence: "derived from Adult, CC BY 4.0 (cite)",
        files: &[
            plain("a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
            plain("a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"),
        ],
    },
    Entry {
        name: "bank-marketing",
        title: "Bank Marketing (bank-full), without the length of the call",
        task: "whether a client takes a term deposit, from 15 attributes",
        rows: 45_211,
        columns: 48,
        classes: 2,
        folder: "bank-marketing",
        origin: "https://archive.ics.uci.edu/dataset/222/bank+marketing",
        licence: CC_BY,
        files: &[plain(
            "bank-full.csv",
            "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
        )],
    },
    Entry {
        name: "bank-calls",
        title: "Bank Marketing (bank-full), with the length of the call",
        task: "whether a client takes a term deposit, from 16 attributes",
        rows: 45_211,
        columns: 49,
        classes: 2,
        folder: "bank-marketing",
        origin: "https://archive.ics.uci.edu/dataset/222/bank+marketing",
        licence: CC_BY,
        files: &[plain(
            "bank-full.csv",
            "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
        )],
    },
    Entry {
        name: "diabetes-130",
        title: "Diabetes 130-US hospitals; the privacy unit is the patient, up to three encounters",
        task: "readmission (no, after 30 days, within 30 days) from 45 attributes; no deaths or hospices",
        rows: 99_343,
        columns: 212,
        classes: 3,
        folder: "diabetes-130",
        origin: "https://archive.ics.uci.edu/dataset/296/diabetes+130-us+hospitals+for+years+1999-2008",
        licence: CC_BY,
        files: &[plain(
            "diabetic_data.csv",
            "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
        )],
    },
    Entry {
        name: "california-housing",
        title: "California housing (1990 census)",
        task: "median house value, a number, from eight attributes of a block group",
        rows: 20_640,
        columns: 9,
        classes: 0,
        folder: "california-housing",
        origin: "https://lib.stat.cmu.edu/datasets/houses.zip (cal_housing.data, one comma-separated line a row)",
        licence: "public (cite Pace and Barry 1997)",
        files: &[plain(
            "cal_housing.data",
            "a2b44dcc7e1c9091b43c4f458b25cbd1f7e8068d08edd26bc4703108d3fa6214",
        )],
    },
    Entry {
        name: "20newsgroups",
        title: "20 Newsgroups by date, words weighted by tf-idf, with its published split",
        task: "computers and sciences or another group, from 42,280 words",
        rows: 18_821,
        columns: 42_280,
        classes: 2,
        folder: "20newsgroups",
        origin: NEWSGROUPS,
        licence: CC_BY,
        files: &[
            plain(
                "20news-binary.train.svm",
                "fe6c155f4acf282c9ce20bac6331d2d645d46496bd5e8e73bedb39fd04f3d5fe",
            ),
            plain(
                "20news-binary.test.svm",
                "e479efda3d62d66ca2489db2073f68943fa04eca954d12da4cc50dbb46b5ea59",
            ),
        ],
    },
    Entry {
        name: "reuters",
        title: "Reuters-21578, topic money-fx (as in the LASVM paper), with its published split",
        task: "about money or foreign exchange or not, from 8,315 words",
        rows: 11_069,
        columns: 8_315,
        classes: 2,
        folder: "reuters-money-fx",
        origin: "https://github.com/X-DataInitiative/tick-datasets (binary/reuters)",
        licence: "research use (cite Lewis)",
        files: &[
            plain(
                "reuters.trn.svm",
                "caacd2baf041b15b51ab65c0ec2ac834a439a561fb6708427c1c002c10ac7215",
            ),
            plain(
                "reuters.tst.svm",
                "6e267dcb1f83c68bcb1c3f30d7a70dd9fe059e1da39b9c191456ff827507539f",
            ),
        ],
    },
    Entry {
        name: "fashion-mnist",
        title: "Fashion-MNIST, all 70,000 images",
        task: "one of ten kinds of clothing from 784 pixels",
        rows: 70_000,
        columns: 784,
        classes: 10,
        folder: "fashion-mnist",
        origin: "https://github.com/zalandoresearch/fashion-mnist",
        licence: "MIT",
        files: FASHION_MNIST,
    },
    Entry {
        name: "mnist-images",
        title: "MNIST as images, with the published split",
        task: "one of ten digits from 28 × 28 pixels, by the scattering encoder",
        rows: 70_000,
        columns: 1200,
        classes: 10,
        folder: "mnist",
        origin: "http://yann.lecun.com/exdb/mnist/",
        licence: "CC BY-SA 3.0",
        files: MNIST,
    },
    Entry {
        name: "fashion-mnist-images",
        title: "Fashion-MNIST as images, with the published split",
        task: "one of ten kinds of clothing from 28 × 28 pixels, by the scattering encoder",
        rows: 70_000,
        columns: 1200,
        classes: 10,
        folder: "fashion-mnist",
        origin: "https://github.com/zalandoresearch/fashion-mnist",
        licence: "MIT",
        files: FASHION_MNIST,
    },
    Entry {
        name: "cod-rna-100000",
        title: "Cod-RNA followed by columns of zeros, 100,000 in all",
        task: "coding or non-coding RNA from eight measurements",
        rows: 59_535,
        columns: 100_000,
        classes: 2,
        folder: "cod-rna",
        origin: COD_RNA_ORIGIN,
        licence: COD_RNA_LICENCE,
        files: &[COD_RNA],
    },
    Entry {
        name: "cod-rna-1000000",
        title: "Cod-RNA followed by columns of zeros, 1,000,000 in all",
        task: "coding or non-coding RNA from eight measurements",
        rows: 59_535,
        columns: 1_000_000,
        classes: 2,
        folder: "cod-rna",
        origin: COD_RNA_ORIGIN,
        licence: COD_RNA_LICENCE,
        files: &[COD_RNA],
    },
    Entry {
        name: "synthetic-l",
        title: "Synthetic-L, made up: 30 informative features of 40",
        task: "one of two classes of two clusters each",
        rows: 10_000,
        columns: 40,
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    },
    Entry {
        name: "synthetic-h",
        title: "Synthetic-H, made up: 10 informative features of 2,000",
        task: "one of two classes of two clusters each",
        rows: 2_000,
        columns: 2_000,
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    },
    Entry {
        name: "uber-1",
        title: "Uber #1, a stand-in: made up in the shape of a proprietary set of 4 million rows",
        task: "one of two classes, from columns of which little is published",
        rows: 400_000,
        columns: 23,
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    },
    Entry {
        name: "uber-2",
        title: "Uber #2, a stand-in: made up in the shape of a proprietary set of 18 million rows",
        task: "one of two classes, from columns of which little is published",
        rows: 90_000,
        columns: 294,
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    },
    Entry {
        name: "uber-3",
        title: "Uber #3, a stand-in: made up in the shape of a proprietary set of 18 million rows",
        task: "one of two classes, from columns of which little is published",
        rows: 900_000,
        columns: 20,
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    },
    Entry {
        name: "uber-4",
        title: "Uber #4, a stand-in: made up in the shape of a proprietary set of 19 million rows",
        task: "one of two classes, from columns of which little is published",
        rows: 380_000,
        columns: 70,
        classes: 2,
        folder: "",
        origin: "",
        licence: "none needed",
        files: &[],
    },
];
