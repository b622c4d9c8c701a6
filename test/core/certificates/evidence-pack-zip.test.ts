// Tests a pack's zip container: only one encoding is accepted.
import { describe, expect, test } from "vitest";
import { concatBytes, encodeUtf8 } from "../../../core/bytes.ts";
import { parseZip, createZip } from "../../../core/certificates/evidence-zip.ts";

const max = 1_000_000;
const files = new Map([
  ["a/b.txt", encodeUtf8("second")],
  ["A.txt", encodeUtf8("first")],
  ["a/empty", new Uint8Array(0)],
  ["z.bin", Uint8Array.from({ length: 300 }, (_, at) => at % 256)],
]);
const zip = createZip(files);

const getFault = (bytes: Uint8Array, maxBytes = max): string => {
  const verdict = parseZip(bytes, maxBytes);
  return verdict.ok ? "ok" : verdict.fault;
};

/** A file in the archive. The tests write archives field by field, so that they can make any field wrong. */
interface Member {
  readonly name: string;
  readonly content?: Uint8Array;
  readonly flags?: number;
  readonly method?: number;
  readonly size?: number;
  readonly packedSize?: number;
  readonly extra?: Uint8Array;
  readonly descriptor?: Uint8Array;
  readonly central?: { readonly name?: string; readonly comment?: Uint8Array; readonly attributes?: number };
}
const encodeU16 = (value: number): Uint8Array => Uint8Array.of(value & 0xff, value >> 8);
const encodeU32 = (value: number): Uint8Array => concatBytes(encodeU16(value & 0xffff), encodeU16(value >>> 16));
const computeCrc = (content: Uint8Array): Uint8Array => createZip(new Map([["x", content]])).slice(14, 18);
const buildArchive = (members: readonly Member[], around: { gap?: Uint8Array; comment?: Uint8Array; count?: number } = {}): Uint8Array => {
  const local: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let offset = 0;
  for (const {
    name,
    content = encodeUtf8("x"),
    flags = 0x800,
    method = 0,
    size = content.length,
    extra = encodeUtf8(""),
    ...rest
  } of members) {
    const buildCommonHeader = (called: string) => [
      encodeU16(20),
      encodeU16(flags),
      encodeU16(method),
      encodeU16(0),
      encodeU16(0x21),
      computeCrc(content),
      encodeU32(rest.packedSize ?? content.length),
      encodeU32(size),
      encodeU16(encodeUtf8(called).length),
    ];
    const member = concatBytes(
      encodeU32(0x04034b50),
      ...buildCommonHeader(name),
      encodeU16(extra.length),
      encodeUtf8(name),
      extra,
      content,
      rest.descriptor ?? encodeUtf8(""),
    );
    const called = rest.central?.name ?? name;
    const comment = rest.central?.comment ?? encodeUtf8("");
    central.push(
      concatBytes(
        encodeU32(0x02014b50),
        encodeU16(20),
        ...buildCommonHeader(called),
        encodeU16(0),
        encodeU16(comment.length),
        encodeU16(0),
        encodeU16(0),
        encodeU32(rest.central?.attributes ?? 0),
        encodeU32(offset),
        encodeUtf8(called),
        comment,
      ),
    );
    local.push(member);
    offset += member.length;
  }
  const gap = around.gap ?? encodeUtf8("");
  const directory = concatBytes(...central);
  const count = around.count ?? members.length;
  const comment = around.comment ?? encodeUtf8("");
  const end = [
    encodeU32(0x06054b50),
    encodeU16(0),
    encodeU16(0),
    encodeU16(count),
    encodeU16(count),
    encodeU32(directory.length),
    encodeU32(offset + gap.length),
    encodeU16(comment.length),
  ];
  return concatBytes(...local, gap, directory, ...end, comment);
};

describe("createZip and parseZip", () => {
  test("return the files that were put in, sorted by name", () => {
    const read = parseZip(zip, max);
    expect(read.ok && [...read.files.keys()]).toEqual(["A.txt", "a/b.txt", "a/empty", "z.bin"]);
    expect(read.ok && new Map(read.files)).toEqual(files);
  });

  test("do not depend on the order of the files", () => {
    expect(createZip(new Map([...files].reverse()))).toEqual(zip);
  });

  test("write the same bytes as the independent writer of this test", () => {
    const members = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, content]) => ({ name, content }));
    expect(buildArchive(members)).toEqual(zip);
  });

  test("refuse an archive with any single byte changed in three ways", () => {
    let refused = 0;
    for (let at = 0; at < zip.length; at += 1) {
      for (const mask of [0x01, 0x20, 0x80]) {
        const changed = zip.slice();
        changed[at] = (changed[at] as number) ^ mask;
        if (getFault(changed) !== "ok") refused += 1;
      }
    }
    expect(refused).toBe(zip.length * 3);
  });

  test("refuse an archive truncated at any byte", () => {
    for (let length = 0; length < zip.length; length += 1) expect(getFault(zip.subarray(0, length))).not.toBe("ok");
  });

  test("read an archive from the middle of a larger buffer", () => {
    const around = concatBytes(encodeUtf8("before"), zip, encodeUtf8("after"));
    expect(getFault(around.subarray(6, 6 + zip.length))).toBe("ok");
  });

  test.each<[string, Uint8Array, string]>([
    ["nothing in it", buildArchive([]), "not_a_zip"],
    ["bytes before it", concatBytes(encodeUtf8("MZ"), zip), "not_a_zip"],
    ["bytes after it", concatBytes(zip, encodeUtf8("x")), "trailing_bytes"],
    ["a comment", buildArchive([{ name: "a" }], { comment: encodeUtf8("hello") }), "headers_differ"],
    ["bytes between members and directory", buildArchive([{ name: "a" }], { gap: encodeUtf8("gap!") }), "bytes_before_or_between_members"],
    ["a member that the directory does not count", buildArchive([{ name: "a" }, { name: "b" }], { count: 1 }), "headers_differ"],
    ["a compressed member", buildArchive([{ name: "a", method: 8 }]), "compressed"],
    ["a member that claims to grow", buildArchive([{ name: "a", size: 4_000_000_000 }]), "compressed"],
    ["a member longer than the archive", buildArchive([{ name: "a", packedSize: 4_000, size: 4_000 }]), "truncated"],
    ["an encrypted member", buildArchive([{ name: "a", flags: 0x801 }]), "data_descriptor_or_flags"],
    ["a data descriptor", buildArchive([{ name: "a", flags: 0x808, descriptor: new Uint8Array(12) }]), "data_descriptor_or_flags"],
    ["an extra field", buildArchive([{ name: "a", extra: Uint8Array.of(1, 2, 0, 0) }]), "wrong_crc"],
    ["two members with the same name", buildArchive([{ name: "a" }, { name: "a" }]), "duplicate_or_unsorted_name"],
    ["members out of order", buildArchive([{ name: "b" }, { name: "a" }]), "duplicate_or_unsorted_name"],
    ["another name in the directory", buildArchive([{ name: "a", central: { name: "b" } }]), "headers_differ"],
    ["a comment on a member", buildArchive([{ name: "a", central: { comment: encodeUtf8("c") } }]), "headers_differ"],
    ["attributes", buildArchive([{ name: "a", central: { attributes: 0x41ed0010 } }]), "headers_differ"],
    ...["/a", "../a", "a/../b", "a/./b", "a//b", "a/", "a\\b", "C:a", ".a", "a\u0000b", "ä", "", "a b"].map(
      (name): [string, Uint8Array, string] => [`the name ${JSON.stringify(name)}`, buildArchive([{ name }]), "unsafe_name"],
    ),
  ])("refuse an archive with %s", (_, bytes, fault) => {
    expect(getFault(bytes)).toBe(fault);
  });

  test("refuse an archive that is larger than the limit before they read it", () => {
    expect(getFault(zip, zip.length - 1)).toBe("too_large");
    expect(getFault(zip, zip.length)).toBe("ok");
  });

  test("do not write a name that the reader refuses", () => {
    expect(() => createZip(new Map([["../a", encodeUtf8("x")]]))).toThrow(TypeError);
  });
});
