// Tests the same encodings as test/core, but decoded by the engine instead of by JavaScript.
import { expect, test } from "vitest";
import { listMisreadSpellings } from "../support/base64-spellings.ts";

test("decodes only canonical base64 with the engine's decoder", () => {
  expect("fromBase64" in Uint8Array).toBe(true);
  expect(listMisreadSpellings()).toEqual([]);
});
