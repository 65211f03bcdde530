//! Publishing, withdrawing, renaming and uploading studies.

use shared::api::manage_studies::{UpdateStudyRequest, UploadStudyRequest};
use shared::study::overview::{StudyOverview, StudySummary};

use super::*;
use crate::pipeline;
use crate::store::studies::files::tests::make_small_study;

impl Site {
    async fn update(&self, change: UpdateStudyRequest) -> Answer {
        self.as_operator(&change).await
    }

    async fn as_operator<E: Endpoint>(&self, asked: &E) -> Answer {
        self.send(with_token(request_for(asked), &self.token)).await
    }

    /// Returns the names and titles of the studies that a visitor sees.
    async fn visible_titles(&self) -> Vec<(String, String)> {
        let listed: Vec<StudySummary> = self.ask(&ListStudiesRequest {}).await.json();
        let listed = listed.into_iter();
        listed.map(|it| (it.name, it.title)).collect()
    }

    async fn export(&self, study: &str) -> Study {
        let study = study.to_owned();
        self.as_operator(&ExportStudyRequest { study }).await.json()
    }
}

fn change(study: &str) -> UpdateStudyRequest {
    UpdateStudyRequest {
        study: study.to_owned(),
        ..UpdateStudyRequest::default()
    }
}

fn upload(name: &str, study: Study) -> UploadStudyRequest {
    UploadStudyRequest {
        name: name.to_owned(),
        title: None,
        replace: false,
        study: Box::new(study),
    }
}

fn pair(name: &str, title: &str) -> (String, String) {
    (name.to_owned(), title.to_owned())
}

#[tokio::test]
async fn a_study_is_renamed_everywhere_and_keeps_its_hashes() {
    let site = Site::new(ListenScope::Network).await;
    let look = GetStudyRequest {
        study: "open".to_owned(),
        controls: Default::default(),
    };
    let before: StudyOverview = site.ask(&look).await.json();
    site.export("open").await;
    let renamed = site.update(UpdateStudyRequest {
        title: Some("  Rivers & <banks> ".to_owned()),
        description: Some("Of two rivers.".to_owned()),
        ..change("open")
    });
    let summary: StudySummary = renamed.await.json();
    assert_eq!(summary.title, "Rivers & <banks>");
    assert!(summary.is_published);
    let after: StudyOverview = site.ask(&look).await.json();
    assert_eq!(after.description, "Of two rivers.");
    assert_eq!(after.instances_hash, before.instances_hash);
    assert_eq!(after.collection_hash, before.collection_hash);
    assert_eq!(
        site.visible_titles().await,
        [pair("open", "Rivers & <banks>")]
    );
    assert_eq!(
        site.export("open").await.definition.title,
        "Rivers & <banks>"
    );
    let page = site.get("/studies/open").await;
    let page = String::from_utf8_lossy(&page.body);
    assert!(
        page.contains("<h1>Rivers &amp; &lt;banks&gt;</h1>"),
        "{page}"
    );
    // A new description leaves the title as it is, and another start finds both.
    let described = site.update(UpdateStudyRequest {
        description: Some(String::new()),
        ..change("open")
    });
    assert_eq!(
        described.await.json::<StudySummary>().title,
        "Rivers & <banks>"
    );
    let stored = pipeline::load_study(&site.folder, "open").unwrap();
    assert_eq!(stored.definition.title, "Rivers & <banks>");
    assert_eq!(stored.definition.description, "");
    let listed = site.app.store.list_studies().await.unwrap();
    let listed = listed.iter().find(|it| it.name == "open").unwrap();
    assert_eq!(listed.title, "Rivers & <banks>");
    assert_eq!(listed.revision, 3);
}

#[tokio::test]
async fn a_study_is_published_and_withdrawn() {
    let site = Site::new(ListenScope::Network).await;
    let publish = async |is_published| {
        let asked = UpdateStudyRequest {
            is_published: Some(is_published),
            ..change("hidden")
        };
        site.update(asked).await.json::<StudySummary>().is_published
    };
    assert!(publish(true).await);
    let both = [pair("hidden", "hidden"), pair("open", "open")];
    assert_eq!(site.visible_titles().await, both);
    assert!(!publish(false).await);
    assert_eq!(site.visible_titles().await, [pair("open", "open")]);
    let page = site.get("/studies/hidden").await;
    assert!(!String::from_utf8_lossy(&page.body).contains("hidden"));
}

#[tokio::test]
async fn an_invalid_change_is_refused_as_a_whole() {
    let site = Site::new(ListenScope::Network).await;
    let long = "a".repeat(201);
    for (title, description, field) in [
        (Some(""), None, "title"),
        (Some("a\u{202E}b"), None, "title"),
        (Some(long.as_str()), None, "title"),
        (Some("Fine"), Some("\0"), "description"),
    ] {
        let answer = site.update(UpdateStudyRequest {
            title: title.map(str::to_owned),
            description: description.map(str::to_owned),
            is_published: Some(false),
            ..change("open")
        });
        let answer = answer.await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(answer.json::<ErrorResponse>().field.as_deref(), Some(field));
    }
    assert_eq!(site.visible_titles().await, [pair("open", "open")]);
    let unknown = UpdateStudyRequest {
        title: Some("Fine".to_owned()),
        ..change("../open")
    };
    let (status, error) = site.update(unknown).await.problem();
    assert_eq!(
        (status, &*error),
        (404, "there is no study named `../open`")
    );
}

#[tokio::test]
async fn an_uploaded_study_is_withdrawn_until_it_is_published() {
    let site = Site::new(ListenScope::Network).await;
    let study = make_small_study();
    let asked = UploadStudyRequest {
        title: Some("Uploaded".to_owned()),
        ..upload("rivers", study.clone())
    };
    let stored: StudySummary = site.as_operator(&asked).await.json();
    assert_eq!((&*stored.name, &*stored.title), ("rivers", "Uploaded"));
    assert!(!stored.is_published);
    assert_eq!(site.visible_titles().await, [pair("open", "open")]);
    let mut expected = study.clone();
    expected.definition.name = "rivers".to_owned();
    expected.definition.title = "Uploaded".to_owned();
    assert!(site.export("rivers").await == expected);
    assert!(pipeline::load_study(&site.folder, "rivers").unwrap() == expected);

    let (status, error) = site.as_operator(&asked).await.problem();
    assert_eq!(status, 409);
    assert!(
        error.contains("named `rivers`") && error.contains("another name"),
        "{error}"
    );
    // A study that is replaced is withdrawn, too, since nobody has looked at the new one.
    let published = UpdateStudyRequest {
        is_published: Some(true),
        ..change("rivers")
    };
    site.update(published).await.json::<StudySummary>();
    let replaced = UploadStudyRequest {
        replace: true,
        ..upload("rivers", study)
    };
    let stored: StudySummary = site.as_operator(&replaced).await.json();
    assert_eq!((&*stored.title, stored.is_published), ("Small", false));
    assert_eq!(site.export("rivers").await.definition.title, "Small");
}

#[tokio::test]
async fn an_invalid_upload_leaves_nothing() {
    let site = Site::new(ListenScope::Network).await;
    let sound = serde_json::to_value(upload("rivers", make_small_study())).unwrap();
    let long = "a".repeat(201);
    for (place, wrong, field) in [
        ("/name", json!("../rivers"), Some("name")),
        ("/name", json!("local"), Some("name")),
        ("/name", json!("index"), Some("name")),
        ("/title", json!("\u{200D}"), Some("title")),
        ("/study/definition/title", json!(long), Some("title")),
        (
            "/study/definition/description",
            json!("\u{202E}"),
            Some("description"),
        ),
        ("/study/instances_hash", json!("0"), Some("study")),
        ("/study/format", json!(2), Some("study")),
        ("/study/pools", json!([]), Some("study")),
        ("/study/scores/0/truncated", json!([5, 1]), Some("study")),
        ("/study/docs/0", json!(7), None),
    ] {
        let mut body = sound.clone();
        match body.pointer_mut(place) {
            Some(it) => *it = wrong,
            None if place == "/title" => body["title"] = wrong,
            None => body["study"]["scores"][0]["truncated"] = wrong,
        }
        let asked = request("POST", UploadStudyRequest::PATH, &body.to_string());
        let answer = site.send(with_token(asked, &site.token)).await;
        let problem: ErrorResponse = answer.json();
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{place}: {problem:?}"
        );
        assert_eq!(problem.field.as_deref(), field, "{place}: {problem:?}");
    }
    assert_eq!(site.app.store.list_studies().await.unwrap().len(), 2);
    let folder = site.folder.study_folder("rivers").unwrap();
    let studies = std::fs::read_dir(folder.parent().unwrap()).unwrap();
    assert_eq!(studies.count(), 2);
    // A study of that name is neither changed nor published by an upload that fails.
    let mut other = make_small_study();
    other.instances_hash.clear();
    let failed = UploadStudyRequest {
        replace: true,
        ..upload("open", other)
    };
    let failed = site.as_operator(&failed).await;
    assert_eq!(failed.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(site.visible_titles().await, [pair("open", "open")]);
}

#[tokio::test]
async fn summaries_that_were_cached_are_listed_without_reading_a_study() {
    let site = Site::new(ListenScope::Network).await;
    crate::http::studies::cache_summaries(site.app.clone()).await;
    for name in ["open", "hidden"] {
        std::fs::remove_dir_all(site.folder.study_folder(name).unwrap()).unwrap();
    }
    let listed: Vec<StudySummary> = site.as_operator(&ListStudiesRequest {}).await.json();
    // The study that is not published was not read.
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].name, "open");
}
