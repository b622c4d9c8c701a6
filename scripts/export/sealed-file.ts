// Reads and writes one file of an export. The file contains lines of JSON, which are compressed and encrypted in chunks, so a table of any
// size needs little memory. docs/operate/export.md describes the format.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";

const saltBytes = 16;
const tagBytes = 16;
const lengthBytes = 4;
const chunkTextBytes = 1_048_576; // large enough to compress well
const maxChunkBytes = 64 * 1_048_576; // larger than any chunk, because a line is one row, and rows in the stores have at most a few MiB

/** Each file has its own key, so a chunk cannot be moved to a different file. */
const deriveFileKey = (exportKey: Uint8Array, salt: Uint8Array, path: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", exportKey, salt, `svc-export-1 file\n${path}`, 32));

/** Builds the nonce from the number of the chunk. Each key encrypts only one file, so no nonce is used twice with the same key. */
const buildNonce = (chunk: number): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(chunk, 6, 6);
  return nonce;
};

/** Returns the authenticated data of a chunk. It marks the last chunk, so that a file cut off between two chunks is detected. */
const chunkLabel = (isLast: boolean): Buffer => Buffer.from(isLast ? "last" : "more");

export interface WrittenFile {
  /** The SHA-256 of the encrypted file, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly lines: number;
}

export interface SealedWriter {
  readonly writeLine: (line: string) => void;
  /** Writes the remaining lines and closes the file. The file is complete only after this. */
  readonly finish: () => WrittenFile;
  /** Closes the file without completing it. */
  readonly abort: () => void;
}

/** Creates a file, or replaces an incomplete one. `path` is the file's path within the export, with forward slashes. */
export const openSealedWriter = (file: string, exportKey: Uint8Array, path: string): SealedWriter => {
  const output = openSync(file, "w", 0o600);
  const hash = createHash("sha256");
  const salt = randomBytes(saltBytes);
  const key = deriveFileKey(exportKey, salt, path);
  let pending: string[] = [];
  let pendingBytes = 0;
  let chunks = 0;
  let bytes = 0;
  let lines = 0;

  const write = (part: Uint8Array): void => {
    writeFileSync(output, part); // unlike writeSync, it fails if the disk has room for only some of the bytes
    hash.update(part);
    bytes += part.length;
  };
  const writeChunk = (isLast: boolean): void => {
    const cipher = createCipheriv("aes-256-gcm", key, buildNonce(chunks)).setAAD(chunkLabel(isLast));
    const sealed = Buffer.concat([cipher.update(gzipSync(pending.join(""))), cipher.final(), cipher.getAuthTag()]);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(sealed.length);
    write(length);
    write(sealed);
    chunks += 1;
    pending = [];
    pendingBytes = 0;
  };

  write(salt);
  return {
    writeLine: (line) => {
      pending.push(`${line}\n`);
      pendingBytes += line.length + 1;
      lines += 1;
      if (pendingBytes >= chunkTextBytes) writeChunk(false);
    },
    finish: () => {
      writeChunk(true);
      fsyncSync(output);
      closeSync(output);
      return { sha256: hash.digest("hex"), bytes, lines };
    },
    abort: () => closeSync(output),
  };
};

/** Thrown if a file of an export is incomplete, was changed, or was encrypted with a different key. */
export class DamagedFileError extends Error {}

/** Reads the lines of a file. Throws a DamagedFileError before it yields anything from a chunk that is not authentic. */
export function* readSealedLines(file: string, exportKey: Uint8Array, path: string): Generator<string> {
  const damaged = (): DamagedFileError => new DamagedFileError(`${path} is incomplete or was changed.`);
  const input = openSync(file, "r");
  const read = (count: number): Buffer => {
    const part = Buffer.alloc(count);
    for (let filled = 0; filled < count; ) {
      const more = readSync(input, part, filled, count - filled, null);
      if (more === 0) throw damaged();
      filled += more;
    }
    return part;
  };
  const isAtEnd = (): boolean => readSync(input, Buffer.alloc(1), 0, 1, null) === 0;
  const openChunk = (key: Uint8Array, chunk: number, sealed: Buffer): { readonly text: string; readonly isLast: boolean } => {
    for (const isLast of [false, true]) {
      const decipher = createDecipheriv("aes-256-gcm", key, buildNonce(chunk)).setAAD(chunkLabel(isLast));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      const packed = decipher.update(sealed.subarray(0, -tagBytes));
      try {
        decipher.final();
      } catch {
        continue;
      }
      return { text: gunzipSync(packed).toString("utf8"), isLast };
    }
    throw damaged();
  };

  try {
    const key = deriveFileKey(exportKey, read(saltBytes), path);
    for (let chunk = 0; ; chunk += 1) {
      const length = read(lengthBytes).readUInt32BE();
      if (length < tagBytes || length > maxChunkBytes) throw damaged();
      const { text, isLast } = openChunk(key, chunk, read(length));
      for (const line of text.split("\n")) if (line !== "") yield line;
      if (!isLast) continue;
      if (!isAtEnd()) throw damaged();
      return;
    }
  } finally {
    closeSync(input);
  }
}
