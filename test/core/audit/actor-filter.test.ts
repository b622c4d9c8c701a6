// Tests filtering audit entries by actor.
import { describe, expect, test } from "vitest";
import type { Actor } from "../../../core/actor.ts";
import { matchesActor, parseActorFilter, type ActorFilter } from "../../../core/audit/actor-filter.ts";

const actors: readonly Actor[] = [
  { kind: "member", id: "mem_1" },
  { kind: "member", id: "mem_2" },
  { kind: "api_key", id: "key_1" },
  { kind: "client", id: "pc_live_1" },
  { kind: "agent", id: "agt_1" },
  { kind: "subject", verifiedBy: "email_code" },
  { kind: "consumer", id: "con_1" },
  { kind: "visitor" },
  { kind: "operator" },
  { kind: "system" },
];

describe("matchesActor", () => {
  test.each([
    ["member:mem_1", ["member"]],
    ["api_key:key_1", ["api_key"]],
    ["client", ["client"]],
    ["agent", ["agent"]],
    ["person", ["subject", "consumer", "visitor"]],
    ["service", ["operator", "system"]],
  ])("chooses the actors of %s", (text, kinds) => {
    const filter = parseActorFilter(text) as ActorFilter;
    expect(actors.filter((actor) => matchesActor(actor, filter)).map(({ kind }) => kind)).toEqual(kinds);
    expect(matchesActor(null, filter)).toBe(false);
  });
});

describe("parseActorFilter", () => {
  test.each(["", "member", "member:", "consumer:con_1", "everyone"])("returns null for %j", (text) => {
    expect(parseActorFilter(text)).toBeNull();
  });
});
