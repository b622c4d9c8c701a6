// Canonical base64 strings, and variants that must be refused although some decoders accept them. Engines with and without a built-in
// decoder must agree on all of them.
import { fromBase64, fromBase64Url } from "../../core/bytes.ts";

/** A string and its bytes. The bytes are null if the string must be refused. */
const base64: readonly (readonly [string, readonly number[] | null])[] = [
  ["", []],
  ["AA==", [0]],
  ["+/8=", [251, 255]],
  ["AAEC", [0, 1, 2]],
  ["AB==", null],
  ["AAF=", null],
  ["AA", null],
  ["AA=", null],
  ["A===", null],
  ["====", null],
  ["A", null],
  ["AA==AAEC", null],
  ["AA= =", null],
  ["AA\n==", null],
  [" AAEC   ", null],
  ["-_8=", null],
];

const base64Url: readonly (readonly [string, readonly number[] | null])[] = [
  ["", []],
  ["AA", [0]],
  ["-_8", [251, 255]],
  ["AAEC", [0, 1, 2]],
  ["AB", null],
  ["AAF", null],
  ["A", null],
  ["AA==", null],
  ["+/8", null],
  ["AAE C", null],
  ["AAEC\n", null],
];

const findMisreadSpellings = (spellings: typeof base64, read: (text: string) => Uint8Array | null): readonly string[] =>
  spellings.filter(([text, bytes]) => JSON.stringify([...(read(text) ?? [-1])]) !== JSON.stringify(bytes ?? [-1])).map(([text]) => text);

/** Lists the strings that this engine does not decode to the expected bytes. */
export const listMisreadSpellings = (): readonly string[] => [
  ...findMisreadSpellings(base64, fromBase64),
  ...findMisreadSpellings(base64Url, fromBase64Url),
];
