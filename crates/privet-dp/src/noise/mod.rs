//! How noise is drawn: a file per law, the source of randomness an argument.
