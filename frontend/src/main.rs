//! The main program of the pages.

fn main() {
    console_error_panic_hook::set_once();
    frontend::mount_application();
}
