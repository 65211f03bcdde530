//! Each package is installed on a clean system and started there: `cargo xtask test packages`.
//!
//! `AXIOSCOPE_PACKAGES` names the folder that `cargo xtask dist` writes. There is no container
//! engine: the tests do what one would do with the last stage of `packaging/Containerfile`. A clean
//! system is the file tree of the image, or a layer over this one that is thrown away. Only root
//! may set them up.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::deployment::{
    IMAGE_USER, expect_bill_of_materials, expect_manual, final_instructions, final_words,
    packaging_file, program, unit_values,
};
use crate::exposure::GUIDE;
use crate::harness::{CommandOutput, TestDependency, TestServer, or_skip, path_from_environment};

/// The largest image, compressed as a registry has it.
const MAX_IMAGE_BYTES: u64 = 60_000_000;

/// The longest time from the start of a server with an empty data folder to its first answer.
const MAX_START: Duration = Duration::from_secs(1);

/// How often a server is started, with an empty data folder each time; the fastest start counts,
/// since other tests may keep the machine busy.
const N_STARTS: usize = 3;

/// A user that no file belongs to, as systemd would choose it for `DynamicUser=yes`.
const SERVICE_USER: &str = "61184:61184";

/// Prepares a file tree in which nothing can be written but the data folder, and leaves it with
/// `chroot`. Arguments: data folder, user with group, command.
const START: &str = "
    mkdir -p $root/proc $root/dev $root/var/lib/axioscope
    mount -t proc proc $root/proc
    mount --bind \"$1\" $root/var/lib/axioscope
    mount -o remount,bind,ro $root
    user=$2
    shift 2
    exec chroot --userspec=$user --groups= $root \"$@\"";

#[test]
fn the_image_starts_as_its_user_with_nothing_to_write_but_its_data() {
    let Some(packages) = packages_for_root() else {
        return;
    };
    let image = CleanSystem::new();
    // The instructions of the last stage, with the folder of the first as the working tree.
    for copy in final_instructions("COPY") {
        let words: Vec<&str> = copy.split(' ').filter(|it| !it.starts_with("--")).collect();
        let [from, to] = words[..] else {
            panic!("{copy}")
        };
        let from = from.strip_prefix("/source/target/dist/").unwrap();
        let to = image.root().join(to.strip_prefix('/').unwrap());
        fs::create_dir_all(&to).unwrap();
        let script = format!(
            "cp -a \"$0\"/. \"$1\" && chown -R {} \"$1\"",
            owner_of(&copy)
        );
        let mut copied = Command::new("sh");
        copied
            .args(["-ec", &script])
            .arg(packages.join(from))
            .arg(to);
        CommandOutput::run(&mut copied).expect_success();
    }
    let layer = image.root().with_file_name("layer.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--file"])
        .arg(&layer)
        .arg("--directory");
    CommandOutput::run(tar.args([image.root(), Path::new(".")])).expect_success();
    let (size, packed) = (n_bytes(image.root()), n_bytes(&layer));
    println!("image: {size} bytes, compressed {packed}; user {IMAGE_USER}");
    assert!(packed <= MAX_IMAGE_BYTES, "{packed}");

    let mut command = final_words("ENTRYPOINT");
    command.extend(final_words("CMD"));
    let mounts = "mount --bind $root $root; mount -t tmpfs tmpfs $root/tmp;";
    image.expect_start(mounts, IMAGE_USER, &command, "the image");
}

#[test]
fn the_debian_package_installs_starts_and_leaves_nothing_behind() {
    let Some(packages) = packages_for_root() else {
        return;
    };
    if program("dpkg").is_none() {
        return;
    }
    let file = fs::read_dir(packages.join("debian")).unwrap().next();
    let file = file.expect("there is a package").unwrap().path();
    let size = fs::metadata(&file).unwrap().len();
    println!("{}: {size} bytes", file.display());

    let system = CleanSystem::new();
    fs::copy(&file, system.root().with_file_name("axioscope.deb")).unwrap();
    let installed = system.run(
        "cp $root/../axioscope.deb $root/axioscope.deb
         chroot $root dpkg --install /axioscope.deb >&2
         rm $root/axioscope.deb
         chroot $root dpkg --verify axioscope
         chroot $root dpkg-query --showformat '${Depends}\\n' --show axioscope
         chroot $root dpkg --listfiles axioscope",
    );
    let lines: Vec<&str> = installed.lines().collect();
    assert!(lines[0].contains("libc6 (>= "), "{lines:?}");
    for path in [
        "/usr/bin/axioscope",
        "/etc/default/axioscope",
        "/usr/lib/systemd/system/axioscope.service",
        "/usr/share/man/man1/axioscope-serve.1",
        "/usr/share/bash-completion/completions/axioscope",
        "/usr/share/doc/axioscope/copyright",
    ] {
        // Man pages may be compressed.
        let is_path = |it: &&str| it.strip_suffix(".gz").unwrap_or(it) == path;
        assert!(lines.iter().any(is_path), "no {path}: {lines:?}");
    }
    let unit = system.run("cat $root/usr/lib/systemd/system/axioscope.service");
    assert_eq!(unit, packaging_file("axioscope.service"));
    let [start] = unit_values(&unit, "ExecStart")[..] else {
        panic!("one command")
    };
    let start: Vec<String> = start.split(' ').map(str::to_owned).collect();
    system.expect_start(LAYER, SERVICE_USER, &start, "the Debian package");

    let left = system.run(&format!(
        "chroot $root dpkg --purge axioscope >&2
         for path in {}; do if test -f $root$path; then echo $path; fi; done",
        lines[1..].join(" ")
    ));
    assert_eq!(left, "");
}

#[test]
fn the_archive_has_a_program_that_starts_a_manual_and_completions() {
    let Some(packages) = packages_for_root() else {
        return;
    };
    let entries = fs::read_dir(&packages)
        .unwrap()
        .map(|it| it.unwrap().path());
    let archives = entries.filter(|it| it.to_string_lossy().ends_with(".tar.gz"));
    let [archive] = &archives.collect::<Vec<_>>()[..] else {
        panic!("one archive")
    };
    println!(
        "{}: {} bytes",
        archive.display(),
        fs::metadata(archive).unwrap().len()
    );
    let system = CleanSystem::new();
    let unpacked = system.root().with_file_name("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components=1", "--file"])
        .arg(archive);
    CommandOutput::run(tar.arg("--directory").arg(&unpacked)).expect_success();
    for file in [
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "axioscope.service",
    ] {
        assert!(unpacked.join(file).is_file(), "{file}");
    }
    expect_manual(&unpacked);
    for (bill, package) in [
        ("axioscope.cdx.json", "axum"),
        ("axioscope-pages.cdx.json", "leptos"),
    ] {
        let text = fs::read_to_string(unpacked.join(bill)).unwrap();
        expect_bill_of_materials(&text, package);
    }
    // Where cargo-auditable puts the list of dependencies, which scanners read.
    let sections = CommandOutput::run(
        Command::new("readelf")
            .args(["--wide", "--sections"])
            .arg(unpacked.join("axioscope")),
    );
    assert!(sections.expect_success().contains(".dep-v0"));

    // Installed by the commands of the guide.
    let section = GUIDE.split("\n## Archive\n").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap().lines();
    let commands = block.filter(|it| ["tar ", "install "].iter().any(|word| it.starts_with(word)));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 6, "{commands:?}");
    fs::copy(archive, system.root().with_file_name("axioscope.tar.gz")).unwrap();
    let installed = system.run(&format!(
        "mkdir $root/unpack; cp $root/../axioscope.tar.gz $root/unpack/{}
         chroot $root sh -ec 'cd /unpack; {}' >&2
         chroot $root axioscope --version",
        archive.file_name().unwrap().to_string_lossy(),
        commands.join("; "),
    ));
    assert!(installed.starts_with("axioscope "), "{installed}");
    let unit = packaging_file("axioscope.service");
    let start = unit_values(&unit, "ExecStart")[0]
        .split(' ')
        .map(str::to_owned);
    system.expect_start(
        LAYER,
        SERVICE_USER,
        &start.collect::<Vec<_>>(),
        "the archive",
    );
}

/// Returns the folder of the packages if this is root, who alone may set up a system.
fn packages_for_root() -> Option<PathBuf> {
    let packages = path_from_environment("AXIOSCOPE_PACKAGES").expect("set by `cargo xtask test`");
    let mut probe = Command::new("unshare");
    probe.args(["--mount", "sh", "-ec", "mount -t tmpfs tmpfs /mnt"]);
    let may_mount = probe.output().is_ok_and(|it| it.status.success());
    let reason = "nobody but root may mount, by `unshare`";
    or_skip(
        may_mount.then_some(packages),
        TestDependency::SystemProgram,
        reason,
    )
}

/// Returns the owner of what a `COPY` copies.
fn owner_of(copy: &str) -> &str {
    let mut options = copy.split(' ').filter_map(|it| it.strip_prefix("--chown="));
    options.next().unwrap_or("0:0")
}

fn n_bytes(path: &Path) -> u64 {
    let about = path.symlink_metadata().unwrap();
    if !about.is_dir() {
        return about.len();
    }
    let entries = fs::read_dir(path).unwrap();
    entries.map(|it| n_bytes(&it.unwrap().path())).sum()
}

/// Mounts a layer over this system, so that what is installed there changes nothing here.
const LAYER: &str = "
    mkdir -p $root/../changes $root/../work
    mount -t overlay overlay $root \\
        -o lowerdir=/,upperdir=$root/../changes,workdir=$root/../work";

/// A folder for the root of a system.
struct CleanSystem {
    root: PathBuf,
    _folder: TempDir,
}

impl CleanSystem {
    fn new() -> CleanSystem {
        let folder = tempfile::tempdir().unwrap();
        // Its user must be able to enter it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path(), open).unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        CleanSystem {
            root,
            _folder: folder,
        }
    }

    fn root(&self) -> &Path {
        &self.root
    }

    /// Builds a command that runs a script with mounts of its own, in which `root` is this system.
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-ec", script, "sh"])
            .env_clear()
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .env("HF_HOME", "/var/lib/axioscope-models")
            .env("root", &self.root)
            .stdin(Stdio::null());
        command
    }

    /// Runs a script with a layer over this machine's system and returns what it prints.
    fn run(&self, script: &str) -> String {
        let devices = "mount --rbind /dev $root/dev; mount -t proc proc $root/proc";
        let script = format!("{LAYER}\n{devices}\n{script}");
        CommandOutput::run(&mut self.command(&script)).expect_success()
    }

    /// Starts a server in this system, which may write its data alone, and checks who it is and
    /// when it first answers.
    fn expect_start(&self, mounts: &str, user: &str, command: &[String], name: &str) {
        let id: u32 = user.split(':').next().unwrap().parse().unwrap();
        let address = command.iter().position(|it| it == "--listen");
        let without_address = &command[..address.unwrap_or(command.len())];
        let mut fastest = Duration::MAX;
        for at in 0..N_STARTS {
            let data = self.root.with_file_name(format!("data-{at}"));
            fs::create_dir(&data).unwrap();
            chown(&data, Some(id), Some(id)).unwrap();
            let mut started = self.command(&format!("{mounts}\n{START}"));
            started.arg(&data).arg(user).args(without_address);
            started.args(["--listen", "127.0.0.1:0"]);
            let log = self.root.with_file_name("server.log");
            let file = fs::File::create(&log).unwrap();
            let since = Instant::now();
            let child = started.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
            let server = TestServer::start(child, log, true);
            let page = server.get("/");
            fastest = fastest.min(since.elapsed());
            assert_eq!(page.status().as_u16(), 200);
            assert!(
                page.text().unwrap().contains("<title>Axioscope"),
                "the pages are inside"
            );
            let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
            let has = |line: &str| status.lines().any(|it| it == line);
            assert!(has(&format!("Uid:\t{id}\t{id}\t{id}\t{id}")), "{status}");
            assert!(has("CapEff:\t0000000000000000"), "{status}");
            let health = [&command[0], "health", "--url", &server.address];
            let mut health_of = self.command(&format!("{mounts}\n{START}"));
            health_of.arg(&data).arg(user).args(health);
            CommandOutput::run(&mut health_of).expect_success();
            let stored = fs::read_dir(&data).unwrap().map(|it| it.unwrap());
            let owners: Vec<u32> = stored.map(|it| it.metadata().unwrap().uid()).collect();
            assert!(
                !owners.is_empty() && owners.iter().all(|it| *it == id),
                "{owners:?}"
            );
            expect_end(server);
        }
        println!("{name}: user {user}, first answer after {fastest:?}");
        assert!(fastest < MAX_START, "{fastest:?}");
    }
}

/// Ends a server as an engine and systemd do.
fn expect_end(server: TestServer) {
    let mut kill = Command::new("kill");
    CommandOutput::run(kill.args(["-TERM", &server.id().to_string()])).expect_success();
    let since = Instant::now();
    while Path::new(&format!("/proc/{}/exe", server.id())).exists() {
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "{}",
            server.log()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
