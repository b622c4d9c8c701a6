// Spellings of bytes in base64: the one that counts, and others that decoders elsewhere take for the same. Engines that bring a decoder of
// their own and those that do not must agree.
import { fromBase64, fromBase64Url } from "../../core/bytes.ts";

/** Text, and the bytes it spells: null where it is no spelling of ours. */
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

/** Those that this engine takes for something else. */
export const listMisreadSpellings = (): readonly string[] => [
  ...findMisreadSpellings(base64, fromBase64),
  ...findMisreadSpellings(base64Url, fromBase64Url),
];
