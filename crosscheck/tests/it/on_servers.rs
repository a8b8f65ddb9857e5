//! Deltaic and the vendor's client on the same bucket or container, each reading what the other wrote.
//!
//! Servers are named by `DELTAIC_TEST_S3` and `DELTAIC_TEST_AZURE`, which `cargo xtask emulators run` sets; without them
//! these tests fail, and `cargo xtask test` leaves them out.

mod aws;
mod azure;
mod checks;
mod sas;
mod server;
mod versions;

use aws::Aws;
use azure::Azure;
use server::Server;

/// The same checks for both: the name of the check, then the test on each.
macro_rules! on_both {
    ($($check:ident),+ $(,)?) => {
        mod s3 {
            use super::{Aws, Server, checks};
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $check() {
                    let server = Server::named("DELTAIC_TEST_S3");
                    checks::$check(&Aws::new(&server), &server.table()).await;
                }
            )+
        }
        mod azure_blob {
            use super::{Azure, Server, checks};
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $check() {
                    let server = Server::named("DELTAIC_TEST_AZURE");
                    checks::$check(&Azure::new(&server), &server.table()).await;
                }
            )+
        }
    };
}

on_both!(
    what_deltaic_wrote_the_vendor_lists_reads_and_deletes,
    what_the_vendor_wrote_deltaic_lists_reads_and_deletes,
    an_object_of_several_parts_is_the_same_to_both,
    a_file_that_one_has_made_is_not_made_by_the_other,
    markers_of_folders_are_no_files,
    a_commit_of_deltaic_is_the_vendors_object,
    a_commit_that_the_vendor_wrote_is_the_next_version,
);
