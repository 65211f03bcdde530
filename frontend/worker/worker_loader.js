// Starts the program of the web worker. An error is thrown where the page hears of it: a rejected
// promise of a worker is reported to nobody.
importScripts("./worker.js");
wasm_bindgen({ module_or_path: "./worker_bg.wasm" }).catch(error => setTimeout(() => { throw error; }));
