//! Pages in a real browser, for tests: Chromium, headless, in light and dark, wide and narrow.
//!
//! Any error is a panic, as in a test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Counts errors; stands first in the page.
pub const LISTEN: &str = "<script>let wrong = 0; \
    addEventListener('error', () => wrong++, true); \
    addEventListener('securitypolicyviolation', () => wrong++);</script>";

/// The browser to test with; without one the test prints that it is skipped, or fails under
/// `PRIVET_REQUIRE_BROWSER=1`.
pub fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PRIVET_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let actual = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file());
    if actual.is_none() {
        assert!(
            std::env::var_os("PRIVET_REQUIRE_BROWSER").is_none(),
            "no Chromium on the PATH: scripts/browser.sh installs it"
        );
        eprintln!(
            "SKIPPED: the page in a browser: no Chromium on the PATH (scripts/browser.sh installs it)"
        );
    }
    actual
}

/// Writes the page into a frame of this width, in a page of its own, and returns its path: a window is
/// never narrower than 500 pixels, a frame may be.
pub fn framed(folder: &Path, page: &str, width: u32) -> String {
    let place = folder.join("framed.html");
    let frame = format!(
        "<!doctype html><html><body style=\"margin:0\"><iframe style=\"border:0;width:{width}px;\
         height:4000px\" srcdoc=\"{}\"></iframe></body></html>",
        page.replace('&', "&amp;").replace('"', "&quot;")
    );
    std::fs::write(&place, frame).expect("a page can be written");
    format!("file://{}", place.display())
}

/// Runs the browser to its end and returns its output.
pub fn ran(
    browser: &Path,
    folder: &Path,
    dark: bool,
    width: u32,
    more: &[String],
) -> (Vec<u8>, String) {
    let profile = folder.join(format!("profile-{dark}-{width}-{}", more.len()));
    std::fs::create_dir_all(&profile).expect("a folder can be made");
    let (out, log) = (profile.join("out"), profile.join("log"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file can be made");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", profile.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .arg(format!("--window-size={width},4000"))
        .args(more)
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&log))
        .spawn()
        .expect("the browser starts");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the browser can be waited for") {
            break status;
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!(
                "the browser did not end: {}",
                std::fs::read_to_string(&log).unwrap_or_default()
            );
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let log = String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).into_owned();
    assert!(status.success(), "{status}: {log}");
    (std::fs::read(&out).unwrap_or_default(), log)
}

/// The attributes that the measuring script left.
pub fn measured(dom: &str) -> BTreeMap<String, String> {
    let root = dom.split_once("<html").map_or("", |(_, rest)| rest);
    let root = root.split_once('>').map_or("", |(root, _)| root);
    let pairs = root.split(" data-").skip(1).filter_map(|pair| pair.split_once("=\""));
    pairs
        .map(|(name, value)| (name.into(), value.trim_end().trim_end_matches('"').into()))
        .collect()
}
