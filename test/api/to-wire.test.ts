// Tests the mapper that turns an operation's values into the API's JSON.
import { z } from "@hono/zod-openapi";
import { describe, expect, it } from "vitest";
import { dayToWire, toWire } from "../../workers/http/wire.ts";

const schema = z.object({
  id: z.string(),
  created_at: z.string(),
  cease_by: z.string().nullable(),
  failing_since: z.string().nullable(),
  acknowledged_by: z.string(),
  duration_ms: z.number(),
  address_line1: z.string(),
  more: z.literal(true).optional(),
});
const source = {
  id: "shr_1",
  durationMs: 184,
  addressLine1: "12 Long Street",
  acknowledgedBy: "Privacy team",
  failingSince: 0,
  ceaseBy: null,
  createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 89),
};

describe("toWire", () => {
  it("writes snake_case keys in schema order and instants as ISO text", () => {
    expect(JSON.stringify(toWire(schema, source))).toBe(
      '{"id":"shr_1","created_at":"2026-03-04T05:06:07.089Z","cease_by":null,"failing_since":"1970-01-01T00:00:00.000Z",' +
        '"acknowledged_by":"Privacy team","duration_ms":184,"address_line1":"12 Long Street"}',
    );
  });

  it("leaves out members that the schema does not list", () => {
    const withSecret = { ...source, secret: "whsec_1" };
    expect(toWire(schema, withSecret)).not.toHaveProperty("secret");
  });

  it("formats a day count as a date, and null as null", () => {
    expect([dayToWire(20_516), dayToWire(null)]).toEqual(["2026-03-04", null]);
  });
});
