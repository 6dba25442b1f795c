//! Integer sums are sums of the examples' contributions computed alone, bit for bit; all sums are the
//! same on any number of threads.

use crate::gradients::Examples;
use crate::nets::{digits, every_kind};
use privet_nn::{Batch, Layer, Net, Workspace};

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

fn nets() -> Vec<(&'static str, Net)> {
    let mut nets = every_kind();
    nets.push(("digits, relu", digits(Layer::Relu)));
    nets.push(("digits, tanh", digits(Layer::Tanh)));
    nets
}

/// With the theorem that each term is within the clipping norm, this is the sensitivity of the exact
/// sum: adding an example adds its own term and changes no other.
#[test]
fn an_exact_sum_is_the_sum_of_its_examples_alone() {
    for (name, net) in nets() {
        let count = 41;
        let examples = Examples::new(&net, count, 31, 1.0);
        let weights = net.initial(2);
        let mut work = Workspace::new();
        let mut expected = vec![0_i64; net.trainable()];
        for index in 0..count {
            let alone = net
                .clipped_sum_exact(&weights, &examples.one(&net, index), 0.3, &mut work)
                .unwrap();
            for (total, steps) in expected.iter_mut().zip(alone.steps) {
                *total += steps;
            }
        }
        assert!(expected.iter().any(|&steps| steps != 0));
        let mut rows: Vec<u32> = (0..count as u32).collect();
        for threads in [1, 2, 5] {
            rows.rotate_left(7);
            rows.reverse();
            let batch = Batch::chosen(&examples.inputs, examples.targets(&net, 0..count), &rows);
            let actual = with_threads(threads, || {
                net.clipped_sum_exact(&weights, &batch, 0.3, &mut Workspace::new()).unwrap()
            });
            assert_eq!(actual.steps, expected, "{name}, {threads} threads");
        }
    }
}

#[test]
fn sums_are_the_same_on_any_number_of_threads() {
    for (name, net) in nets() {
        let examples = Examples::new(&net, 70, 5, 1.0);
        let (weights, old) = (net.initial(2), net.initial(3));
        let all = |threads| {
            with_threads(threads, || {
                let (batch, mut work) = (examples.all(&net), Workspace::new());
                (
                    net.clipped_sum(&weights, &batch, 0.3, &mut work).unwrap().sum,
                    net.clipped_difference_sum(&weights, &old, &batch, 0.3, &mut work).unwrap().sum,
                    net.plain_sum(&weights, &batch, &mut work).unwrap(),
                    net.predict(&weights, &examples.inputs, &mut work).unwrap(),
                    net.loss(&weights, &batch, &mut work).unwrap(),
                )
            })
        };
        assert!(all(1) == all(3), "{name}");
    }
}

/// A workspace used for one network works for another.
#[test]
fn a_workspace_may_change_networks() {
    let mut work = Workspace::new();
    for (name, net) in nets().into_iter().chain(nets()) {
        let examples = Examples::new(&net, 20, 5, 1.0);
        let weights = net.initial(2);
        let again = net.clipped_sum(&weights, &examples.all(&net), 0.3, &mut work).unwrap().sum;
        let fresh =
            net.clipped_sum(&weights, &examples.all(&net), 0.3, &mut Workspace::new()).unwrap().sum;
        assert!(again == fresh, "{name}");
    }
}
