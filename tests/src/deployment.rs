//! The files in `packaging/`, the guide about them, and the commands that packages use.
//! [`crate::packages`] tests the packages themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::exposure::{GUIDE, block};
use crate::harness::{
    CommandOutput, TestDependency, TestHome, demo_folder, or_skip, study_file, study_lines,
};

/// The user and group of the image.
pub(crate) const IMAGE_USER: &str = "65532:65532";

/// The data folder of the service and of the image.
const DATA: &str = "/var/lib/axioscope";

/// The highest exposure that `systemd-analyze security` may find, in tenths: its limit of *OK*.
const MAX_EXPOSURE: &str = "20";

pub(crate) fn packaging_file(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
    fs::read_to_string(file.join(name)).unwrap()
}

/// Returns the values of a key of the unit.
pub(crate) fn unit_values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    let pairs = unit.lines().filter_map(|it| it.split_once('='));
    pairs.filter(|it| it.0 == key).map(|it| it.1).collect()
}

/// Returns the arguments of the instructions of a kind in the final stage of the Containerfile.
pub(crate) fn final_instructions(kind: &str) -> Vec<String> {
    let text = packaging_file("Containerfile").replace("\\\n", " ");
    let (_, last) = text.rsplit_once("\nFROM ").unwrap();
    assert_eq!(last.lines().next(), Some("scratch"));
    let lines = last.lines().skip(1).filter_map(|it| it.split_once(' '));
    let of_kind = lines.filter(|it| it.0 == kind);
    of_kind.map(|it| it.1.trim().to_owned()).collect()
}

/// Returns the words of the only instruction of a kind that has a JSON array.
pub(crate) fn final_words(kind: &str) -> Vec<String> {
    let found = final_instructions(kind);
    assert_eq!(found.len(), 1, "{kind}");
    let array = &found[0][found[0].find('[').unwrap()..];
    serde_json::from_str(array).unwrap()
}

/// Checks that the man pages of a folder can be shown, and that a shell completes with its files.
pub(crate) fn expect_manual(folder: &Path) {
    let pages = fs::read_dir(folder.join("man")).unwrap().count();
    assert!(pages > 30, "{pages} pages");
    let completed = CommandOutput::run(
        Command::new("bash")
            .args(["--noprofile", "--norc", "-ec"])
            .arg(
                "source completions/axioscope.bash; COMP_WORDS=(axioscope study pu); COMP_CWORD=2; \
                 _axioscope axioscope pu study; echo \"${COMPREPLY[@]}\"",
            )
            .current_dir(folder),
    );
    assert_eq!(completed.expect_success().trim(), "publish");
    for shell in ["axioscope.fish", "_axioscope"] {
        let file = fs::read_to_string(folder.join("completions").join(shell)).unwrap();
        assert!(file.contains("late-interaction"), "{shell}");
    }
    let Some(man) = program("man") else { return };
    for (page, told) in [
        ("axioscope.1", "late-interaction"),
        ("axioscope-serve.1", "--trusted-proxy"),
        ("axioscope-study-export.1", "--without-texts"),
    ] {
        let mut man = Command::new(&man);
        man.args(["--warnings", "--local-file"])
            .arg(folder.join("man").join(page))
            .env("MANWIDTH", "80")
            .env("LC_ALL", "C");
        let shown = CommandOutput::run(&mut man);
        assert_eq!(shown.err, "", "{page}");
        assert!(shown.expect_success().contains(told), "{page}");
    }
}

/// Returns the path of a program of the system; a part of the test is skipped without it.
pub(crate) fn program(name: &str) -> Option<String> {
    let found = Command::new("sh")
        .args(["-c", "PATH=$PATH:/usr/sbin:/sbin; command -v \"$0\"", name])
        .output();
    let found = found.ok().filter(|it| it.status.success());
    let path = found.map(|it| String::from_utf8(it.stdout).unwrap().trim().to_owned());
    or_skip(path, TestDependency::SystemProgram, &format!("no {name}"))
}

#[test]
fn the_guide_shows_the_files_of_the_packages() {
    assert_eq!(block("ini"), packaging_file("axioscope.service").trim_end());
    assert_eq!(block("sh"), packaging_file("axioscope.default").trim_end());
    assert_eq!(block("bash"), packaging_file("axioscope-backup").trim_end());
    // In containers the proxy reaches the server by name, and the host is a variable.
    let caddy = block("caddy").replace("127.0.0.1:8017", "axioscope:8017");
    let caddy = caddy.replace("axioscope.example", "{$AXIOSCOPE_HOST}");
    assert_eq!(caddy, packaging_file("Caddyfile").trim_end());
    for file in ["Containerfile", "compose.yaml", "axioscope.service"] {
        assert!(GUIDE.contains(&format!("packaging/{file}")), "{file}");
    }
}

#[test]
fn systemd_accepts_the_unit_and_finds_it_hardened() {
    let Some(analyze) = program("systemd-analyze") else {
        return;
    };
    let home = TestHome::new();
    let unit = packaging_file("axioscope.service");
    let own = home.program();
    let start = format!("ExecStart={} ", own.get_program().to_string_lossy());
    assert!(unit.contains("ExecStart=axioscope "));
    let file = home.write(
        "axioscope.service",
        unit.replace("ExecStart=axioscope ", &start),
    );
    let verified = CommandOutput::run(Command::new(&analyze).arg("verify").arg(&file));
    assert_eq!(verified.err, "");
    verified.expect_success();
    let mut security = Command::new(&analyze);
    security.args([
        "security",
        "--no-pager",
        "--offline=true",
        "--threshold",
        MAX_EXPOSURE,
    ]);
    let found = CommandOutput::run(security.arg(&file)).expect_success();
    println!("{}", found.lines().last().unwrap_or_default());
    let unhardened = unit.replace("ProtectSystem=strict", "ProtectSystem=no");
    let unhardened = unhardened.replace("PrivateUsers=yes", "PrivateUsers=no");
    home.write(
        "axioscope.service",
        unhardened.replace("DynamicUser=yes\n", ""),
    );
    let found = CommandOutput::run(&mut security);
    assert_eq!(
        found.code,
        Some(1),
        "without a user of its own: {}",
        found.out
    );
}

#[test]
fn the_files_of_the_container_agree() {
    let compose = packaging_file("compose.yaml");
    let has = |line: &str| compose.lines().any(|it| it.trim() == line);
    assert_eq!(final_instructions("USER"), [IMAGE_USER]);
    assert!(has(&format!("user: \"{IMAGE_USER}\"")));
    let owners = final_instructions("COPY");
    assert!(
        owners[1].contains(&format!("--chown={IMAGE_USER} ")),
        "{owners:?}"
    );
    let passwd = include_str!("../../xtask/src/dist/image.rs");
    assert!(passwd.contains(&format!("axioscope:x:{IMAGE_USER}:")));

    let entry = final_words("ENTRYPOINT");
    assert_eq!(entry, ["/usr/bin/axioscope", "--data", DATA]);
    let models = format!("{DATA}-models");
    assert_eq!(final_words("VOLUME"), [DATA, &models]);
    for (volume, folder) in [("data", DATA), ("models", &models)] {
        assert!(has(&format!("- {volume}:{folder}")), "{folder}");
    }
    assert_eq!(final_instructions("ENV"), [format!("HF_HOME={models}")]);

    let listen = final_words("CMD").pop().unwrap();
    let port = listen.strip_prefix("0.0.0.0:").unwrap();
    assert_eq!(final_instructions("EXPOSE"), [port]);
    assert!(packaging_file("Caddyfile").contains(&format!("axioscope:{port} ")));
    let health = final_words("HEALTHCHECK");
    assert!(has(&format!(
        "test: [\"CMD\", \"{}\", \"health\"]",
        health[0]
    )));
    let help = TestHome::new().run("health --help").expect_success();
    assert!(help.contains(&format!("[default: http://127.0.0.1:{port}]")));

    // The server trusts the proxy alone, and nothing of the containers can be changed.
    let trusted = "172.30.17.2";
    assert!(has(&format!("AXIOSCOPE_TRUSTED_PROXY: \"{trusted}\"")));
    assert!(has(&format!("ipv4_address: {trusted}")));
    let n_services = compose
        .lines()
        .filter(|it| it.trim().starts_with("image:"))
        .count();
    for line in [
        "read_only: true",
        "cap_drop: [ALL]",
        "security_opt: [\"no-new-privileges:true\"]",
    ] {
        let n_lines = compose.lines().filter(|it| it.trim() == line).count();
        assert_eq!(n_lines, n_services, "{line}");
    }
}

#[test]
fn the_server_starts_with_every_setting_of_the_package() {
    let home = TestHome::new();
    let mut program = home.program();
    let text = packaging_file("axioscope.default");
    for line in text.lines().filter_map(|it| it.strip_prefix('#')) {
        let Some((name, value)) = line.split_once("='") else {
            continue;
        };
        match name {
            // A port that another test may have, and a database that this machine lacks.
            "AXIOSCOPE_OPERATOR_LISTEN" => program.env(name, "127.0.0.1:0"),
            "DATABASE_URL" => continue,
            _ => program.env(name, value.strip_suffix('\'').unwrap()),
        };
    }
    let server = home.serve_with_auth(program, &[]);
    assert!(server.operator_address.is_some());
    let contact = server.get("/.well-known/security.txt").text().unwrap();
    assert!(
        contact.contains("mailto:security@axioscope.example"),
        "{contact}"
    );
}

#[test]
fn health_tells_by_its_exit_code_whether_the_server_scores() {
    let home = TestHome::new();
    let healthy = home.serve_with_auth(
        home.program(),
        &["--public-url", "https://axioscope.example"],
    );
    let health = |address: &str| home.run(&format!("health --timeout 20 --url {address}"));
    let told = health(&healthy.address).expect_success();
    assert_eq!(told, format!("{}/health: 200 OK\n", healthy.address));
    let address = healthy.address.clone();
    healthy.kill();
    health(&address).expect_failure_with("start the server, or name it by `--url`");

    home.write("broken/config.json", "{}");
    let broken = home.serve(&["--model", "broken"]);
    let status = broken.get("/health").status().as_u16();
    let told = health(&broken.address);
    assert_eq!((status, told.code), (503, Some(1)), "{}", told.err);
    told.expect_stderr("503");
    let ready = home.run(&format!("health --ready --url {}", broken.address));
    assert_eq!(
        ready.expect_success(),
        format!("{}/ready: 200 OK\n", broken.address)
    );
    let wrong = health("http://127.0.0.1:8017/below");
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
}

/// Root can be in the place of the user of a service; everybody else is that user.
#[test]
#[cfg(unix)]
fn files_belong_to_the_owner_of_the_data_folder() {
    use std::os::unix::fs::{MetadataExt, chown};
    let home = TestHome::new();
    let data = home.path("data");
    fs::create_dir(&data).unwrap();
    let is_root = data.metadata().unwrap().uid() == 0;
    if is_root {
        chown(&data, Some(65_532), Some(65_532)).unwrap();
    }
    let rest = study_lines("rank:bm25:5", &["tfc1"], &["bm25"]);
    home.make_study(study_file("demo", "Demo", demo_folder(), &rest));
    home.run("study publish demo").expect_success();
    let owner = data.metadata().unwrap().uid();
    assert_eq!(owner == 65_532, is_root);
    let mut folders = vec![data];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap()) {
            let found = entry.metadata().unwrap();
            assert_eq!(found.uid(), owner, "{}", entry.path().display());
            n_files += usize::from(found.is_file());
            folders.extend(found.is_dir().then(|| entry.path()));
        }
    }
    assert!(n_files > 5, "{n_files}");
}

#[test]
fn the_program_writes_its_manual_and_the_completions_of_shells() {
    let home = TestHome::new();
    home.run("manual out").expect_success();
    expect_manual(&home.path("out"));
    assert!(!home.run("--help").expect_success().contains("manual"));
    home.write("file", "");
    home.expect_refused("manual file", "choose a folder that can be written");
}

/// Each package of a bill has a name, a version and a license.
pub(crate) fn expect_bill_of_materials(text: &str, some_package: &str) {
    let bill: Value = serde_json::from_str(text).unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    let components = bill["components"].as_array().unwrap();
    assert!(components.len() > 50, "{}", components.len());
    let names: Vec<_> = components.iter().map(|it| &it["name"]).collect();
    assert!(names.contains(&&Value::from(some_package)), "{names:?}");
    for component in components {
        assert!(component["version"].is_string(), "{component}");
        assert!(component["licenses"].is_array(), "{component}");
    }
}
