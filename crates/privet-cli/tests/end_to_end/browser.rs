//! The page to sign in a real browser: nothing overflows, wide or narrow, and there is no error.
//!
//! Without a browser the test prints SKIPPED; `scripts/browser.sh` installs one.
//! `PRIVET_KEEP_PAGES=FOLDER` keeps pages and pictures for inspection.

use crate::chromium::{LISTEN, browser, framed, measured, ran};
use crate::world::{TRAIN, World};
use std::path::PathBuf;

/// Measures the layout and writes its findings into attributes of the root element.
const MEASURE: &str = "<script>addEventListener('load', () => { \
    const root = document.documentElement, all = (query) => [...document.querySelectorAll(query)]; \
    const say = (name, value) => top.document.documentElement.setAttribute('data-' + name, String(value)); \
    say('wrong', wrong); say('title', document.title); say('inner', innerWidth); \
    say('wide', root.scrollWidth > root.clientWidth); \
    say('sections', all('h2').length); say('tables', all('table').length); say('curves', all('svg path.line').length); \
    say('outside', all('p, h1, h2, h3, svg, .scrolled').filter((one) => \
        one.getBoundingClientRect().right > innerWidth + 1).length); \
    say('loose', all('table').filter((one) => !one.closest('.scrolled') && \
        one.getBoundingClientRect().right > innerWidth + 1).length); \
    say('whole', all('.unbroken').length); \
    say('broken', all('.unbroken').filter((one) => one.getClientRects().length > 1).length); \
    say('cut', all('svg text').filter((one) => { const a = one.getBoundingClientRect(), \
        b = one.ownerSVGElement.getBoundingClientRect(); \
        return a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1; }).length); \
});</script>";

/// The page's own content policy; measuring scripts are allowed as well.
fn policy(page: &str) -> &str {
    let (_, rest) = page.split_once("Content-Security-Policy\" content=\"").unwrap();
    rest.split_once('"').unwrap().0
}

#[test]
fn the_page_to_sign_is_right_in_a_browser() {
    let Some(browser) = browser() else { return };
    let world = World::new();
    // A long and hostile name, and a schema whose bounds were estimated privately.
    let long = "ward <b>of</b> a hospital with a very long name, & \"quoted\"";
    let schema = world.read("schema.toml").replace("bounds = [0, 100]", "bounds = [0, 100000]");
    world.write("wide.toml", schema.replace("\"c\"]", &format!("\"c\", {long:?}]")));
    world.ok("describe table.csv --schema wide.toml --epsilon 60 --out table.json");
    world.ok("schema narrow wide.toml --by table.json --out narrow.toml");
    world.ok(&TRAIN.replace("schema.toml", "narrow.toml"));
    world.ok("evaluate model.json table.csv --epsilon 2 --out worth.json");
    world.ok("train table.csv --schema schema.toml --method non-private --out free.json");
    let folder = tempfile::tempdir().unwrap();
    for (name, curves) in [("model", 1), ("worth", 1), ("free", 0)] {
        world.ok(&format!("report {name}.json --html {name}.html"));
        let page = world.read(&format!("{name}.html"));
        assert!(!page.contains("<b>of"), "{name}: a text is not escaped");
        let own = policy(&page).to_string();
        let watched = page
            .replace(&own, &format!("{own}; script-src 'unsafe-inline'"))
            .replacen("<head>", &format!("<head>{LISTEN}"), 1)
            .replacen("</body>", &format!("{MEASURE}</body>"), 1);
        for (dark, width) in [(false, 1400), (true, 400)] {
            let url = framed(folder.path(), &watched, width);
            let (dom, _) = ran(&browser, folder.path(), dark, width, &["--dump-dom".into(), url]);
            let actual = measured(&String::from_utf8_lossy(&dom));
            let get = |name: &str| actual.get(name).map_or("missing", String::as_str);
            let at = format!("{name} at {width} pixels: {actual:?}");
            assert_eq!(get("inner"), width.to_string(), "{at}");
            assert_eq!(get("wrong"), "0", "errors of the page, {at}");
            assert_eq!(get("wide"), "false", "the page scrolls sideways, {at}");
            assert_eq!((get("outside"), get("loose"), get("cut")), ("0", "0", "0"), "{at}");
            assert_eq!(get("broken"), "0", "a number is broken at its hyphen, {at}");
            assert!(name == "free" || get("whole") != "0", "{at}");
            assert_eq!(get("curves"), curves.to_string(), "{at}");
            assert_eq!(get("sections"), page.matches("<h2>").count().to_string(), "{at}");
            assert_eq!(get("tables"), page.matches("<table>").count().to_string(), "{at}");
            let Some(kept) = std::env::var_os("PRIVET_KEEP_PAGES").map(PathBuf::from) else {
                continue;
            };
            std::fs::create_dir_all(&kept).unwrap();
            let url = framed(&kept, &page, width);
            let shot =
                format!("--screenshot={}", kept.join(format!("{name}-{width}.png")).display());
            ran(&browser, folder.path(), dark, width, &[shot, url]);
        }
    }
}
