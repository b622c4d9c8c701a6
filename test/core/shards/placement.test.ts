// Tests choosing the shard of a new account.
import { describe, expect, test } from "vitest";
import type { ShardId } from "../../../core/ids.ts";
import { choosePlacement, type ShardFill, type ShardState } from "../../../core/shards/placement.ts";

const maxBytes = 1_000;
const fill = (shard: string, bytes: number, state: ShardState = "open"): ShardFill => ({ shard: shard as ShardId, bytes, state });

describe("choosePlacement", () => {
  test.each<[string, readonly ShardFill[], string]>([
    ["the emptiest open shard", [fill("00", 600), fill("01", 20), fill("02", 300)], "01"],
    ["the first shard of several that are equally empty, as whole percentages", [fill("02", 13), fill("01", 19), fill("00", 20)], "01"],
    ["no closed shard, even if it is the emptiest", [fill("00", 600), fill("01", 0, "closed")], "00"],
    ["no shard that is 70% full", [fill("00", 700), fill("01", 699)], "01"],
    ["the emptiest shard that is not closed or full", [fill("00", 100, "closed"), fill("01", 900), fill("02", 650)], "02"],
    ["the emptiest shard if all are closed or full", [fill("00", 800), fill("01", 750), fill("02", 780, "closed")], "01"],
    ["the only shard", [fill("00", 2_000, "closed")], "00"],
  ])("returns %s", (_, shards, expected) => {
    expect(choosePlacement(shards, maxBytes)).toBe(expected);
  });
});
