//! From the lines of a race to a page of tables.

use serde_json::Value;
use std::fmt::Write as _;

/// A page from lines of JSON (others are skipped), with a head that says when and where.
pub fn page(lines: &str, head: &str) -> String {
    let measured: Vec<Value> =
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut page = format!(
        "# Results\n\nMade by `make bench`; nothing here is typed by hand. All lines of one table \
         come from one run on one machine, one after the other; times are the fastest of several.\n\n\
         {head}\n"
    );
    accuracies(&measured, &mut page);
    fits(&measured, &mut page);
    accountants(&measured, &mut page);
    samplers(&measured, &mut page);
    page
}

fn number(line: &Value, key: &str) -> f64 {
    line[key].as_f64().unwrap_or(f64::NAN)
}

/// The default beside the papers' best, then predicted beside observed excess risk.
fn accuracies(measured: &[Value], page: &mut String) {
    let lines: Vec<&Value> = measured.iter().filter(|line| line["table"] == "accuracy").collect();
    if lines.is_empty() {
        return;
    }
    page.push_str(
        "\n## Accuracy of the default\n\n`--method auto`, nothing tuned to the table, δ = 1/n², per cent of \
         held-out rows (80 : 20), mean and standard error over runs with fresh noise. The papers' numbers \
         (Iyengar et al. 2019, Figures 1 and 3) are the best of their methods, tuned on the test rows, and \
         partly unsound. Rows with different neighbours are not to be compared. The constants inside \
         `gd` and `frank-wolfe` were chosen with most of these sets in view (see their modules), so \
         this table is no held-out check of them.\n\n\
         | data | rows × columns | ε | neighbours | papers: logistic / Huber | auto chose | auto | aim | \
         without privacy | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let papers = |line: &Value, key| match number(line, key) {
        found if found > 0.0 => format!("{found:.1}"),
        _ => "–".into(),
    };
    for line in &lines {
        let _ = writeln!(
            page,
            "| {} | {} × {} | {} | {} | {} / {} | {} | **{:.2}** ± {:.2} ({} runs) | ≥ {} | {:.1} | {:.2} |",
            line["set"].as_str().unwrap_or("?"),
            line["rows"],
            line["columns"],
            line["epsilon"],
            line["neighbours"].as_str().unwrap_or("?"),
            papers(line, "papers_logistic"),
            papers(line, "papers_huber"),
            line["method"]["name"].as_str().unwrap_or("?"),
            number(line, "accuracy"),
            number(line, "standard_error"),
            line["runs"],
            line["target"],
            number(line, "without_privacy"),
            number(line, "seconds"),
        );
    }
    page.push_str(
        "\nExcess risk (mean logistic loss of the training rows above that of a fit without privacy), as \
         the plan predicted it before any record was read, and as observed:\n\n\
         | data | ε | neighbours | predicted | observed |\n|---|---|---|---|---|\n",
    );
    for line in lines.iter().filter(|line| line["observed_excess"].is_number()) {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {:.3} | {:.3} |",
            line["set"].as_str().unwrap_or("?"),
            line["epsilon"],
            line["neighbours"].as_str().unwrap_or("?"),
            number(line, "predicted_excess"),
            number(line, "observed_excess"),
        );
    }
}

/// Ours first in each setting, then the peers with the same storage and ridge.
fn fits(measured: &[Value], page: &mut String) {
    let fits: Vec<&Value> = measured.iter().filter(|line| line["race"] == "fit").collect();
    let ours: Vec<&&Value> = fits.iter().filter(|line| line["who"] == "privet amp").collect();
    if ours.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "\n## Fit, Adult\n\nFrom a matrix in memory, the same {} × {} rows for all, logistic loss, \
         replace-one neighbours, δ = 1/n²; peers are not private and regularised with C = 1/λ of \
         our plan, but for the papers' own AMP. Ratio: their time over ours, noise drawing and \
         certificate of the minimum included in ours.\n\n\
         | who | storage | ε | λ | seconds | ratio | test accuracy | memory / matrix |\n\
         |---|---|---|---|---|---|---|---|\n",
        ours[0]["rows"], ours[0]["columns"]
    );
    for own in &ours {
        let same =
            |line: &&&Value| line["epsilon"] == own["epsilon"] && line["storage"] == own["storage"];
        for line in fits.iter().filter(same) {
            let memory = number(line, "peak_over_matrix");
            let _ = writeln!(
                page,
                "| {} | {} | {} | {:.2} | {:.4} | {:.2} | {:.4} | {} |",
                line["who"].as_str().unwrap_or("?"),
                line["storage"].as_str().unwrap_or("?"),
                line["epsilon"],
                number(line, "ridge"),
                number(line, "seconds"),
                number(line, "seconds") / number(own, "seconds"),
                number(line, "accuracy"),
                if memory.is_nan() { "–".into() } else { format!("{memory:.2}") },
            );
        }
    }
    let plans: Vec<String> =
        ours.iter().map(|own| format!("{:.1} ms", 1e3 * number(own, "plan_seconds"))).collect();
    let _ = writeln!(page, "\nPlanning, once, before any data: {}.", plans.join(", "));
}

/// Each question with our time, then the peers' on the same question.
fn accountants(measured: &[Value], page: &mut String) {
    let answers: Vec<&Value> =
        measured.iter().filter(|line| line["race"] == "accountant").collect();
    let ours: Vec<&&Value> = answers.iter().filter(|line| line["who"] == "privet").collect();
    if ours.is_empty() {
        return;
    }
    page.push_str(
        "\n## Accountant\n\nThe ε of a composition at δ = 1e-5, or the noise scale σ that meets a \
         budget, from nothing: both sides certify an upper bound by composing privacy-loss \
         distributions. `step` is the peer's discretisation, 1e-4 its default. Ratio: their time over \
         ours.\n\n| question | who | answer | milliseconds | ratio |\n|---|---|---|---|---|\n",
    );
    let mut least = f64::INFINITY;
    for own in &ours {
        for line in answers.iter().filter(|line| line["question"] == own["question"]) {
            let ratio = number(line, "seconds") / number(own, "seconds");
            if line["who"] != own["who"] {
                least = least.min(ratio);
            }
            let _ = writeln!(
                page,
                "| {} | {} | {:.5} | {:.2} | {:.0} |",
                line["question"].as_str().unwrap_or("?"),
                line["who"].as_str().unwrap_or("?"),
                number(line, "answer"),
                1e3 * number(line, "seconds"),
                ratio,
            );
        }
    }
    let _ = writeln!(page, "\nSmallest ratio: {least:.0}.");
}

fn samplers(measured: &[Value], page: &mut String) {
    let draws: Vec<&Value> = measured.iter().filter(|line| line["sampler"].is_string()).collect();
    if draws.is_empty() {
        return;
    }
    page.push_str(
        "\n## Samplers\n\nMillions of exact draws a second on one core.\n\n\
         | law | scale | privet | peer | peer's rate | ratio |\n|---|---|---|---|---|---|\n",
    );
    for own in draws.iter().filter(|line| line["peer"].is_null()) {
        let peer = draws.iter().find(|line| {
            line["peer"].is_string()
                && line["sampler"] == own["sampler"]
                && number(line, "scale") == number(own, "scale")
        });
        let ours = number(own, "draws_per_second") / 1e6;
        let (name, rate, ratio) = match peer {
            Some(line) => {
                let theirs = number(line, "draws_per_second") / 1e6;
                let name = line["peer"].as_str().unwrap_or("?").to_owned();
                (name, format!("{theirs:.3}"), format!("{:.0}", ours / theirs))
            }
            None => ("–".into(), "–".into(), "–".into()),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {ours:.1} | {name} | {rate} | {ratio} |",
            own["sampler"].as_str().unwrap_or("?"),
            own["scale"],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_come_from_the_same_setting() {
        let lines = r#"
{"race":"fit","who":"privet amp","storage":"csr","epsilon":1.0,"ridge":4.0,"rows":10,"columns":2,"seconds":0.01,"accuracy":0.8,"plan_seconds":0.001,"peak_over_matrix":1.5}
{"race":"fit","who":"liblinear","storage":"csr","epsilon":1.0,"ridge":4.0,"seconds":0.04,"accuracy":0.85}
{"race":"fit","who":"liblinear","storage":"dense","epsilon":1.0,"ridge":4.0,"seconds":9.0,"accuracy":0.85}
not json
{"race":"accountant","who":"privet","question":"what?","answer":1.5,"seconds":0.001}
{"race":"accountant","who":"peer 1, step 0.0001","question":"what?","answer":1.50001,"seconds":0.03}
{"race":"accountant","who":"peer 1, step 0.0001","question":"another","answer":7.0,"seconds":0.01}
{"sampler":"discrete-gaussian","scale":1.0,"draws_per_second":1e8}
{"sampler":"discrete-gaussian","scale":1.0,"draws_per_second":1e5,"peer":"other 1.0"}
"#;
        let page = page(lines, "head");
        assert!(page.contains("| liblinear | csr | 1.0 | 4.00 | 0.0400 | 4.00 | 0.8500 | – |"));
        assert!(!page.contains("9.0000"), "another storage is another race");
        assert!(page.contains("| what? | peer 1, step 0.0001 | 1.50001 | 30.00 | 30 |"));
        assert!(page.contains("Smallest ratio: 30.") && !page.contains("7.00000"));
        assert!(page.contains("| discrete-gaussian | 1.0 | 100.0 | other 1.0 | 0.100 | 1000 |"));
    }
}
