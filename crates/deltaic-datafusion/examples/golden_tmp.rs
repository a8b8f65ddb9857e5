use std::sync::Arc;
use deltaic_datafusion::application::{open::*, session::session_context};
#[tokio::main]
async fn main() {
    let root = std::env::args().nth(1).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&std::fs::read_to_string("/work/shared/golden/expected.json").unwrap()).unwrap();
    let (mut good, mut bad) = (0, 0);
    for (name, versions) in expected.as_object().unwrap() {
        let mut path = format!("{root}/{name}");
        if std::path::Path::new(&format!("{path}/delta")).exists() { path = format!("{path}/delta"); }
        for (version, want) in versions.as_object().unwrap() {
            let at = version.parse().map_or(Version::Latest, Version::At);
            let ctx = session_context();
            let run = async {
                let provider = open_version(&path, at).await?;
                ctx.register_table("t", Arc::new(provider))?;
                let batches = ctx.sql("SELECT * FROM t").await?.collect().await?;
                Ok::<usize, datafusion::error::DataFusionError>(batches.iter().map(|b| b.num_rows()).sum())
            };
            let got = match run.await { Ok(n) => format!("{n}"), Err(e) => { let e = deltaic_datafusion::unwrap(e); format!("{:?} {}", e.class(), e) } };
            let want_text = match want.get("count") { Some(n) => n.to_string(), None => want["error"]["condition"].to_string() + " " + want["error"]["message"].as_str().unwrap_or("") };
            let ok = match want.get("count") { Some(n) => got == n.to_string(), None => want["error"]["condition"].as_str().is_some_and(|c| got.starts_with(&format!("Some({c:?})"))) || (want["error"]["condition"].is_null() && got.starts_with("None")) };
            if ok { good += 1 } else { bad += 1; println!("{name}@{version}: want {} got {}", &want_text.chars().take(200).collect::<String>(), &got.chars().take(300).collect::<String>()); }
        }
    }
    println!("{good} good, {bad} bad");
}
