// Tests how the list of link keys changes during a rotation.
import { describe, expect, test } from "vitest";
import { addNextLinkKey, parseLinkKeys, removeEarlierLinkKeys, useNextLinkKey } from "../../../core/access/link-keys.ts";
import { toBase64 } from "../../../core/bytes.ts";

const createKey = (byte: number): Uint8Array<ArrayBuffer> => new Uint8Array(32).fill(byte);
const parseNames = (text: string): unknown => {
  const keys = parseLinkKeys(text);
  return keys === null ? null : [keys.current.name, keys.others.map(({ name }) => name)];
};

describe("a rotation of the link keys", () => {
  test("checks tokens with a new key before it creates any with it, and starts with the index key if the setting is missing", () => {
    const added = addNextLinkKey(undefined, createKey(1));
    expect(added).toBe(`index,1:${toBase64(createKey(1))}@next`);
    expect(parseNames(added)).toEqual(["index", ["1"]]);
    const used = useNextLinkKey(added);
    expect(parseNames(used)).toEqual(["1", ["index"]]);
    const ended = removeEarlierLinkKeys(used);
    expect(parseNames(ended)).toEqual(["1", []]);
    expect(parseNames(addNextLinkKey(ended, createKey(2)))).toEqual(["1", ["2"]]);
  });

  test("keeps a new key that is not used yet, even if another one is added", () => {
    const added = addNextLinkKey("", createKey(1));
    expect(addNextLinkKey(added, createKey(2))).toBe(added);
  });
});
