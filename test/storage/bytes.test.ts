// The same spellings as in test/core, where the engine decodes.
import { expect, test } from "vitest";
import { listMisreadSpellings } from "../support/base64-spellings.ts";

test("base64 is read in its one spelling, by the engine's own decoder", () => {
  expect("fromBase64" in Uint8Array).toBe(true);
  expect(listMisreadSpellings()).toEqual([]);
});
