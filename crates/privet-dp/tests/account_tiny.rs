//! Very many tiny losses, where a rounding error a use decides: never below what is surely attained.
//!
//! The lower bounds here share no code with the composition of losses: closed forms, and the limit
//! theorem with its error (Berry and Esseen's, with the constant 0.56).

use privet_core::{Neighbours, Unit};
use privet_dp::account::{Cost, Event, delta, epsilon, gaussian};

fn sampled(rate: f64, noise_scale: f64, neighbours: Neighbours) -> Event {
    let cost = Cost::PoissonGaussian { rate, sensitivity: 1.0, noise_scale, grid: None };
    Event::Use { neighbours, unit: Unit::Record, cost }
}

fn laplace(sensitivity: f64, neighbours: Neighbours) -> Event {
    let cost = Cost::Laplace { sensitivity, noise_scale: 1.0, step: None };
    Event::Use { neighbours, unit: Unit::Record, cost }
}

/// 2^`power` uses.
fn doubled(event: Event, power: u32) -> Event {
    let half = power / 2;
    let inner = Event::Repeat { count: 1 << half, event: Box::new(event) };
    Event::Repeat { count: 1 << (power - half), event: Box::new(inner) }
}

/// Differences of e^loss below 10⁻¹⁵ have no digits: 2⁴⁰ such uses once seemed to cost δ = 10⁻¹⁵⁰ at
/// ε = 10⁻⁶, where a Gaussian release with the same variance of the loss costs 9.5·10⁻⁸.
#[test]
fn a_million_million_tiny_losses_are_not_free() {
    for (neighbours, moves, known) in
        [(Neighbours::ReplaceOne, 2.0, 9.5e-8), (Neighbours::AddRemove, 1.0, 5.7e-9)]
    {
        let event = doubled(sampled(0.01, 2e10, neighbours), 40);
        let limit = gaussian::delta(1e-6, moves * 0.01 / 2e10 * (1_u64 << 20) as f64);
        assert!((limit / known - 1.0).abs() < 0.01, "{limit} {known}");
        let found = delta(&event, 1e-6).unwrap();
        assert!((limit * (1.0 - 1e-6)..1e3 * limit).contains(&found), "{found} {limit}");
    }
}

/// Nor does adding them make anything cheaper.
#[test]
fn adding_tiny_losses_never_lowers_epsilon() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        let ten = Event::Repeat { count: 10, event: Box::new(laplace(0.3, neighbours)) };
        let tiny = doubled(sampled(0.01, 2e10, neighbours), 40);
        let alone = epsilon(&ten, 1e-9).unwrap();
        let both = epsilon(&Event::All(vec![ten, tiny]), 1e-9).unwrap();
        assert!(both >= alone * (1.0 - 1e-7), "{both} {alone}");
    }
}

/// One sampled release under replace-one, at a shift below the last digit of 1.
#[test]
fn a_shift_below_the_last_digit_of_one_is_seen() {
    for (noise_scale, e, want) in
        [(1e16, 1.05e-16, 7.6e-18), (1e12, 1.05e-12, 7.6e-14), (1e3, 1.05e-3, 7.6e-5)]
    {
        let found = delta(&sampled(0.5, noise_scale, Neighbours::ReplaceOne), e).unwrap();
        assert!((found / want - 1.0).abs() < 0.01, "{noise_scale}: {found} {want}");
    }
}
