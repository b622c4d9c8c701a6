// Any character for fast-check's text: every code point but halves of surrogate pairs. The same as its own "binary", which first
// makes a table of all the million of them, in every process.
import fc from "fast-check";

export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point));
