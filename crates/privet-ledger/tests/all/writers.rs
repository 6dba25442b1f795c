//! Several processes at once: the limit holds, and no record is lost.

use crate::world::{asked, gaussian, ledger, spend};
use privet_dp::gate::Purse;
use privet_ledger::{Kind, Ledger, LedgerError, State};

const WRITERS: usize = 8;
const EACH: usize = 200;

/// Eight writers with a connection each, 200 reservations each; the limit pays for about half.
#[test]
fn eight_writers_never_exceed_the_limit_together() {
    let (_folder, path, mut first) = ledger(Kind::Gaussian);
    let exact = first.books().accounts()["riders"].limit;
    let mu = (exact.filter.limit.limit() / (WRITERS * EACH / 2) as f64).sqrt();
    let event = gaussian(mu);
    let granted: usize = std::thread::scope(|scope| {
        let writer = |_| {
            let (path, event) = (&path, &event);
            scope.spawn(move || {
                let mut ledger = Ledger::open(path).unwrap();
                let mut granted = 0;
                for _ in 0..EACH {
                    let mut paying = ledger.purse_for(asked("riders", event));
                    match paying.set_aside(&spend(event)) {
                        Ok(()) => {
                            paying.drawn(0).unwrap();
                            granted += 1;
                        }
                        Err(LedgerError::Exceeds(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                granted
            })
        };
        let writers: Vec<_> = (0..WRITERS).map(writer).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    first.catch_up().unwrap();
    let drawn =
        first.books().reservations().values().filter(|held| held.state == State::Drawn).count();
    assert_eq!(drawn, granted, "a record was lost, or made up");
    let half = WRITERS * EACH / 2;
    assert!((half - 1..=half).contains(&granted), "{granted}");
    let account = &first.books().accounts()["riders"];
    assert!(account.share() <= 1.0 && account.proved_epsilon() <= 1.0 + 1e-9);
    assert!(Ledger::open(&path).is_ok());
}
