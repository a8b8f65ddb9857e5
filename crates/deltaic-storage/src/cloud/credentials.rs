//! Credentials in time, and such as a request can carry. Whatever fetches them (a program, a server on this machine, one far
//! away) has its own idea of how long it may take and of what it prints.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use object_store::azure::AzureCredential;

/// Why there are no credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoCredentials {
    /// They did not come in the time that the user has.
    Late(Duration),
    /// There are line breaks or other control characters in them.
    Unsendable,
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCredentials::Late(limit) => {
                write!(f, "what gives them out has not answered within {limit:?}")
            }
            NoCredentials::Unsendable => {
                f.write_str("there are line breaks or other control characters in them")
            }
        }
    }
}

impl std::error::Error for NoCredentials {}

/// The reason in an error's chain of causes, if it is one of these.
pub(super) fn no_credentials(error: &(dyn std::error::Error + 'static)) -> Option<NoCredentials> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<NoCredentials>() {
            return Some(*found);
        }
        next = error.source();
    }
    None
}

/// What can be put into the head of a request.
pub(super) trait Sendable: Sized {
    /// The same without blanks and line breaks at the ends; nothing where there are control characters inside.
    fn cleaned(&self) -> Option<Self>;
    /// Whether that would change nothing.
    fn is_clean(&self) -> bool;
}

fn is_clean(text: &str) -> bool {
    text.trim() == text && !text.contains(char::is_control)
}

fn cleaned(text: &str) -> Option<String> {
    let text = text.trim();
    is_clean(text).then(|| text.to_owned())
}

impl Sendable for AwsCredential {
    fn cleaned(&self) -> Option<Self> {
        Some(AwsCredential {
            key_id: cleaned(&self.key_id)?,
            secret_key: cleaned(&self.secret_key)?,
            token: match &self.token {
                Some(token) => Some(cleaned(token)?),
                None => None,
            },
        })
    }

    fn is_clean(&self) -> bool {
        is_clean(&self.key_id)
            && is_clean(&self.secret_key)
            && self.token.as_deref().is_none_or(is_clean)
    }
}

impl Sendable for AzureCredential {
    fn cleaned(&self) -> Option<Self> {
        match self {
            AzureCredential::BearerToken(token) => cleaned(token).map(AzureCredential::BearerToken),
            // Keys are decoded, and signatures are escaped where they are sent.
            _ => None,
        }
    }

    fn is_clean(&self) -> bool {
        match self {
            AzureCredential::BearerToken(token) => is_clean(token),
            _ => true,
        }
    }
}

/// Credentials of another provider, within a limit of time.
#[derive(Debug)]
pub(super) struct InTime<C> {
    inner: Arc<dyn CredentialProvider<Credential = C>>,
    limit: Duration,
}

impl<C> InTime<C> {
    pub(super) fn new(
        inner: Arc<dyn CredentialProvider<Credential = C>>,
        limit: Duration,
    ) -> InTime<C> {
        InTime { inner, limit }
    }
}

#[async_trait]
impl<C> CredentialProvider for InTime<C>
where
    C: Sendable + fmt::Debug + Send + Sync + 'static,
{
    type Credential = C;

    async fn get_credential(&self) -> object_store::Result<Arc<C>> {
        // In a task of its own: a program that is waited for without a pause (`az`) would hold up the clock as well.
        let inner = Arc::clone(&self.inner);
        let mut fetching = tokio::spawn(async move { inner.get_credential().await });
        let Ok(fetched) = tokio::time::timeout(self.limit, &mut fetching).await else {
            fetching.abort();
            return Err(failed(NoCredentials::Late(self.limit)));
        };
        let found = fetched.map_err(|source| object_store::Error::JoinError { source })??;
        if found.is_clean() {
            return Ok(found);
        }
        match found.cleaned() {
            Some(cleaned) => Ok(Arc::new(cleaned)),
            None => Err(failed(NoCredentials::Unsendable)),
        }
    }
}

fn failed(why: NoCredentials) -> object_store::Error {
    object_store::Error::Unauthenticated {
        path: "the credentials".to_owned(),
        source: Box::new(why),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Gives(AwsCredential, Duration);

    #[async_trait]
    impl CredentialProvider for Gives {
        type Credential = AwsCredential;

        async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
            tokio::time::sleep(self.1).await;
            Ok(Arc::new(AwsCredential {
                key_id: self.0.key_id.clone(),
                secret_key: self.0.secret_key.clone(),
                token: self.0.token.clone(),
            }))
        }
    }

    async fn given(token: &str, seconds: u64) -> Result<Arc<AwsCredential>, NoCredentials> {
        let credential = AwsCredential {
            key_id: "key ".to_owned(),
            secret_key: "secret\n".to_owned(),
            token: Some(token.to_owned()),
        };
        let inner = Arc::new(Gives(credential, Duration::from_secs(seconds)));
        let provider = InTime::new(inner, Duration::from_secs(5));
        let found = provider.get_credential().await;
        found.map_err(|error| no_credentials(&error).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_come_in_time_and_can_be_sent() {
        let found = given("token\r\n", 4).await.unwrap();
        assert_eq!(
            (&found.key_id[..], &found.secret_key[..]),
            ("key", "secret")
        );
        assert_eq!(found.token.as_deref(), Some("token"));
        assert_eq!(
            given("to\nken", 4).await.unwrap_err(),
            NoCredentials::Unsendable
        );
        let late = NoCredentials::Late(Duration::from_secs(5));
        assert_eq!(given("token", 100).await.unwrap_err(), late);
        assert_eq!(
            AzureCredential::BearerToken("a\nb".to_owned()).cleaned(),
            None
        );
        let token = AzureCredential::BearerToken("ab\n".to_owned());
        assert_eq!(
            token.cleaned(),
            Some(AzureCredential::BearerToken("ab".to_owned()))
        );
    }
}
