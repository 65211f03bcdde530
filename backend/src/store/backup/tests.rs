use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use shared::annotation::PersonId;
use shared::api::people::AccessRole;

use super::*;
use crate::models::PairScore;
use crate::store::people::{JoiningPersonDetails, NewInvitation};
use crate::store::secret_token::SecretToken;
use crate::store::tests::{TestFolder, job};

const FILES: [(&str, &str); 8] = [
    ("collections/rivers/corpus.jsonl", "{}\n"),
    ("demo/transfer/fluency.jsonl", ""),
    ("drafts/draft-0", "a record"),
    ("scores/f/0.parquet", "PAR1"),
    ("studies/s/instances-1.parquet", "PAR1"),
    (
        "studies/s/study.json",
        "{\"instances\": \"instances-1.parquet\"}",
    ),
    ("trainings/t/checkpoint.safetensors", "weights"),
    ("trainings/t/job.json", "{\"format\": 1}"),
];

/// Fills every table and every part, and adds files that are not backed up.
async fn fill(place: &TestFolder) {
    for (name, text) in FILES {
        put(place, name, text);
    }
    put(place, "studies/s/.tmpAb12", "half of it");
    put(place, "notes.txt", "somebody's own");
    let store = place.store().await;
    let score = |pair, score| PairScore {
        pair,
        score,
        truncated: pair == 1,
    };
    let mut done = job(4);
    done.id = "1".repeat(32);
    done.title = "Ein Fluß, \"quoted\"\n".to_owned();
    for it in [&job(4), &done] {
        store.add_job_with_batches(it).await.unwrap();
        let scores = [score(0, 0.1 + 0.2), score(1, -1e-300)];
        let batch = store
            .lease_next_batch_of_job(&it.id)
            .await
            .unwrap()
            .unwrap();
        let committed = store.commit_batch_scores(&it.id, batch.lease, &scores);
        committed.await.unwrap();
    }
    store.mark_job_running(&done.id).await.unwrap();
    let rest = [score(2, -0.0), score(3, 5.0)];
    let batch = store.lease_next_batch_of_job(&done.id).await;
    let lease = batch.unwrap().unwrap().lease;
    store
        .commit_batch_scores(&done.id, lease, &rest)
        .await
        .unwrap();
    let lease = store
        .lease_last_step_of_job(&done.id)
        .await
        .unwrap()
        .unwrap();
    store
        .finish_job_and_delete_texts(&done.id, lease, None)
        .await
        .unwrap();
    store.replace_operator_token().await.unwrap();
    fill_people(&store).await;
    sqlx::query("INSERT INTO studies VALUES ('s', 'S', '2026-11-20', 'a', 'b', 3, 1, 7)")
        .execute(&store.pool)
        .await
        .unwrap();
    store.close().await;
}

/// Adds two people who used their invitations, and an invitation that is not used.
async fn fill_people(store: &Database) {
    let mut invite = NewInvitation {
        role: AccessRole::Curator,
        person: None,
        hours: 1,
        note: "for Ada\n".to_owned(),
        made_by: None,
    };
    for name in ["Ada", "Zoë"] {
        let made = store.create_invitation(&invite, 1_000).await.unwrap();
        let joining = JoiningPersonDetails {
            name: name.to_owned(),
            password_hash: Some("$argon2id$".to_owned()),
        };
        let token = SecretToken::from_unchecked_text(&made.token);
        store
            .accept_invitation_and_begin_session(&token, &joining, 2_000)
            .await
            .unwrap();
        invite.made_by = Some(PersonId(1));
    }
    store.create_invitation(&invite, 1_000).await.unwrap();
}

fn put(place: &TestFolder, name: &str, text: &str) {
    let path = place.folder.root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

async fn back_up(place: &TestFolder, to: &Path) -> BackupCounts {
    let store = place.store().await;
    let rows = store
        .snapshot_tables_into_files(to.parent().unwrap())
        .await
        .unwrap();
    write_backup(&place.folder, rows, to).unwrap()
}

/// Returns a filled place with a backup of it at `to`, and what the backup has.
async fn filled_and_backed_up(to: &Path) -> (TestFolder, BackupCounts) {
    let place = TestFolder::sqlite();
    fill(&place).await;
    let counts = back_up(&place, to).await;
    (place, counts)
}

/// The head of a backup of the layout of today, written by a later version.
const LATER_HEAD: &str = r#"{"format":1,"software":"9.9","layout":1,"made":"2030"}"#;

/// Checks that nothing is restored from a backup, for this reason.
async fn expect_refused(to: &TestFolder, backup: &Path, reason: &str, what: &str) {
    let error = restored(to, backup).await.unwrap_err().to_string();
    assert!(error.contains(reason), "{what}: {error:.200}");
    assert_eq!(left_in(to), ["axioscope.lock"]);
}

/// Returns a place for a restore: a folder that does not exist, and an empty database.
fn empty(place: TestFolder) -> TestFolder {
    fs::remove_dir_all(&place.folder.root).unwrap();
    place
}

async fn restored(place: &TestFolder, from: &Path) -> Result<BackupCounts, Error> {
    restore_backup(&place.folder, &place.database, from).await
}

/// Returns all members except the first one, which contains the time.
fn members(backup: &Path) -> BTreeMap<String, String> {
    let packed = flate2::read::GzDecoder::new(File::open(backup).unwrap());
    let mut members = BTreeMap::new();
    for member in tar::Archive::new(packed).entries().unwrap() {
        let mut member = member.unwrap();
        let name = String::from_utf8(member.path_bytes().into_owned()).unwrap();
        let mut text = String::new();
        member.read_to_string(&mut text).unwrap();
        members.insert(name, text);
    }
    members.remove(HEAD);
    let sums = members.get_mut("SHA256SUMS").unwrap();
    *sums = sums.lines().skip(1).collect::<Vec<_>>().join("\n");
    members
}

#[tokio::test]
async fn a_backup_of_either_database_is_restored_into_either() {
    let home = tempfile::tempdir().unwrap();
    let (first, again) = (home.path().join("first"), home.path().join("again"));
    for from in TestFolder::each() {
        fill(&from).await;
        let size = back_up(&from, &first).await;
        assert_eq!((size.n_files, size.n_rows), (FILES.len() as u64, 25));
        let expected = members(&first);
        for (name, text) in FILES {
            assert_eq!(expected[&format!("files/{name}")], text);
        }
        assert_eq!(expected.len(), FILES.len() + TABLES.len() + 1);
        assert!(expected["database/job_scores.jsonl"].contains("0.30000000000000004,0]"));
        for to in TestFolder::each().map(empty) {
            assert_eq!(restored(&to, &first).await.unwrap(), size);
            assert_eq!(back_up(&to, &again).await, size);
            assert_eq!(members(&again), expected);

            // Later jobs get higher numbers.
            let store = to.store().await;
            let mut next = job(2);
            next.id = "2".repeat(32);
            store.add_job_with_batches(&next).await.unwrap();
            let ids: Vec<String> = store
                .list_jobs()
                .await
                .unwrap()
                .into_iter()
                .map(|it| it.id)
                .collect();
            assert_eq!(ids, ["2", "1", "0"].map(|it| it.repeat(32)));
            assert!(store.operator_token_hash().await.unwrap().is_some());

            // People are restored, but not their sessions and open invitations.
            let everybody = store.list_people_and_invitations(3_000).await.unwrap();
            let people = everybody
                .people
                .iter()
                .map(|it| (it.person.name.as_str(), it.n_sessions));
            assert_eq!(people.collect::<Vec<_>>(), [("Ada", 0), ("Zoë", 0)]);
            assert!(everybody.invitations.is_empty());
            let joining = JoiningPersonDetails {
                name: "Eve".to_owned(),
                password_hash: None,
            };
            let session = store
                .add_named_operator_with_session(&joining, 3_000)
                .await
                .unwrap();
            let session = store
                .validate_and_extend_session(&session, 3_000)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(session.person.unwrap().id, PersonId(3));
        }
    }
}

#[tokio::test]
async fn a_backup_of_an_earlier_layout_is_brought_forward() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("early.tar.gz");
    let head = r#"{"format":1,"software":"0.0.9","layout":1,"made":"2026-01-01T00:00:00Z"}"#;
    let jobs = "[\"number\",\"id\",\"title\",\"ranker\",\"state\",\"token_budget\",\"n_threads\",\
                \"n_pairs\",\"pairs\",\"created\"]\n\
                [3,\"early\",\"A job\",\"f\",\"queued\",100,1,1,\"AAAAAAAAAAA=\",\"2026\"]\n";
    let rankers = "[\"fingerprint\",\"spec\",\"label\",\"detail\",\"kind\"]\n\
                   [\"f\",\"tiny:bi\",\"Tiny\",\"\",\"neural\"]\n";
    let mut out = ArchiveWriter::from_writer(File::create(&path).unwrap());
    out.add_member(HEAD, head.len() as u64, head.as_bytes())
        .unwrap();
    for table in &TABLES {
        let text = match table.name {
            "jobs" => jobs,
            "rankers" => rankers,
            "studies" => "[\"name\"]\n",
            "operator" => "[\"one\"]\n",
            "score_files" => "[\"ranker\"]\n",
            "job_queries" | "job_texts" | "job_batches" | "job_scores" => "[\"job\"]\n",
            // Tables of later layouts.
            _ => continue,
        };
        let name = tables::table_archive_member_name(table.name);
        out.add_member(&name, text.len() as u64, text.as_bytes())
            .unwrap();
    }
    out.write_checksums_and_finish().unwrap();
    for place in TestFolder::each().map(empty) {
        restored(&place, &path).await.unwrap();
        let store = place.store().await;
        assert_eq!(
            store.job_without_documents("early").await.unwrap().pairs,
            [(0, 0)]
        );
        assert_eq!(
            store.job_score_stability_check("early").await.unwrap(),
            None
        );
    }
}

#[tokio::test]
async fn a_backup_is_restored_only_where_nothing_is() {
    let home = tempfile::tempdir().unwrap();
    let backup = home.path().join("backup.tar.gz");
    let (place, _) = filled_and_backed_up(&backup).await;

    let error = restored(&place, &backup).await.unwrap_err().to_string();
    assert!(
        error.contains("is not empty") && error.contains("--data"),
        "{error}"
    );
    if let Some(place) = TestFolder::postgres().map(empty) {
        place
            .store()
            .await
            .add_job_with_batches(&job(2))
            .await
            .unwrap();
        let error = restored(&place, &backup).await.unwrap_err().to_string();
        assert!(error.contains("holds something already"), "{error}");
        assert_eq!(place.store().await.list_jobs().await.unwrap().len(), 1);
        assert_eq!(left_in(&place), ["axioscope.lock"]);
    }
}

fn left_in(place: &TestFolder) -> Vec<String> {
    let entries = fs::read_dir(&place.folder.root).unwrap();
    let name = |it: io::Result<fs::DirEntry>| it.unwrap().file_name().into_string().unwrap();
    entries.map(name).collect()
}

#[tokio::test]
async fn of_a_backup_that_is_cut_off_or_changed_nothing_is_restored() {
    let home = tempfile::tempdir().unwrap();
    let (whole, broken) = (home.path().join("whole"), home.path().join("broken"));
    let (_, size) = filled_and_backed_up(&whole).await;
    let bytes = fs::read(&whole).unwrap();
    let to = empty(TestFolder::sqlite());
    let check = async |bytes: &[u8], what: String| {
        fs::write(&broken, bytes).unwrap();
        let error = restored(&to, &broken).await.expect_err(&what).to_string();
        assert_eq!(left_in(&to), ["axioscope.lock"], "{what}");
        error
    };
    for n_bytes in (0..bytes.len()).step_by(bytes.len() / 50) {
        let error = check(&bytes[..n_bytes], format!("cut after {n_bytes}")).await;
        assert!(error.contains("nothing was restored"), "{n_bytes}: {error}");
    }
    let unpacked = |packed: &[u8]| {
        let mut bytes = Vec::new();
        let read = flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes);
        read.ok().map(|_| bytes)
    };
    // Changes to some bytes of the gzip header, such as the time, and to a few bits near the end
    // have no effect.
    for at in (10..bytes.len()).step_by(bytes.len() / 50) {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        if unpacked(&changed) == unpacked(&bytes) {
            continue;
        }
        check(&changed, format!("changed at {at}")).await;
    }
    assert_eq!(restored(&to, &whole).await.unwrap(), size);
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("backup.tar.gz");
    filled_and_backed_up(&path).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    let to = empty(TestFolder::sqlite());
    restored(&to, &path).await.unwrap();
    assert_eq!(mode(&to.folder.database_path()), 0o600);
}

#[tokio::test]
async fn what_a_killed_restore_left_is_no_hindrance() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("backup.tar.gz");
    let (_, size) = filled_and_backed_up(&path).await;
    let to = empty(TestFolder::sqlite());
    put(
        &to,
        &format!("{SCRATCH}Ab12Cd/files/studies/s"),
        "half of it",
    );
    put(&to, "axioscope.lock", "");
    assert_eq!(restored(&to, &path).await.unwrap(), size);
    assert!(!left_in(&to).iter().any(|it| it.starts_with(SCRATCH)));
}

/// A very long name compresses to a few thousand bytes.
#[tokio::test]
async fn a_name_without_end_is_refused_before_it_is_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("backup.tar.gz");
    let to = empty(TestFolder::sqlite());
    for kind in [
        tar::EntryType::GNULongName,
        tar::EntryType::GNULongLink,
        tar::EntryType::XHeader,
    ] {
        let mut out = unchecked(&path);
        out.add(HEAD, LATER_HEAD);
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(4 << 20);
        header.set_cksum();
        out.tar
            .append(&header, io::repeat(b'x').take(4 << 20))
            .unwrap();
        out.add("files/studies/s", "");
        out.finish();
        let what = format!("{kind:?}");
        expect_refused(&to, &path, "a name in it is longer", &what).await;
    }
}

#[tokio::test]
async fn a_row_that_no_table_can_hold_is_refused_before_it_is_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("backup.tar.gz");
    let to = empty(TestFolder::sqlite());
    let title = "x".repeat(1 << 24);
    for (row, reason) in [
        (
            format!("[\"s\",\"{title}\"]\n"),
            "line 2: the line has no end, or is longer than a row of it can be",
        ),
        (
            format!("[{}0]\n", "0,".repeat(1 << 20)),
            "line 2: this is no row",
        ),
    ] {
        let mut out = unchecked(&path);
        out.add(HEAD, LATER_HEAD);
        out.add(
            "database/studies.jsonl",
            &format!("[\"name\",\"title\"]\n{row}"),
        );
        out.finish();
        expect_refused(&to, &path, reason, "a row").await;
    }
}

#[tokio::test]
async fn a_backup_that_leads_elsewhere_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("backup.tar.gz");
    let head = |format: u32, layout: u32| {
        format!(r#"{{"format":{format},"software":"9.9","layout":{layout},"made":"2030"}}"#)
    };
    let member = |name: &str| (name.to_owned(), String::new());
    let of = |names: &[&str]| {
        let mut members = vec![(HEAD.to_owned(), head(1, 1))];
        members.extend(names.iter().map(|it| member(it)));
        members
    };
    let to = empty(TestFolder::sqlite());
    for (members, reason) in [
        (of(&["files/studies/../../x"]), "is no place for a file"),
        (of(&["files/studies//x"]), "is no place for a file"),
        (of(&["files/studies/a\\b"]), "is no place for a file"),
        (of(&["files/else/x"]), "is no place for a file"),
        (of(&["database/a/b"]), "is no place for a file"),
        (of(&["axioscope.db"]), "is no place for a file"),
        (
            of(&["files/studies/s", "files/studies/s"]),
            "is in it twice",
        ),
        (
            of(&[&format!("files/studies/{}", "x".repeat(500))]),
            "is no place",
        ),
        (of(&[]), "it has no database/studies.jsonl"),
        (
            vec![member("database/jobs.jsonl")],
            "does not begin with backup.json",
        ),
        (
            vec![(HEAD.to_owned(), "{}".to_owned())],
            "backup.json: missing field",
        ),
        (
            vec![(HEAD.to_owned(), head(2, 1))],
            "a later version of axioscope, 9.9",
        ),
        (
            vec![(HEAD.to_owned(), head(1, 999))],
            "a later version of axioscope, 9.9",
        ),
    ] {
        let mut out = unchecked(&path);
        for (name, text) in &members {
            out.add(name, text);
        }
        out.finish();
        expect_refused(&to, &path, reason, &format!("{members:?}")).await;
    }
    let mut out = unchecked(&path);
    out.add(HEAD, &head(1, 1));
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    let name = "files/studies/s";
    out.tar.append_link(&mut link, name, "/etc").unwrap();
    out.finish();
    expect_refused(&to, &path, "files/studies/s is no file", "a link").await;
}

/// A writer that accepts any name, unlike `tar::Builder`.
struct Unchecked {
    tar: tar::Builder<flate2::write::GzEncoder<File>>,
    sums: String,
}

fn unchecked(path: &Path) -> Unchecked {
    let file = File::create(path).unwrap();
    let packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    Unchecked {
        tar: tar::Builder::new(packed),
        sums: String::new(),
    }
}

impl Unchecked {
    fn add(&mut self, name: &str, text: &str) {
        use sha2::{Digest, Sha256};

        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(text.len() as u64);
        let field = &mut header.as_gnu_mut().unwrap().name;
        match name.len() <= field.len() {
            true => {
                field[..name.len()].copy_from_slice(name.as_bytes());
                header.set_cksum();
                self.tar.append(&header, text.as_bytes()).unwrap();
            }
            false => {
                let text = text.as_bytes();
                self.tar.append_data(&mut header, name, text).unwrap();
            }
        }
        let sum = shared::collection::encode_hex(&Sha256::digest(text));
        self.sums += &format!("{sum}  {name}\n");
    }

    fn finish(mut self) {
        let sums = std::mem::take(&mut self.sums);
        self.add("SHA256SUMS", &sums);
        self.tar.into_inner().unwrap().finish().unwrap();
    }
}

#[test]
fn a_study_that_is_made_again_meanwhile_is_copied_as_it_was_or_as_it_is() {
    let place = TestFolder::sqlite();
    let make = |at: usize| {
        put(&place, &format!("studies/s/{at}.columns"), &at.to_string());
        put(&place, "studies/s/.tmphead", &format!("{at}.columns"));
        let folder = place.folder.root.join("studies/s");
        fs::rename(folder.join(".tmphead"), folder.join("study.json")).unwrap();
        let earlier = at
            .checked_sub(1)
            .map(|it| folder.join(format!("{it}.columns")));
        if let Some(earlier) = earlier {
            fs::remove_file(earlier).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(3));
    };
    make(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let going_on = |_: &usize| !stop.load(Ordering::Relaxed);
            (1..).take_while(going_on).for_each(make);
        });
        for _ in 0..50 {
            let mut found = BTreeMap::new();
            files::for_each_data_folder_file(&place.folder.root, |name, n_bytes, file| {
                let mut text = String::new();
                file.take(n_bytes).read_to_string(&mut text)?;
                found.insert(name.to_owned(), text);
                Ok(())
            })
            .unwrap();
            let named = &found["studies/s/study.json"];
            let columns = found.get(&format!("studies/s/{named}"));
            assert_eq!(
                columns.map(|it| format!("{it}.columns")).as_ref(),
                Some(named)
            );
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Returns a backup with a file, see [`crate::mutated_input`].
pub(crate) fn archives() -> Vec<Vec<u8>> {
    let mut writer = archive::ArchiveWriter::from_writer(Vec::new());
    for (name, bytes) in [
        (HEAD, "{}"),
        ("files/studies/s/study.json", "{\"format\": 1}"),
    ] {
        let n_bytes = bytes.len() as u64;
        writer.add_member(name, n_bytes, bytes.as_bytes()).unwrap();
    }
    vec![writer.write_checksums_and_finish().unwrap()]
}

/// Returns whether a backup can be unpacked.
pub(crate) fn unpacks(backup: &[u8]) -> bool {
    let to = tempfile::tempdir().unwrap();
    let unpacked = archive::unpack_archive(backup, Path::new("a.tar.gz"), to.path(), |_| Ok(()));
    unpacked.is_ok()
}
