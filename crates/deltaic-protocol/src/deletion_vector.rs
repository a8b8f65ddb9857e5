//! Deletion vectors (protocol: "Deletion Vectors"): which rows of a file are gone.

mod descriptor;

pub use descriptor::DeletionVectorDescriptor;
