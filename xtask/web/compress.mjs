// Writes FILE.br beside every file of a folder that Brotli makes smaller.
//
//     node compress.mjs FOLDER QUALITY [EXTENSION]
//
// QUALITY: from 1, fastest, to 11, smallest. Of files with EXTENSION, only FILE.br stays.

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const [folder, quality, replaced] = process.argv.slice(2);
const params = { [constants.BROTLI_PARAM_QUALITY]: Number(quality) };
for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (!statSync(file).isFile() || name.endsWith('.br')) continue;
    const bytes = readFileSync(file);
    const packed = brotliCompressSync(bytes, { params });
    if (packed.length >= bytes.length) continue;
    writeFileSync(`${file}.br`, packed);
    if (replaced && name.endsWith(replaced)) rmSync(file);
}
