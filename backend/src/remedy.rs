//! What a user can do about a file that cannot be read or written, as error messages say it.

/// For a file that a command writes.
pub(crate) const ANOTHER_FILE: &str =
    "check the folder, its permissions and free space, or choose another file";

/// For a folder that a command writes.
pub(crate) const ANOTHER_FOLDER: &str =
    "check the folder, its permissions and free space, or choose another folder";

/// For a file of the data folder that is written.
pub(crate) const ANOTHER_DATA_FOLDER: &str = "check the folder, its permissions and free space, \
                                              or choose another data folder with `--data`";

/// For a file or folder that is read.
pub(crate) const CHECK_PATH: &str = "check the path and its permissions";
