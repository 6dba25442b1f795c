//! Differentially private machine learning with certificates.
