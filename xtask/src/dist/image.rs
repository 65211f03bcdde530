//! The file tree of a container image without a distribution: the program and the libraries that it
//! is linked to.

use super::{copy, folder, recreate};
use crate::paths::ProjectPaths;
use crate::process;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of `/etc`: the user that `packaging/Containerfile` names, and host names of the
/// container before those of the network.
const SETTINGS: [(&str, &str); 3] = [
    (
        "etc/passwd",
        "axioscope:x:65532:65532::/var/lib/axioscope:/nonexistent\n",
    ),
    ("etc/group", "axioscope:x:65532:\n"),
    ("etc/nsswitch.conf", "hosts: files dns\n"),
];

/// The folders of the user, below `/var/lib`.
const STATE: [&str; 2] = ["axioscope", "axioscope-models"];

/// Writes `dist/image/` in the target folder and returns it: `root/` belongs to root, `state/` to
/// the user of the image.
pub(super) fn write(place: &ProjectPaths, files: &Path) -> Result<PathBuf> {
    let image = folder(place).join("image");
    recreate(&image)?;
    let root = image.join("root");
    let program = root.join("usr/bin/axioscope");
    copy(&files.join("axioscope"), &program)?;
    for library in libraries(&program)? {
        let below = library.strip_prefix("/").context("a path from the root")?;
        copy(&library, &root.join(below))?;
    }
    for name in [
        "LICENSE-MIT",
        "axioscope.cdx.json",
        "axioscope-pages.cdx.json",
    ] {
        copy(
            &files.join(name),
            &root.join("usr/share/doc/axioscope").join(name),
        )?;
    }
    for (file, text) in SETTINGS {
        let file = root.join(file);
        fs::create_dir_all(file.parent().context("it lies in a folder")?)?;
        fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    make_folder(&root.join("tmp"), 0o1777)?;
    for name in STATE {
        make_folder(&image.join("state").join(name), 0o700)?;
    }
    Ok(image)
}

/// Returns the libraries that the loader finds for a program, and the loader itself.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let printed = process::output_of(Command::new("ldd").arg(program));
    Ok(paths_of_ldd(&printed.context("`ldd` failed")?))
}

/// Returns the paths in the output of `ldd`. The first library is a part of the kernel and has
/// none.
fn paths_of_ldd(printed: &str) -> Vec<PathBuf> {
    let words = printed.lines().map(|it| it.split_whitespace());
    let paths = words.filter_map(|mut words| words.find(|it| it.starts_with('/')));
    paths.map(PathBuf::from).collect()
}

fn make_folder(folder: &Path, mode: u32) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_is_a_library_too() {
        let printed = "\tlinux-vdso.so.1 (0x00007ffd)\n\
             \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f61)\n\
             \t/lib64/ld-linux-x86-64.so.2 (0x00007f62)\n";
        assert_eq!(
            paths_of_ldd(printed),
            [
                "/lib/x86_64-linux-gnu/libm.so.6",
                "/lib64/ld-linux-x86-64.so.2"
            ]
            .map(PathBuf::from),
        );
    }
}
