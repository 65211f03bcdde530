// Writes FILE.br beside every file of a folder that Brotli makes smaller.
//
//     node compress.mjs FOLDER QUALITY
//
// QUALITY: from 1, fastest, to 11, smallest.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const [folder, quality] = process.argv.slice(2);
const params = { [constants.BROTLI_PARAM_QUALITY]: Number(quality) };
for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (!statSync(file).isFile() || name.endsWith('.br')) continue;
    const bytes = readFileSync(file);
    const packed = brotliCompressSync(bytes, { params });
    if (packed.length < bytes.length) writeFileSync(`${file}.br`, packed);
}
