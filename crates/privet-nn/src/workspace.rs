//! Buffers reused from batch to batch, and the order in which pieces are added.
//!
//! A batch is divided into pieces of a length that depends on the network alone. Pieces go to the
//! threads; their sums (`f32`) are added to the batch's (`f64`) in the order of the batch, so a sum has
//! the same bits on any number of threads. Memory: a few models' worth per thread, for any batch.

use crate::clip::Bound;
use crate::kernel::add_wide;
use crate::layer::Op;
use crate::net::Net;
use crate::tape::{Patches, Tape};
use rayon::prelude::*;

/// Buffers reused from batch to batch. Holds values derived from records; shows none of them.
#[derive(Default)]
pub struct Workspace {
    rooms: Vec<Buffers>,
    fits: Vec<Op>,
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Workspace(private)")
    }
}

/// Buffers for one piece.
pub(crate) struct Buffers {
    /// One tape, or two for a difference.
    pub tapes: Vec<Tape>,
    pub patches: Vec<Patches>,
    /// The gradients multiplied out, by example, of each tape.
    pub kept: Vec<Vec<f32>>,
    pub bounds: Vec<Bound>,
    pub factors: Vec<f32>,
    pub sum: Vec<f32>,
    pub whole: Vec<i32>,
    /// One tensor's gradient of one example.
    pub formed: Vec<f32>,
}

impl Buffers {
    fn new(net: &Net) -> Self {
        Self {
            tapes: vec![Tape::new(net)],
            patches: vec![Patches::new(net)],
            kept: vec![vec![0.0; net.kept * net.piece]],
            bounds: vec![Bound::default(); net.piece],
            factors: vec![0.0; net.piece],
            sum: Vec::new(),
            whole: Vec::new(),
            formed: Vec::new(),
        }
    }

    /// Adds buffers for the second of two weight vectors.
    pub fn double(&mut self, net: &Net) {
        if self.tapes.len() < 2 {
            self.tapes.push(Tape::new(net));
            self.patches.push(Patches::new(net));
            self.kept.push(vec![0.0; net.kept * net.piece]);
        }
    }
}

impl Workspace {
    /// Creates an empty workspace; it grows to the network's needs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory in bytes: a function of the network and the number of threads.
    pub fn bytes(&self) -> usize {
        let room = |room: &Buffers| {
            let tapes: usize = room.tapes.iter().map(Tape::numbers).sum();
            let patches: usize = room.patches.iter().map(Patches::numbers).sum();
            let kept: usize = room.kept.iter().map(Vec::len).sum();
            4 * (tapes + patches + kept + room.sum.len() + room.whole.len() + room.formed.len())
        };
        self.rooms.iter().map(room).sum()
    }

    /// Returns buffers for as many pieces as there are threads.
    pub(crate) fn rooms(&mut self, net: &Net) -> &mut [Buffers] {
        if self.fits != net.ops {
            self.rooms.clear();
            self.fits.clone_from(&net.ops);
        }
        while self.rooms.len() < rayon::current_num_threads() {
            self.rooms.push(Buffers::new(net));
        }
        &mut self.rooms
    }

    /// Runs `piece` on each piece of the batch in parallel, and `merge` on the results in the order of
    /// the batch.
    pub(crate) fn pieces(
        &mut self,
        net: &Net,
        examples: usize,
        piece: impl Fn(&mut Buffers, usize, usize) + Sync,
        mut merge: impl FnMut(&mut Buffers, usize, usize),
    ) {
        let rooms = self.rooms(net);
        let starts: Vec<usize> = (0..examples).step_by(net.piece).collect();
        let length = |first: usize| net.piece.min(examples - first);
        for wave in starts.chunks(rooms.len()) {
            rooms
                .par_iter_mut()
                .zip(wave)
                .for_each(|(room, &first)| piece(room, first, length(first)));
            for (room, &first) in rooms.iter_mut().zip(wave) {
                merge(room, first, length(first));
            }
        }
    }

    /// Adds up, over the batch, the sums that `piece` leaves in its buffers.
    pub(crate) fn sum(
        &mut self,
        net: &Net,
        examples: usize,
        piece: impl Fn(&mut Buffers, usize, usize) + Sync,
    ) -> Vec<f64> {
        let mut total = vec![0.0; net.trainable];
        let cleared = |room: &mut Buffers, first, count| {
            room.sum.clear();
            room.sum.resize(net.trainable, 0.0);
            piece(room, first, count);
        };
        self.pieces(net, examples, cleared, |room, _, _| {
            add_wide(&mut total, &room.sum);
        });
        total
    }
}
