//! The page in a real browser: Chromium, headless, in light and dark, wide and narrow.
//!
//! Elements are counted in the DOM that the browser made of the page, widths are those of its layout,
//! and colours are pixels of its screenshot. Without a browser the test says SKIPPED;
//! `scripts/browser.sh` installs one, and `PRIVET_REQUIRE_BROWSER=1` makes its absence a failure.

use crate::chromium::{LISTEN, browser, framed, measured, ran};
use crate::fixture::{EPSILONS, HOSTILE, races, suite, text};
use privet_bench::report::html::POLICY;
use privet_bench::report::{Format, Results, write_report};
use std::collections::BTreeMap;
use std::path::Path;

/// Measures the layout and writes its findings into attributes of the root element.
const MEASURE: &str = "<script>addEventListener('load', () => { \
    const root = document.documentElement, all = (query) => [...document.querySelectorAll(query)]; \
    const say = (name, value) => top.document.documentElement.setAttribute('data-' + name, String(value)); \
    say('wrong', wrong); say('title', document.title); \
    say('wide', root.scrollWidth > root.clientWidth); say('inner', innerWidth); \
    say('dark', matchMedia('(prefers-color-scheme: dark)').matches); \
    say('plots', all('svg.plot[role=img][aria-label]').length); \
    say('points', all('svg.plot g.point > title').length); \
    say('published', all('svg.plot g.published > title').length); \
    say('levels', all('svg.plot path.dashed').length); \
    say('rows', all('tbody tr').length); \
    say('tables', all('table').length); say('captions', all('table > caption').length); \
    say('warnings', all('td.warning').length); say('links', all('nav a').length); \
    say('broken', all('nav a').filter((a) => !document.getElementById(a.hash.slice(1))).length); \
    say('narrowest', Math.floor(Math.min(...all('svg.plot').map((one) => one.getBoundingClientRect().width)))); \
    say('outside', all('svg.plot').filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length); \
    say('cut', all('svg.plot text').filter((one) => { const a = one.getBoundingClientRect(), \
        b = one.ownerSVGElement.getBoundingClientRect(); \
        return a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1; }).length); \
});</script>";

/// The number of pixels of each colour.
fn pixels(file: &Path) -> (u32, BTreeMap<[u8; 3], usize>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    let mut counts = BTreeMap::new();
    for pixel in buffer[..info.buffer_size()].chunks_exact(info.color_type.samples()) {
        *counts.entry([pixel[0], pixel[1], pixel[2]]).or_insert(0) += 1;
    }
    (info.width, counts)
}

#[test]
fn the_page_is_right_in_a_browser() {
    let Some(browser) = browser() else { return };
    let sets = [("adult", 84.0), ("covtype", 71.3), (HOSTILE, 70.0)];
    let files = [
        suite("iyengar-logistic", &sets, "accuracy"),
        suite("own", &[("california", 0.61)], "r-squared"),
        races(),
    ];
    let results: Vec<Results> = files
        .iter()
        .map(|lines| Results::parse(text(lines).as_bytes(), Path::new("results.jsonl")).unwrap())
        .collect();
    let page = write_report(&results, Format::Html).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("page.html");
    std::fs::write(&plain, &page).unwrap();
    let allowed = format!("{POLICY}; script-src 'unsafe-inline'");
    let watched = page
        .replace(POLICY, &allowed)
        .replacen("<head>", &format!("<head>{LISTEN}"), 1)
        .replacen("</body>", &format!("{MEASURE}</body>"), 1);

    for (dark, width, least) in [(false, 1400, 400), (true, 400, 340)] {
        let url = framed(folder.path(), &watched, width);
        let (dom, _) = ran(&browser, folder.path(), dark, width, &["--dump-dom".into(), url]);
        let actual = measured(&String::from_utf8_lossy(&dom));
        let get = |name: &str| actual.get(name).map_or("missing", String::as_str);
        let at = format!("at {width} pixels: {actual:?}");
        assert_eq!(get("inner"), width.to_string(), "{at}");
        assert_eq!(get("dark"), dark.to_string(), "{at}");
        assert_eq!(get("wrong"), "0", "errors of the page, {at}");
        assert_eq!(get("wide"), "false", "the page scrolls sideways, {at}");
        assert_eq!(get("title"), "privet benchmark: iyengar-logistic, own, race");
        // Two panels a set, and two of growth.
        let panels = 2 * (sets.len() + 1);
        assert_eq!(get("plots"), (panels + 2).to_string(), "{at}");
        // Ten sound and six printed entries; four sizes of two entrants, in time and memory.
        let points = (sets.len() + 1) * 16 * EPSILONS.len() + 2 * 2 * 4;
        assert_eq!(get("points"), points.to_string(), "{at}");
        assert_eq!(get("published"), (2 * 2 * 6).to_string(), "six numbers of two sets, {at}");
        assert_eq!(get("levels"), panels.to_string(), "{at}");
        let rows = page.matches("<tr>").count() - page.matches("<thead>").count();
        assert_eq!(get("rows"), rows.to_string(), "{at}");
        assert_eq!(get("tables"), get("captions"), "{at}");
        assert_eq!(get("warnings"), (EPSILONS.len() * (sets.len() + 1)).to_string(), "{at}");
        assert_eq!(
            get("links"),
            page.matches("<h2")
                .count()
                .checked_add(page.matches("<h3").count())
                .unwrap()
                .to_string()
        );
        assert_eq!((get("broken"), get("outside"), get("cut")), ("0", "0", "0"), "{at}");
        assert!(get("narrowest").parse::<u32>().is_ok_and(|narrowest| narrowest >= least), "{at}");

        let picture = folder.path().join(format!("page-{width}.png"));
        let url = format!("file://{}", plain.display());
        let shot = format!("--screenshot={}", picture.display());
        let (_, log) = ran(&browser, folder.path(), dark, width, &[shot, url]);
        assert!(!log.contains("CONSOLE"), "{log}");
        let (painted, counts) = pixels(&picture);
        assert_eq!(painted, width);
        let count = |colour: [u8; 3]| counts.get(&colour).copied().unwrap_or(0);
        // Page, text, and the colours of the learners: amp, gd, sgd, output, psgd, psgd-strong, frank-wolfe.
        let (background, ink, series) = if dark {
            (
                [0x16, 0x18, 0x1a],
                [0xe8, 0xe9, 0xea],
                [
                    [0x4d, 0xa3, 0xdd],
                    [0xf0, 0x8a, 0x3c],
                    [0x35, 0xc2, 0x99],
                    [0xe2, 0x8f, 0xbe],
                    [0xd9, 0xb1, 0x3b],
                    [0x86, 0xcd, 0xf2],
                    [0xa9, 0x92, 0xee],
                ],
            )
        } else {
            (
                [0xfd, 0xfd, 0xfc],
                [0x1d, 0x1f, 0x21],
                [
                    [0x00, 0x72, 0xb2],
                    [0xd5, 0x5e, 0x00],
                    [0x00, 0x80, 0x5c],
                    [0xb8, 0x57, 0x8f],
                    [0x8a, 0x6a, 0x00],
                    [0x2f, 0x8f, 0xc4],
                    [0x6a, 0x4f, 0xb3],
                ],
            )
        };
        let all: usize = counts.values().sum();
        assert!(2 * count(background) > all, "{} of {all} pixels are page", count(background));
        assert!(count(ink) > 500, "{}", count(ink));
        for colour in series {
            assert!(count(colour) > 20, "{colour:02x?} at {width}: {} pixels", count(colour));
        }
    }
}
