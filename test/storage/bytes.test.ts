// Tests the same encodings as test/core/bytes.test.ts, but with the engine's native decoders.
import { expect, test } from "vitest";
import { listMisreadSpellings } from "../support/base64-spellings.ts";

test("decodes only canonical base64 with the engine's decoder", () => {
  expect("fromBase64" in Uint8Array).toBe(true);
  expect(listMisreadSpellings()).toEqual([]);
});
