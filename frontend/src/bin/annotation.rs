//! The program with the pages of an annotator.

fn main() {
    console_error_panic_hook::set_once();
    frontend::annotation_program::mount_annotation_pages();
}
