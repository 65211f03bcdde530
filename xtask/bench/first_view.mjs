// The first view of the page: what is fetched, its size in brotli, and the first paint.
//
//     node first_view.mjs DIST CHROMIUM RUNS
//
// Serves DIST to a fresh browser each run and prints one line of JSON.

import { spawn } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const [dist, chromium, runs] = process.argv.slice(2);
const TYPES = {
    '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
    '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.json': 'application/json',
};
const fetched = new Set();
const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://host').pathname);
    let file = join(dist, path);
    if (path.startsWith('/api/')) {
        response.writeHead(404).end();
        return;
    }
    if (!existsSync(file) || statSync(file).isDirectory()) file = join(dist, 'index.html');
    fetched.add(file);
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const address = `http://127.0.0.1:${server.address().port}/`;

// The browser is driven over a pipe: a message ends with a byte of 0.
async function paint() {
    const profile = mkdtempSync(join(tmpdir(), 'first-view-'));
    const browser = spawn(chromium, [
        '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
        `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    const waiting = new Map();
    let number = 0;
    let rest = '';
    browser.stdio[4].on('data', bytes => {
        const messages = (rest + bytes).split('\0');
        rest = messages.pop();
        for (const message of messages.map(it => JSON.parse(it))) {
            waiting.get(message.id)?.(message.result ?? {});
        }
    });
    const call = (method, params = {}, sessionId) => new Promise(done => {
        waiting.set(++number, done);
        browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + '\0');
    });
    const { targetInfos } = await call('Target.getTargets');
    const { targetId } = targetInfos.find(it => it.type === 'page');
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
    await call('Page.navigate', { url: address }, sessionId);
    const expression =
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";
    let found = null;
    for (let tries = 0; found === null && tries < 200; tries++) {
        await new Promise(done => setTimeout(done, 50));
        const { result } = await call('Runtime.evaluate', { expression }, sessionId);
        found = result?.value ?? null;
    }
    await new Promise(done => setTimeout(done, 500));
    const ended = new Promise(done => browser.on('exit', done));
    call('Browser.close');
    await ended;
    await removed(profile);
    return found;
}

// Other processes of the browser may still write there for a moment.
async function removed(folder) {
    for (let tries = 0; existsSync(folder) && tries < 50; tries++) {
        try {
            rmSync(folder, { recursive: true, force: true });
        } catch {
            await new Promise(done => setTimeout(done, 100));
        }
    }
}

const paints = [];
for (let run = 0; run < Number(runs); run++) paints.push(await paint());
server.close();
const counted = [...fetched].filter(it => ['.wasm', '.js', '.css'].includes(extname(it))).sort();
const sizes = counted.map(it => brotliCompressSync(readFileSync(it)).length);
console.log(JSON.stringify({
    brotli_bytes: sizes.reduce((sum, it) => sum + it, 0),
    paints_ms: paints,
    files: counted.map((it, at) => `${extname(it).slice(1)} ${Math.round(sizes[at] / 1000)} kB`)
        .join(', '),
}));
process.exit(0);
