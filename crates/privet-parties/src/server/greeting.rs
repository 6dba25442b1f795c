//! Conditions for joining: the same version, agreement and schema, a correct clock, and one folder for
//! each party.

use super::state::{Joined, State};
use super::{CLOCKS, Server, now, refusal};
use crate::message::{PROTOCOL, ServerReply};

impl Server {
    /// Records that a party joined, or returns the refusal.
    pub(super) fn greet_party(
        &self,
        state: &mut State,
        party: usize,
        (protocol, agreement, clock): (u32, &str, u64),
        mut joined: Joined,
    ) -> Option<ServerReply> {
        let name = &self.agreement.parties[party].name;
        let no = |why: String| Some(refusal(&why));
        if protocol != PROTOCOL {
            return no(format!(
                "{name} speaks version {protocol} of the protocol and {} version {PROTOCOL}: everyone needs the same \
                 version of privet",
                self.name
            ));
        }
        if agreement != self.digest {
            return no(format!(
                "{name} and {} hold different agreements: everyone needs the same file, bit for bit",
                self.name
            ));
        }
        let apart = clock.abs_diff(now());
        if apart > CLOCKS {
            return no(format!(
                "the clocks of {name} and {} are {apart} s apart; at most {CLOCKS} are accepted: set them right",
                self.name
            ));
        }
        let other = state.joined.iter().enumerate().find_map(|(place, other)| {
            let other = other.as_ref().filter(|_| place != party)?;
            (other.schema != joined.schema).then(|| self.agreement.parties[place].name.clone())
        });
        if let Some(other) = other {
            return no(format!(
                "the schemas of {name} and {other} differ: columns, bounds, categories and target must be the same"
            ));
        }
        let before = state.joined[party].as_ref();
        if let Some(before) = before {
            if before.instance != joined.instance {
                return no(format!(
                    "{name} has joined before, from another folder: a party takes part once"
                ));
            }
            if joined.begun.is_some() && before.begun.is_some() && joined.begun != before.begun {
                return no(format!(
                    "{name} has begun before, from another copy of its folder, maybe with another table: a party takes \
                     part once"
                ));
            }
            joined.begun = joined.begun.or_else(|| before.begun.clone());
        }
        if before != Some(&joined) {
            if let Some(store) = &self.store
                && let Err(error) = store.keep_joined(party, &joined)
            {
                return no(format!("{} could not write down who joined: {error}", self.name));
            }
            if before.is_none() {
                (self.tell)(&format!("{name} joined"));
            }
            state.joined[party] = Some(joined);
        }
        None
    }

    pub(super) fn welcome(&self, state: &State) -> ServerReply {
        match &state.together {
            Some(together) if !together.ready => {
                ServerReply::Drawing { done: together.done, of: together.drawings.len() as u64 }
            }
            _ => ServerReply::Welcome { round: state.shown },
        }
    }
}
