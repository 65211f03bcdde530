//! Makes the folder of the front end, so that the backend also builds before trunk has run.

fn main() {
    let dist = std::path::Path::new("../dist");
    if let Err(error) = std::fs::create_dir_all(dist) {
        println!("cargo::error=cannot make the folder dist: {error}");
    }
    println!("cargo::rerun-if-changed=../dist");
    println!("cargo::rerun-if-changed=migrations");
}
