// The lazy bundle, fetched when the first of its pages is opened.
const base = document.documentElement.dataset.basePath ?? '';
let program;

export async function load_bundle() {
    program ??= import(base + '/lazy-bundle.js').then(async it => {
        await it.default();
        return it;
    });
    try {
        return await program;
    } catch (error) {
        program = undefined;
        throw error;
    }
}
