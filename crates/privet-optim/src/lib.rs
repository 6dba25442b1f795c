//! Losses, passes over rows, and solvers that prove their tolerance.
