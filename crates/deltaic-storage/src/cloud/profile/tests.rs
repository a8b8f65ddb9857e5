//! Profiles from files, with a server of AWS's that is played.

use std::sync::Mutex as Lock;

use object_store::StaticCredentialProvider;
use object_store::client::{HttpError, HttpResponse, HttpService};
use tempfile::TempDir;

use super::*;
use crate::cloud::CloudOptions;

/// Plays AWS's token service: what it was asked, and how long its answers hold.
#[derive(Debug, Clone)]
struct Tokens {
    asked: Arc<Lock<Vec<String>>>,
    hold: Duration,
}

impl Tokens {
    fn new(hold: Duration) -> Tokens {
        Tokens {
            asked: Arc::default(),
            hold,
        }
    }

    fn client(&self) -> HttpClient {
        HttpClient::new(self.clone())
    }
}

#[async_trait]
impl HttpService for Tokens {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let body = request.body().as_bytes().cloned().unwrap_or_default();
        let mut asked = self.asked.lock().unwrap();
        asked.push(format!(
            "{} {} {}",
            request.uri(),
            String::from_utf8_lossy(&body),
            request.headers()["authorization"].to_str().unwrap()
        ));
        let until = chrono::DateTime::<chrono::Utc>::from(SystemTime::now() + self.hold);
        let answer = format!(
            "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><Credentials>\
             <AccessKeyId>role-{}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>\
             <Expiration>{}</Expiration></Credentials><AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/s</Arn>\
             <AssumedRoleId>A:s</AssumedRoleId></AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>",
            asked.len(),
            until.format("%Y-%m-%dT%H:%M:%SZ")
        );
        Ok(HttpResponse::new(answer.into_bytes().into()))
    }
}

fn fixed(key_id: &str) -> AwsCredentialProvider {
    Arc::new(StaticCredentialProvider::new(AwsCredential {
        key_id: key_id.to_owned(),
        secret_key: "s".to_owned(),
        token: None,
    }))
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn new(config: &str, credentials: &str) -> Files {
        let folder = tempfile::tempdir().unwrap();
        let aws = folder.path().join(".aws");
        std::fs::create_dir(&aws).unwrap();
        for (name, text) in [("config", config), ("credentials", credentials)] {
            if !text.is_empty() {
                std::fs::write(aws.join(name), text).unwrap();
            }
        }
        Files { folder }
    }

    fn profile(&self, options: &[(&str, &str)], environment: &[(&str, &str)]) -> Option<Profile> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let home = self.folder.path().to_str().unwrap().to_owned();
        let environment = environment
            .iter()
            .map(owned)
            .chain([("HOME".to_owned(), home)]);
        let options = CloudOptions::from_iter(options.iter().map(owned));
        Profile::of(&Settings::with_environment(&options, environment))
    }
}

async fn key_of(provider: &AwsCredentialProvider) -> String {
    provider.get_credential().await.unwrap().key_id.clone()
}

const CREDENTIALS: &str = "[default]\naws_access_key_id = d\naws_secret_access_key = s\n\
    [dev]\naws_access_key_id = dev\naws_secret_access_key = s\naws_session_token = t\n";

#[tokio::test]
async fn keys_of_a_profile() {
    let files = Files::new("", CREDENTIALS);
    let tokens = Tokens::new(Duration::ZERO);
    for (options, environment, wanted) in [
        (vec![], vec![], "d"),
        (vec![("aws_profile", "dev")], vec![], "dev"),
        (vec![], vec![("AWS_PROFILE", "dev")], "dev"),
        (
            vec![("AWS_PROFILE", "default")],
            vec![("AWS_PROFILE", "dev")],
            "d",
        ),
    ] {
        let profile = files.profile(&options, &environment).unwrap();
        let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("other"));
        assert_eq!(key_of(&provider).await, wanted);
    }
    assert!(Files::new("", "").profile(&[], &[]).is_none());
}

#[tokio::test]
async fn a_program_that_prints_credentials() {
    let files = Files::new(
        "[profile p]\ncredential_process = printf '{\"Version\":1,\"AccessKeyId\":\"printed\",\"SecretAccessKey\":\"s\"}'\n",
        "",
    );
    let profile = files.profile(&[("aws_profile", "p")], &[]).unwrap();
    let tokens = Tokens::new(Duration::ZERO);
    let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("other"));
    assert_eq!(key_of(&provider).await, "printed");
}

#[tokio::test]
async fn a_role_of_a_profile_is_asked_for_once_while_it_holds() {
    let files = Files::new(
        "[profile r]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = dev\n",
        CREDENTIALS,
    );
    let profile = files.profile(&[("aws_profile", "r")], &[]).unwrap();
    let tokens = Tokens::new(Duration::from_secs(3600));
    let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("other"));
    assert_eq!(key_of(&provider).await, "role-1");
    assert_eq!(key_of(&provider).await, "role-1");
    let asked = tokens.asked.lock().unwrap().join("\n");
    assert!(asked.contains("sts.eu-west-1.amazonaws.com"), "{asked}");
    assert!(
        asked.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"),
        "{asked}"
    );
    assert!(asked.contains("Credential=dev/"), "{asked}");
}

#[tokio::test]
async fn credentials_are_renewed_before_they_end() {
    let files = Files::new(
        "[profile r]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = dev\n",
        CREDENTIALS,
    );
    let profile = files.profile(&[("aws_profile", "r")], &[]).unwrap();
    let tokens = Tokens::new(Duration::from_secs(60));
    let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("other"));
    assert_eq!(key_of(&provider).await, "role-1");
    assert_eq!(key_of(&provider).await, "role-2");
}

#[tokio::test]
async fn a_role_that_the_options_name() {
    let tokens = Tokens::new(Duration::from_secs(3600));
    let role = Role {
        arn: "arn:aws:iam::1:role/r".to_owned(),
        session: Some("mine".to_owned()),
        endpoint: Some("http://sts.test".to_owned()),
        region: "eu-west-1".to_owned(),
    };
    let provider = role.credentials(tokens.client(), fixed("base"));
    assert_eq!(key_of(&provider).await, "role-1");
    let asked = tokens.asked.lock().unwrap().join("\n");
    assert!(asked.starts_with("http://sts.test"), "{asked}");
    assert!(
        asked.contains("RoleSessionName=mine") && asked.contains("Credential=base/"),
        "{asked}"
    );
}

#[tokio::test]
async fn a_default_profile_without_credentials_leaves_it_to_the_machine() {
    let files = Files::new("[default]\nregion = eu-west-1\n", "");
    let profile = files.profile(&[], &[]).unwrap();
    let tokens = Tokens::new(Duration::ZERO);
    let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("machine"));
    assert_eq!(key_of(&provider).await, "machine");
}

#[tokio::test]
async fn a_profile_that_is_asked_for_and_missing_is_an_error() {
    let files = Files::new("", CREDENTIALS);
    let profile = files.profile(&[("aws_profile", "nobody")], &[]).unwrap();
    let tokens = Tokens::new(Duration::ZERO);
    let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("machine"));
    let error = provider.get_credential().await.unwrap_err();
    assert!(matches!(error, object_store::Error::Unauthenticated { .. }));
    assert!(error.to_string().contains("nobody"), "{error}");
}

#[test]
fn plain_settings_of_a_profile() {
    let files = Files::new(
        "[default]\nregion = eu-west-1\ns3 =\n  region = nested\n[profile dev]\noutput=json\nregion=us-west-2\nendpoint_url = http://h\n\
         [sso-session dev]\nregion = no\n",
        "",
    );
    let setting = |name: &str, wanted: &str| {
        files
            .profile(&[("aws_profile", name)], &[])
            .unwrap()
            .setting(wanted)
    };
    assert_eq!(setting("default", "region").as_deref(), Some("eu-west-1"));
    assert_eq!(setting("dev", "region").as_deref(), Some("us-west-2"));
    assert_eq!(setting("dev", "endpoint_url").as_deref(), Some("http://h"));
    assert_eq!(setting("other", "region"), None);
}

#[tokio::test]
async fn a_profile_that_gives_nothing_says_why_every_time_and_no_more() {
    for (config, name, wanted) in [
        (
            "[profile fail]\ncredential_process = sh -c 'echo SECRET >&2; exit 3'\n",
            "fail",
            "exit status: 3",
        ),
        (
            "[profile one]\nrole_arn = r\nsource_profile = two\n[profile two]\nrole_arn = s\nsource_profile = one\n",
            "one",
            "loop",
        ),
        (
            "[profile one]\nrole_arn = r\nsource_profile = nowhere\n",
            "one",
            "nowhere",
        ),
    ] {
        let files = Files::new(config, "");
        let profile = files.profile(&[("aws_profile", name)], &[]).unwrap();
        let tokens = Tokens::new(Duration::ZERO);
        let provider = profile.credentials(tokens.client(), "eu-west-1", fixed("other"));
        for _ in 0..3 {
            let error = provider.get_credential().await.unwrap_err();
            let told = crate::cloud::failure::to_delta("list", "s3://b/t", &error);
            let text = told.to_string();
            assert!(text.contains(wanted), "{text}");
            assert!(
                text.contains(&format!("no credentials from the AWS profile {name}")),
                "{text}"
            );
            assert!(
                !text.contains("SECRET") && !format!("{told:?}").contains("SECRET"),
                "{told:?}"
            );
            assert!(told.hint().unwrap().contains("profile"), "{told:?}");
        }
    }
}
