// Writes FILE.br beside every file of a folder that Brotli makes smaller.
//
//     node compress.mjs FOLDER

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const [folder] = process.argv.slice(2);
for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (!statSync(file).isFile() || name.endsWith('.br')) continue;
    const bytes = readFileSync(file);
    const packed = brotliCompressSync(bytes);
    if (packed.length < bytes.length) writeFileSync(`${file}.br`, packed);
}
