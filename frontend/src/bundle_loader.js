// The lazy bundle, fetched when the first of its pages is opened.
const base = document.documentElement.dataset.basePath ?? '';
let program;

export async function load_bundle() {
    program ??= import(base + '/lazy-bundle.js').then(async it => {
        await it.default();
        // The page is rendered in a task of its own, so that the browser can answer the reader first.
        await new Promise(resume => setTimeout(resume));
        return it;
    });
    try {
        return await program;
    } catch (error) {
        program = undefined;
        throw error;
    }
}
