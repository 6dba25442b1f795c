//! A statement that every party must make, and all the same.

/// The parties that have made it, and the first one's statement.
pub(crate) struct Unanimous<T> {
    said: Vec<bool>,
    first: Option<(usize, T)>,
}

impl<T: Clone + PartialEq> Unanimous<T> {
    pub fn among(parties: usize) -> Self {
        Self { said: vec![false; parties], first: None }
    }

    /// Records a party's statement; the error is the index of the first party, if its statement differs.
    pub fn say(&mut self, party: usize, what: &T) -> Result<(), usize> {
        match &self.first {
            Some((other, before)) if before != what => return Err(*other),
            Some(_) => {}
            None => self.first = Some((party, what.clone())),
        }
        self.said[party] = true;
        Ok(())
    }

    pub fn all(&self) -> bool {
        self.said.iter().all(|said| *said)
    }

    pub fn has_said(&self, party: usize) -> bool {
        self.said[party]
    }
}
