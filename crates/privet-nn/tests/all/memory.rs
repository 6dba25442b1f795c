//! Memory of a sum, counted at allocation: linear in the network, and independent of the batch.

use crate::gradients::Examples;
use crate::nets::{digits, linear, net};
use privet_nn::{Input, Layer, Loss, Net, ScaledClip, Workspace};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting by thread.
struct Counted;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(by: isize) {
    // A thread that ends has no counter left.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + by);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: delegates to the system's allocator, with a counter that allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's guarantee.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's guarantee.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

/// Peak bytes of a kind of sum beyond its arguments, on one thread, workspace included.
fn most(net: &Net, kind: &str, count: usize) -> isize {
    let examples = Examples::new(net, count, 1, 1.0);
    let (new, old) = (net.initial(1), net.initial(2));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(|| {
        let batch = examples.all(net);
        let share = ScaledClip { clip: 1.0, share: 0.5, grid: privet_nn::grid(1.0) };
        let before = HELD.get();
        MOST.set(before);
        let mut work = Workspace::new();
        let terms = match kind {
            "plain" => net.plain_sum(&new, &batch, &mut work).unwrap().len(),
            "clipped" => net.clipped_sum(&new, &batch, 1.0, &mut work).unwrap().sum.len(),
            "exact" => net.clipped_sum_exact(&new, &batch, 1.0, &mut work).unwrap().steps.len(),
            "difference" => {
                net.clipped_difference_sum(&new, &old, &batch, 1.0, &mut work).unwrap().sum.len()
            }
            _ => net
                .clipped_difference_share_exact(&new, &old, &batch, share, &mut work)
                .unwrap()
                .steps
                .len(),
        };
        assert_eq!(terms, net.trainable());
        MOST.get() - before
    })
}

const KINDS: [&str; 5] = ["plain", "clipped", "exact", "difference", "exact difference"];

/// Ten times the batch takes a few bytes per example more, for the list of its pieces, where a gradient
/// each would take 100,000.
#[test]
fn a_larger_batch_takes_no_more_memory() {
    let net = digits(Layer::Relu);
    for kind in KINDS {
        let (few, many) = (most(&net, kind, 40), most(&net, kind, 400));
        assert!(few > 4 * net.parameters() as isize, "{kind}: {few} bytes");
        assert!(many - few <= 16 * 360, "{kind}: {few} bytes, then {many}");
    }
}

/// Memory is a few times the weights, and grows hardly faster: layers above the first are stored
/// transposed as well.
#[test]
fn memory_is_linear_in_the_network() {
    let wide = |width: usize| {
        let layers = vec![linear(width), Layer::Tanh, linear(width), Layer::Tanh, linear(10)];
        net(Input::Features { features: 600 }, layers, Loss::CrossEntropy)
    };
    for kind in KINDS {
        let mut before: Option<(isize, isize)> = None;
        for width in [100, 200, 400, 800] {
            let net = wide(width);
            let (bytes, weights) = (most(&net, kind, 64), 4 * net.parameters() as isize);
            assert!(
                bytes < 12 * weights,
                "{kind}, {width}: {bytes} bytes for {weights} of weights"
            );
            if let Some((less, fewer)) = before {
                let (grew, by) = (bytes as f64 / less as f64, weights as f64 / fewer as f64);
                assert!(grew <= 1.25 * by, "{kind}, {width}: {grew} times for {by} times");
            }
            before = Some((bytes, weights));
        }
    }
}
