// Bytes have one spelling: what another decoder would take for the same is refused.
import { expect, test } from "vitest";
import { listMisreadSpellings } from "../support/base64-spellings.ts";

test("base64 is read in its one spelling, by an engine without a decoder of its own", () => {
  expect("fromBase64" in Uint8Array).toBe(false); // Node 24; once it has one, this test says nothing that the other does not
  expect(listMisreadSpellings()).toEqual([]);
});
