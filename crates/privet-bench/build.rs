//! The sources and the compiler of the build, for the head of every results file.

use std::path::Path;
use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| said("git", arguments);
    let commit = git(&["rev-parse", "--short", "HEAD"]).map(|commit| {
        match git(&["status", "--porcelain", "--untracked-files=no"]) {
            Some(changed) if !changed.is_empty() => format!("{commit}-dirty"),
            _ => commit,
        }
    });
    let compiler = std::env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    println!("cargo::rustc-env=PRIVET_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=PRIVET_COMPILER={}", compiler.as_deref().unwrap_or("unknown"));
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=suites");
    // HEAD names a branch; the branch and the packed references name a commit.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for place in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", place])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// The standard output of a command, trimmed; `None` if it fails.
fn said(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
