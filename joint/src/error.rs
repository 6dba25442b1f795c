/// Why no noise was drawn.
#[derive(Debug, thiserror::Error)]
pub enum JointError {
    /// What was asked for cannot be done; the text says what can.
    #[error("{0}")]
    Asked(String),
    /// A line, another server or the system failed.
    #[error("{0}")]
    Line(String),
}
