// The zip container of an evidence pack. Members are stored uncompressed. The same members always result in the same bytes, regardless of
// clock and machine. The reader accepts only what the writer produces, so no byte can be added outside the members, for example in
// comments, extra fields or gaps.
import { concatBytes, areBytesEqual, encodeUtf8 } from "../bytes.ts";
import { fail, type Verdict } from "../result.ts";

export type PackFiles = ReadonlyMap<string, Uint8Array>;

const localSignature = 0x04034b50;
const centralSignature = 0x02014b50;
const endSignature = 0x06054b50;
const localHeaderBytes = 30;
const endRecordBytes = 22;
const zipVersion = 20; // version 2.0, the first with folders; host system 0, which has no file permissions
const utf8NamesFlag = 0x0800;
const storedMethod = 0;
const midnightDosTime = 0;
const earliestDosDate = 0x0021; // 1980-01-01, the earliest date that the format can express

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
};

/** Encodes integers in little-endian order. Each pair is a width in bytes and a value. */
const encodeFields = (...pairs: readonly (readonly [2 | 4, number])[]): Uint8Array => {
  const bytes = new Uint8Array(pairs.reduce((sum, [width]) => sum + width, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [width, value] of pairs) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += width;
  }
  return bytes;
};

/** Returns the fields that a member's local header and its central header both contain. */
const buildMemberFields = (name: Uint8Array, content: Uint8Array): readonly (readonly [2 | 4, number])[] => [
  [2, zipVersion],
  [2, utf8NamesFlag],
  [2, storedMethod],
  [2, midnightDosTime],
  [2, earliestDosDate],
  [4, crc32(content)],
  [4, content.length],
  [4, content.length],
  [2, name.length],
  [2, 0], // the length of the extra field
];

const pathSegmentPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Returns whether the name is a relative ASCII path that every operating system unpacks inside the target folder. */
const isPackPath = (name: string): boolean => name.length <= 200 && name.split("/").every((part) => pathSegmentPattern.test(part));

/**
 * Builds an archive. Its members are sorted by name, regardless of the order of the map. Throws for a name that `parseZip` would refuse.
 */
export const createZip = (files: PackFiles): Uint8Array<ArrayBuffer> => {
  const members: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isPackPath(name)) throw new TypeError("zip: a member name is not a plain relative path");
    const nameBytes = encodeUtf8(name);
    const header = buildMemberFields(nameBytes, content);
    members.push(encodeFields([4, localSignature], ...header), nameBytes, content);
    // The zeros are the comment length, the disk number, and the internal and external file attributes.
    directory.push(encodeFields([4, centralSignature], [2, zipVersion], ...header, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), nameBytes);
    offset += localHeaderBytes + nameBytes.length + content.length;
  }
  const directoryBytes = directory.reduce((sum, part) => sum + part.length, 0);
  const count = files.size;
  const end = encodeFields([4, endSignature], [2, 0], [2, 0], [2, count], [2, count], [4, directoryBytes], [4, offset], [2, 0]);
  return concatBytes(...members, ...directory, end);
};

export type ZipFault =
  | "too_large"
  | "not_a_zip"
  | "truncated"
  | "bytes_before_or_between_members"
  | "data_descriptor_or_flags"
  | "compressed"
  | "unsafe_name"
  | "duplicate_or_unsorted_name"
  | "wrong_crc"
  | "headers_differ"
  | "trailing_bytes";

export type ZipVerdict = Verdict<{ files: PackFiles }, ZipFault>;

const decodeLatin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/**
 * Returns the members of an archive that `createZip` could have written, or the first fault found. To check every byte, it creates a new
 * archive from the members and compares it with the original.
 */
export const parseZip = (zip: Uint8Array, maxBytes: number): ZipVerdict => {
  if (zip.length > maxBytes) return fail("too_large");
  if (zip.length < endRecordBytes) return fail("not_a_zip");
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const files = new Map<string, Uint8Array>();
  let last = "";
  let at = 0;
  while (at + 4 <= zip.length && view.getUint32(at, true) === localSignature) {
    if (at + localHeaderBytes > zip.length) return fail("truncated");
    const size = view.getUint32(at + 18, true);
    const nameLength = view.getUint16(at + 26, true);
    if (view.getUint16(at + 6, true) !== utf8NamesFlag) return fail("data_descriptor_or_flags");
    if (view.getUint16(at + 8, true) !== storedMethod || view.getUint32(at + 22, true) !== size) return fail("compressed");
    const start = at + localHeaderBytes + nameLength;
    if (nameLength > 200 || start + size > zip.length) return fail("truncated");
    const name = decodeLatin1(zip.subarray(at + localHeaderBytes, start));
    if (!isPackPath(name)) return fail("unsafe_name");
    if (name <= last) return fail("duplicate_or_unsorted_name");
    const content = zip.slice(start, start + size);
    if (crc32(content) !== view.getUint32(at + 14, true)) return fail("wrong_crc");
    files.set(name, content);
    last = name;
    at = start + size;
  }
  if (at + 4 > zip.length || at === 0) return fail("not_a_zip");
  if (view.getUint32(at, true) !== centralSignature) return fail("bytes_before_or_between_members");
  const archive = createZip(files);
  if (areBytesEqual(archive, zip)) return { ok: true, files };
  return fail(zip.length > archive.length && areBytesEqual(archive, zip.subarray(0, archive.length)) ? "trailing_bytes" : "headers_differ");
};
