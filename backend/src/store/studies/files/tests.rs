use std::collections::BTreeSet;

use shared::study::StudyDefinition;
use shared::study::build::{self, StudyInputs};
use shared::study::preparation::run_never_waiting_future;

use super::*;
use crate::pipeline::ParallelExecutor;

/// Creates a study of two queries of the demo collection with lexical rankers, which tests can read
/// a thousand times.
pub(crate) fn make_small_study() -> Study {
    let definition = "format = 1\nname = \"small\"\ntitle = \"Small\"\n\
                      collection = \"demo\"\nn_queries = 2\npool = \"rank:bm25:10\"\n\
                      probes = [\"tfc1\", \"lnc2\"]\nmodes = [\"fixed\"]\n\
                      rankers = [\"bm25\", \"ql\"]\n[limits]\nlength_gap_terms = 10\n\
                      min_terms = 1\nrepeat_from = 2\nrepeat_to = 4\n\
                      repeated_terms = 240\nfilled_terms = 512\nfillable_terms = 256\n\
                      seed = 42\n";
    let definition = StudyDefinition::from_toml("study.toml", definition).unwrap();
    let mut collection = crate::demo::embedded_demo_collection().unwrap();
    definition.remove_unused_collection_queries(&mut collection);
    let inputs = StudyInputs {
        rankers: vec!["bm25".parse().unwrap(), "ql".parse().unwrap()],
        definition,
        collection,
        files: Default::default(),
        created: "2026-11-20".to_owned(),
    };
    run_never_waiting_future(build::make_study(inputs, &mut ParallelExecutor::default())).unwrap()
}

fn stored() -> (tempfile::TempDir, DataFolder, Study) {
    let home = tempfile::tempdir().unwrap();
    let data = DataFolder::open(home.path()).unwrap();
    let study = make_small_study();
    save_study_files(&data, &study).unwrap();
    (home, data, study)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |it: std::io::Result<fs::DirEntry>| it.unwrap().file_name().into_string();
    entries.map(|it| name(it).unwrap()).collect()
}

#[test]
fn a_flipped_bit_is_named_or_changes_nothing() {
    let (_home, data, study) = stored();
    let folder = data.study_folder("small").unwrap();
    assert_eq!(load_and_verify_study(&data, "small").unwrap(), study);
    assert_eq!(verify_study_files(&data, "small").unwrap(), 5);
    assert_eq!(names(&folder).len(), 5);
    for name in names(&folder) {
        let path = folder.join(&name);
        let whole = fs::read(&path).unwrap();
        // Bits at positions spread by the golden ratio.
        for n in 0..25_u32 {
            let part = (f64::from(n) * 0.618_034).fract();
            let bit = (part * (whole.len() * 8) as f64) as usize;
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, flipped).unwrap();
            let told = |error: Error| {
                let told = error.to_string();
                let named = told.contains(&format!("{name} is damaged"));
                assert!(named && told.contains("study run"), "{name}, {bit}: {told}");
            };
            told(verify_study_files(&data, "small").expect_err(&name));
            match load_and_verify_study(&data, "small") {
                Ok(found) => assert!(found == study, "{name}: bit {bit} changed the study"),
                Err(error) => told(error),
            }
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(load_and_verify_study(&data, "small").unwrap(), study);
}

#[test]
fn a_study_that_is_saved_again_has_only_its_own_files() {
    let (_home, data, mut study) = stored();
    let folder = data.study_folder("small").unwrap();
    let before = names(&folder);
    save_study_files(&data, &study).unwrap();
    assert_eq!(names(&folder), before);
    // The same instances with other metadata go to another file, so that a program that is
    // stopped in between leaves the old file intact.
    study.scores.pop();
    study.definition.rankers.pop();
    study.software = "0.0.9".to_owned();
    save_study_files(&data, &study).unwrap();
    let after = names(&folder);
    assert_eq!(after.len(), 5);
    assert_eq!(
        after.intersection(&before).count(),
        3,
        "{before:?} {after:?}"
    );
    assert_eq!(load_and_verify_study(&data, "small").unwrap(), study);
}

#[test]
fn sorted_instances_are_made_again_only_for_other_scores() {
    let (_home, data, mut study) = stored();
    let folder = data.study_folder("small").unwrap();
    let save = |study: &Study| save_in(&folder, study, 1).unwrap();
    let orders = || {
        let names = names(&folder).into_iter();
        names
            .filter(|it| it.starts_with("order-"))
            .collect::<BTreeSet<_>>()
    };
    let written = |name: &String| fs::metadata(folder.join(name)).unwrap().modified().unwrap();
    assert!(orders().is_empty());
    save(&study);
    let before = orders();
    assert_eq!(before.len(), 2);
    let instances = &study.instances[0];
    let count = |study: &Study| {
        let orders = load_instance_orders(&data, study).unwrap();
        let found = (0..study.scores.len()).filter_map(|row| orders.get(row, instances));
        found.count()
    };
    assert_eq!(count(&study), 2);
    assert_eq!(verify_study_files(&data, "small").unwrap(), 7);
    // One ranker less and another title: what is left stays as it is.
    study.scores.pop();
    study.definition.rankers.pop();
    study.definition.title = "Smaller".to_owned();
    let times: Vec<_> = before.iter().map(written).collect();
    save(&study);
    let left = orders();
    assert!(left.len() == 1 && left.is_subset(&before));
    let unchanged = left.iter().all(|it| times.contains(&written(it)));
    assert!(unchanged && count(&study) == 1);
    // A damaged file is not used, named by a check, and made again.
    let path = folder.join(left.first().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    bytes[9] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(count(&study), 0);
    let error = verify_study_files(&data, "small").unwrap_err().to_string();
    assert!(error.contains("order-"), "{error}");
    save(&study);
    assert_eq!((orders(), count(&study)), (left, 1));
}

#[test]
fn a_new_title_changes_the_definition_and_nothing_else() {
    let (_home, data, mut study) = stored();
    let folder = data.study_folder("small").unwrap();
    let before = names(&folder);
    let rename = |title: &str| {
        let title = Some(title.to_owned());
        update_title_and_description(&data, "small", title, None).unwrap()
    };
    assert_eq!(rename("Other"), "Other");
    study.definition.title = "Other".to_owned();
    assert_eq!(load_and_verify_study(&data, "small").unwrap(), study);
    assert_eq!(
        (verify_study_files(&data, "small").unwrap(), names(&folder)),
        (5, before)
    );
    let toml = fs::read_to_string(folder.join(DEFINITION)).unwrap();
    assert!(toml.contains("title = \"Other\""), "{toml}");
    // Scores that were computed meanwhile do not bring the old title back.
    rename("Third");
    study.scores.pop();
    save_study_with_stored_title(&data, &mut study).unwrap();
    assert_eq!(study.definition.title, "Third");
    assert_eq!(load_and_verify_study(&data, "small").unwrap(), study);
    let text = Some("Text".to_owned());
    let unknown = update_title_and_description(&data, "none", None, text).unwrap_err();
    assert!(
        unknown.to_string().contains("no study named `none`"),
        "{unknown}"
    );
}

#[test]
fn a_change_that_was_stopped_before_or_after_the_manifest_damages_nothing() {
    let (_home, data, study) = stored();
    let name = &study.definition.name;
    let folder = data.study_folder(name).unwrap();
    let [definition, next] = [DEFINITION, NEXT_DEFINITION].map(|it| folder.join(it));
    let before = fs::read(&definition).unwrap();
    fs::write(&next, "title = \"Stopped before the manifest\"").unwrap();
    assert!(verify_study_files(&data, name).unwrap() > 0);
    assert_eq!(fs::read(&definition).unwrap(), before);

    update_title_and_description(&data, name, Some("Changed".to_owned()), None).unwrap();
    let after = fs::read(&definition).unwrap();
    assert_ne!(after, before);
    fs::write(&next, &after).unwrap();
    fs::write(&definition, &before).unwrap();
    reread_study_files(&data, name, |_| true).unwrap();
    assert_eq!(fs::read(&definition).unwrap(), after);
    assert!(!next.exists());
}

#[test]
fn writers_of_a_study_do_not_mix_their_files() {
    let (_home, data, study) = stored();
    std::thread::scope(|scope| {
        for title in ["one", "two", "three"] {
            let (data, study) = (&data, &study);
            scope.spawn(move || {
                for _ in 0..20 {
                    let title = Some(title.to_owned());
                    update_title_and_description(data, "small", title, None).unwrap();
                    save_study_with_stored_title(data, &mut study.clone()).unwrap();
                }
            });
        }
    });
    assert_eq!(verify_study_files(&data, "small").unwrap(), 5);
    assert_ne!(
        load_and_verify_study(&data, "small")
            .unwrap()
            .definition
            .title,
        "Small"
    );
}

#[test]
fn a_study_that_would_be_another_once_stored_is_refused() {
    let (_home, data, mut study) = stored();
    let studies = data
        .study_folder("small")
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    ensure_study_can_be_stored(&data, &study).unwrap();
    study.scores[0].truncated = vec![5, 1];
    let error = ensure_study_can_be_stored(&data, &study).unwrap_err();
    assert!(
        error.to_string().contains("contradict each other"),
        "{error}"
    );
    assert_eq!(names(&studies), BTreeSet::from(["small".to_owned()]));
}

#[test]
fn a_study_of_an_earlier_version_has_no_checksums_and_is_read() {
    let (_home, data, study) = stored();
    let head = data.study_folder("small").unwrap().join(HEAD);
    let json = fs::read_to_string(&head).unwrap();
    let from = json.find("\"study\":").unwrap();
    let to = json.rfind(",\"files\":").unwrap();
    fs::write(&head, format!("{{{}}}", &json[from..to])).unwrap();
    assert_eq!(load_and_verify_study(&data, "small").unwrap(), study);
    assert_eq!(verify_study_files(&data, "small").unwrap(), 0);
    let title = Some("New".to_owned());
    update_title_and_description(&data, "small", title, None).unwrap();
    assert_eq!(
        load_and_verify_study(&data, "small")
            .unwrap()
            .definition
            .title,
        "New"
    );
    assert_eq!(verify_study_files(&data, "small").unwrap(), 0);
}
