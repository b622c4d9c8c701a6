// Tests which entry a full BoundedMap evicts.
import { expect, test } from "vitest";
import { BoundedMap } from "../../core/bounded-map.ts";

test("BoundedMap drops the entry set longest ago, counting a repeated set as new", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect(["a", "b", "c"].map((key) => map.get(key))).toEqual([3, undefined, 4]);
  map.delete("c");
  map.set("d", 5);
  expect(["a", "c", "d"].map((key) => map.get(key))).toEqual([3, undefined, 5]);
});
