// Tests strict base64 decoding without native decoders: only the canonical spelling is accepted.
import { expect, test } from "vitest";
import { listMisreadSpellings } from "../support/base64-spellings.ts";

test("fromBase64 accepts only the canonical spelling when the engine has no native decoder", () => {
  expect("fromBase64" in Uint8Array).toBe(false); // Node 24 has no native decoder, so this test covers our own
  expect(listMisreadSpellings()).toEqual([]);
});
