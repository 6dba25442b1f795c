//! Room that is used again from batch to batch, and the order in which pieces are added.
//!
//! A batch is cut into pieces of a length that the network alone decides. Pieces go to the threads; their sums
//! (`f32`) are added to the batch's (`f64`) in the order of the batch, so a sum has the same bits on any number
//! of threads. Memory: a few models' worth a thread, whatever the batch.

use crate::clip::Bound;
use crate::kernel::add_wide;
use crate::layer::Op;
use crate::net::Net;
use crate::tape::{Patches, Tape};
use rayon::prelude::*;

/// Room that is used again from batch to batch. Holds what was derived from records; shows none of it.
#[derive(Default)]
pub struct Workspace {
    rooms: Vec<Room>,
    fits: Vec<Op>,
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Workspace(private)")
    }
}

/// What one piece needs.
pub(crate) struct Room {
    /// One, or two for a difference.
    pub tapes: Vec<Tape>,
    pub patches: Vec<Patches>,
    /// The gradients that are formed, example by example, of each tape.
    pub kept: Vec<Vec<f32>>,
    pub bounds: Vec<Bound>,
    pub factors: Vec<f32>,
    pub sum: Vec<f32>,
    pub whole: Vec<i32>,
    /// One tensor's gradient of one example.
    pub formed: Vec<f32>,
}

impl Room {
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

    /// Room for the second of two weights.
    pub fn double(&mut self, net: &Net) {
        if self.tapes.len() < 2 {
            self.tapes.push(Tape::new(net));
            self.patches.push(Patches::new(net));
            self.kept.push(vec![0.0; net.kept * net.piece]);
        }
    }
}

impl Workspace {
    /// Empty; it grows to what the network needs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes held: a function of the network and the number of threads.
    pub fn bytes(&self) -> usize {
        let room = |room: &Room| {
            let tapes: usize = room.tapes.iter().map(Tape::numbers).sum();
            let patches: usize = room.patches.iter().map(Patches::numbers).sum();
            let kept: usize = room.kept.iter().map(Vec::len).sum();
            4 * (tapes + patches + kept + room.sum.len() + room.whole.len() + room.formed.len())
        };
        self.rooms.iter().map(room).sum()
    }

    /// Room for as many pieces as there are threads.
    pub(crate) fn rooms(&mut self, net: &Net) -> &mut [Room] {
        if self.fits != net.ops {
            self.rooms.clear();
            self.fits.clone_from(&net.ops);
        }
        while self.rooms.len() < rayon::current_num_threads() {
            self.rooms.push(Room::new(net));
        }
        &mut self.rooms
    }

    /// Lets `piece` fill the rooms, a piece of the batch each, and `merge` take them in the order of the batch.
    pub(crate) fn pieces(
        &mut self,
        net: &Net,
        examples: usize,
        piece: impl Fn(&mut Room, usize, usize) + Sync,
        mut merge: impl FnMut(&mut Room, usize, usize),
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

    /// A sum over the batch of what `piece` adds to its room's sum.
    pub(crate) fn sum(
        &mut self,
        net: &Net,
        examples: usize,
        piece: impl Fn(&mut Room, usize, usize) + Sync,
    ) -> Vec<f64> {
        let mut total = vec![0.0; net.trainable];
        let cleared = |room: &mut Room, first, count| {
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
