//! Credentials that object_store does not find by itself: profiles of `~/.aws/config` and `~/.aws/credentials` (static
//! keys, SSO, roles with a source profile, programs that print credentials) and roles that are assumed with other
//! credentials. `aws-config` knows how; here it is joined to object_store's HTTP client and credentials.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_config::profile::ProfileFileCredentialsProvider;
use aws_config::provider_config::ProviderConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use aws_runtime::env_config::file::{EnvConfigFileKind, EnvConfigFiles};
use aws_smithy_runtime_api::client::http as smithy;
use aws_smithy_runtime_api::client::orchestrator as sdk;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use futures::TryStreamExt;
use object_store::CredentialProvider;
use object_store::aws::{AwsCredential, AwsCredentialProvider};
use object_store::client::{HttpClient, HttpRequest};
use tokio::sync::{Mutex, OnceCell};

use super::settings::Settings;

/// Credentials that expire are renewed so long before their end.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// A profile that is to be used.
pub(super) struct Profile {
    name: String,
    /// Whether it was asked for; the default one may be without credentials.
    asked: bool,
    config: Option<PathBuf>,
    credentials: Option<PathBuf>,
}

impl Profile {
    /// The profile that the settings name, or the default one where its files are there.
    pub(super) fn of(settings: &Settings) -> Option<Profile> {
        let home = settings
            .variable(&["home", "userprofile"])
            .map(PathBuf::from);
        let file = |name: &str, default: &str| {
            settings
                .variable(&[name])
                .map(PathBuf::from)
                .or_else(|| home.as_ref().map(|home| home.join(".aws").join(default)))
                .filter(|path| path.is_file())
        };
        let config = file("aws_config_file", "config");
        let credentials = file("aws_shared_credentials_file", "credentials");
        let named = settings.get(&["aws_profile"]);
        if named.is_none() && config.is_none() && credentials.is_none() {
            return None;
        }
        Some(Profile {
            name: named.unwrap_or("default").to_owned(),
            asked: named.is_some(),
            config,
            credentials,
        })
    }

    /// A plain setting of the profile (`region`, `endpoint_url`, `ca_bundle`), which is needed before anything is sent.
    pub(super) fn setting(&self, wanted: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.config.as_ref()?).ok()?;
        let mut inside = false;
        for line in text.lines() {
            // Settings that belong to a nested one are indented.
            if line.starts_with([' ', '\t']) {
                continue;
            }
            let line = line.trim();
            if let Some(head) = line.strip_prefix('[') {
                let head = head.split(']').next().unwrap_or_default().trim();
                let name = head.strip_prefix("profile").map_or(head, str::trim_start);
                inside = name == self.name && (head != name || name == "default");
            } else if inside
                && let Some((name, value)) = line.split_once('=')
                && name.trim() == wanted
            {
                return Some(value.trim().to_owned());
            }
        }
        None
    }

    /// That a profile which was asked for is there: without any file the credentials' library gives up by a panic, and a name
    /// that is in none of them is told by nobody.
    ///
    /// # Errors
    /// No file, or no such profile in them.
    pub(super) fn check(&self) -> object_store::Result<()> {
        let files: Vec<&PathBuf> = self.config.iter().chain(&self.credentials).collect();
        let has = |path: &&&PathBuf| {
            std::fs::read_to_string(path).is_ok_and(|text| {
                text.lines()
                    .filter_map(|line| line.trim().strip_prefix('['))
                    .filter_map(|head| head.split(']').next())
                    .map(|head| head.trim())
                    .map(|head| head.strip_prefix("profile ").map_or(head, str::trim))
                    .any(|name| name == self.name)
            })
        };
        if !self.asked || files.iter().any(|path| has(&path)) {
            return Ok(());
        }
        let places: Vec<String> = files
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let places = match places.is_empty() {
            true => "any file: there is neither ~/.aws/config nor ~/.aws/credentials, nor what AWS_CONFIG_FILE names"
                .to_owned(),
            false => places.join(" or "),
        };
        Err(object_store::Error::Generic {
            store: "S3",
            source: format!("the AWS profile {} is not in {places}", self.name).into(),
        })
    }

    /// Its credentials. Where the default profile has none, those of `otherwise` are used.
    pub(super) fn credentials(
        &self,
        client: HttpClient,
        region: &str,
        otherwise: AwsCredentialProvider,
    ) -> AwsCredentialProvider {
        let mut files = EnvConfigFiles::builder();
        if let Some(path) = &self.config {
            files = files.with_file(EnvConfigFileKind::Config, path);
        }
        if let Some(path) = &self.credentials {
            files = files.with_file(EnvConfigFileKind::Credentials, path);
        }
        let environment = ProviderConfig::without_region()
            .with_region(Some(Region::new(region.to_owned())))
            .with_behavior_version(Some(BehaviorVersion::latest()))
            .with_http_client(Bridge(client));
        let found = ProfileFileCredentialsProvider::builder()
            .configure(&environment)
            .profile_name(&self.name)
            .profile_files(files.build())
            .build();
        Arc::new(Kept {
            what: format!("the AWS profile {}", self.name),
            source: SharedCredentialsProvider::new(found),
            otherwise: (!self.asked).then_some(otherwise),
            last: Mutex::new(None),
            first: OnceLock::new(),
        })
    }
}

/// The credentials of a role, assumed with others.
pub(super) struct Role {
    pub(super) arn: String,
    pub(super) session: Option<String>,
    pub(super) endpoint: Option<String>,
    pub(super) region: String,
}

impl Role {
    pub(super) fn credentials(
        self,
        client: HttpClient,
        base: AwsCredentialProvider,
    ) -> AwsCredentialProvider {
        Arc::new(Kept {
            what: format!("the role {}", self.arn),
            source: SharedCredentialsProvider::new(Assumed {
                role: self,
                client,
                base: Base(base),
                provider: OnceCell::new(),
            }),
            otherwise: None,
            last: Mutex::new(None),
            first: OnceLock::new(),
        })
    }
}

/// A role whose provider is made when it is first asked.
struct Assumed {
    role: Role,
    client: HttpClient,
    base: Base,
    provider: OnceCell<AssumeRoleProvider>,
}

impl Assumed {
    async fn provider(&self) -> &AssumeRoleProvider {
        self.provider
            .get_or_init(|| async {
                let mut loader = aws_config::defaults(BehaviorVersion::latest())
                    .region(Region::new(self.role.region.clone()))
                    .http_client(Bridge(self.client.clone()))
                    .credentials_provider(self.base.clone());
                if let Some(endpoint) = &self.role.endpoint {
                    loader = loader.endpoint_url(endpoint);
                }
                let mut role = AssumeRoleProvider::builder(&self.role.arn)
                    .region(Region::new(self.role.region.clone()))
                    .configure(&loader.load().await);
                if let Some(session) = &self.role.session {
                    role = role.session_name(session);
                }
                role.build_from_provider(self.base.clone()).await
            })
            .await
    }
}

impl fmt::Debug for Assumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Assumed({})", self.role.arn)
    }
}

impl ProvideCredentials for Assumed {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async { self.provider().await.provide_credentials().await })
    }
}

/// object_store's credentials as `aws-config` takes them.
#[derive(Debug, Clone)]
struct Base(AwsCredentialProvider);

impl ProvideCredentials for Base {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let found = self.0.get_credential().await;
            let found = found.map_err(CredentialsError::provider_error)?;
            Ok(Credentials::new(
                &found.key_id,
                &found.secret_key,
                found.token.clone(),
                None,
                "object_store",
            ))
        })
    }
}

/// Credentials of `aws-config` as object_store takes them, kept until shortly before their end.
struct Kept {
    what: String,
    source: SharedCredentialsProvider,
    otherwise: Option<AwsCredentialProvider>,
    last: Mutex<Option<(Arc<AwsCredential>, Option<SystemTime>)>>,
    /// Why it failed first: `aws-config` reads a profile once, and says of later tries only that it did.
    first: OnceLock<String>,
}

/// Credentials that could not be got.
#[derive(Debug)]
pub(super) struct Unfetched {
    what: String,
    why: String,
}

impl fmt::Display for Unfetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl std::error::Error for Unfetched {}

/// The missing credentials that an error comes from, if it comes from some.
pub(super) fn unfetched<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Unfetched> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<Unfetched>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.what)
    }
}

#[async_trait]
impl CredentialProvider for Kept {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let mut last = self.last.lock().await;
        if let Some((known, until)) = last.as_ref()
            && until.is_none_or(|until| SystemTime::now() + MARGIN < until)
        {
            return Ok(Arc::clone(known));
        }
        match self.source.provide_credentials().await {
            Ok(found) => {
                let fresh = Arc::new(AwsCredential {
                    key_id: found.access_key_id().to_owned(),
                    secret_key: found.secret_access_key().to_owned(),
                    token: found.session_token().map(str::to_owned),
                });
                *last = Some((Arc::clone(&fresh), found.expiry()));
                Ok(fresh)
            }
            Err(error) => match (&self.otherwise, error) {
                (Some(otherwise), CredentialsError::CredentialsNotLoaded(_)) => {
                    otherwise.get_credential().await
                }
                (_, error) => Err(self.failed(&error)),
            },
        }
    }
}

impl Kept {
    fn failed(&self, error: &CredentialsError) -> object_store::Error {
        let text = reason(error);
        let why = match text.contains(TAKEN) {
            true => self.first.get().cloned().unwrap_or(text),
            false => {
                let _ = self.first.set(text.clone());
                text
            }
        };
        object_store::Error::Unauthenticated {
            path: self.what.clone(),
            source: Box::new(Unfetched {
                what: self.what.clone(),
                why,
            }),
        }
    }
}

const TAKEN: &str = "already taken";

/// The texts of an error and its causes, each once. They name profiles, files and what a server has said; what a program
/// that was to give credentials has written is left out, since it may be anything.
fn reason(error: &CredentialsError) -> String {
    let mut text = String::new();
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        let told = error.to_string();
        let told = told.split(". Stderr:").next().unwrap_or_default();
        if !text.ends_with(told) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(told);
        }
        next = error.source();
    }
    text
}

/// object_store's HTTP client, with its proxies and certificates, as `aws-config` takes it.
#[derive(Debug, Clone)]
struct Bridge(HttpClient);

impl smithy::HttpClient for Bridge {
    fn http_connector(
        &self,
        _: &smithy::HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> smithy::SharedHttpConnector {
        smithy::SharedHttpConnector::new(self.clone())
    }
}

impl smithy::HttpConnector for Bridge {
    fn call(&self, request: sdk::HttpRequest) -> smithy::HttpConnectorFuture {
        let client = self.0.clone();
        smithy::HttpConnectorFuture::new(async move { sent(&client, request).await })
    }
}

async fn sent(
    client: &HttpClient,
    request: sdk::HttpRequest,
) -> Result<sdk::HttpResponse, ConnectorError> {
    let (parts, body) = request
        .try_into_http1x()
        .map_err(|error| ConnectorError::user(error.into()))?
        .into_parts();
    let body = body
        .bytes()
        .ok_or_else(|| ConnectorError::user("a body that is a stream cannot be sent".into()))?
        .to_vec();
    let answer = client
        .execute(HttpRequest::from_parts(parts, body.into()))
        .await
        .map_err(|error| ConnectorError::io(error.into()))?;
    let (parts, body) = answer.into_parts();
    let content: Vec<u8> = body
        .bytes_stream()
        .try_fold(Vec::new(), |mut all, part| async move {
            all.extend_from_slice(&part);
            Ok(all)
        })
        .await
        .map_err(|error| ConnectorError::io(error.into()))?;
    let mut response = object_store::client::HttpResponse::new(Vec::new().into());
    *response.status_mut() = parts.status;
    *response.headers_mut() = parts.headers;
    response.map(|_| SdkBody::from(content)).try_into().map_err(
        |error: aws_smithy_runtime_api::http::HttpError| ConnectorError::other(error.into(), None),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
