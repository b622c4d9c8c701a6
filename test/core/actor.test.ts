// Tests how each actor is formatted as text and parsed, and how the audit payload names the actor. The text and the payload must never
// change, because audit chains commit to them.
import { firstShard } from "../../core/ids.ts";
import { describe, expect, test } from "vitest";
import { formatActor, parseActor, type Actor } from "../../core/actor.ts";
import { toCanonicalJson } from "../../core/canonical-json.ts";
import { getPayloadActor, toAuditPayload, type DomainEvent } from "../../core/domain-events.ts";

const texts: readonly (readonly [Actor, string, string])[] = [
  [{ kind: "client", id: "pc_live_1" }, "client:pc_live_1", '{"actor":"client:pc_live_1","note":1}'],
  [{ kind: "api_key", id: "key_1" }, "api_key:key_1", '{"actor":"api_key:key_1","note":1}'],
  [{ kind: "member", id: "mem_1" }, "member:mem_1", '{"by":"mem_1","note":1}'],
  [{ kind: "consumer", id: "con_1" }, "consumer:con_1", '{"actor":"consumer:con_1","note":1}'],
  [{ kind: "agent", id: "agt_1" }, "agent:agt_1", '{"actor":"agent:agt_1","note":1}'],
  [{ kind: "subject", verifiedBy: "email_code" }, "subject:email_code", '{"actor":"subject:email_code","note":1}'],
  [{ kind: "subject", verifiedBy: "manage_link" }, "subject:manage_link", '{"actor":"subject:manage_link","note":1}'],
  [{ kind: "visitor" }, "visitor", '{"actor":"visitor","note":1}'],
  [{ kind: "operator" }, "operator", '{"actor":"operator","note":1}'],
  [{ kind: "system" }, "service", '{"actor":"service","note":1}'],
];

describe("formatActor and toAuditPayload", () => {
  test.each(texts)("formats %j as %s", (actor, text, payload) => {
    expect(formatActor(actor)).toBe(text);
    const event: DomainEvent = {
      type: "certificate.subject_read",
      entityType: "certificate",
      entityId: "cc_1",
      at: 1,
      chains: [{ tag: "t", auditLog: firstShard }],
      actor,
      payload: { note: 1 },
    };
    expect(toCanonicalJson(toAuditPayload(event))).toBe(payload);
    expect(parseActor(text)).toEqual(actor);
    expect(getPayloadActor(toAuditPayload(event))).toEqual(actor);
  });

  test.each(["", "member:", "subject:unknown", "somebody", "robot:1"])("returns null for %j", (text) => {
    expect(parseActor(text)).toBeNull();
    expect(getPayloadActor({ actor: text })).toBeNull();
  });
});
