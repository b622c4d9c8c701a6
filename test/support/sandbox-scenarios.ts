// An answer of each success and each refusal of test mode, for the description of the API to be held against.
import { env } from "cloudflare:workers";
import { bearerOf, bodyRefusals, changed, keyed, keyRefusals, twice, type Scenarios } from "./scenarios.ts";
import { call, get, world } from "./world.ts";

const { acme } = world;
const testKey = acme.keys.sandbox;
const clock = "/v1/sandbox/clock";
const trigger = "/v1/sandbox/trigger";
const reset = "/v1/sandbox/reset";
const post = (at: string, body: unknown, key = testKey) => call(at, keyed(body, key));
const made = async (type: string): Promise<string> => (await post(trigger, { type })).body.data.share.id;

const pastDue = async (at: string, body: unknown) => {
  const become = (status: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, acme.id).run();
  await become("past_due");
  try {
    return await post(at, body);
  } finally {
    await become("active");
  }
};

const writeRefusals = (at: string, body: object, other: object): Scenarios => ({
  ...keyRefusals(
    () => at,
    () => body,
    testKey,
  ),
  ...bodyRefusals(() => at, bearerOf(testKey)),
  sandbox_only: () => post(at, body, acme.keys.live),
  subscription_past_due: () => pastDue(at, body),
  idempotency_conflict: () => twice((sent, key) => call(at, changed(keyed(sent, testKey), key)), body, other),
});

export const sandboxScenarios: Record<string, Scenarios> = {
  readSandboxClock: {
    200: () => get(clock, testKey),
    ...keyRefusals(() => clock, undefined, testKey),
    sandbox_only: () => get(clock, acme.keys.live),
  },
  moveSandboxClock: {
    200: () => post(clock, { advance_seconds: 60 }),
    ...writeRefusals(clock, { advance_seconds: 60 }, { advance_seconds: 61 }),
    invalid_request: () => post(clock, {}),
  },
  triggerSandboxEvent: {
    200: () => post(trigger, { type: "consumer.updated.phone" }),
    "200 of a named share": async () => post(trigger, { type: "share.revoked", share_id: await made("share.created") }),
    ...writeRefusals(trigger, { type: "share.created" }, { type: "share.revoked" }),
    invalid_request: () => post(trigger, {}),
    not_found: () => post(trigger, { type: "share.revoked", share_id: "shr_00000000000000000000000000" }),
    share_inactive: async () => post(trigger, { type: "share.renewed", share_id: await made("share.revoked") }),
    cease_not_open: async () => post(trigger, { type: "business.ceased", share_id: await made("share.created") }),
    client_not_found: async () => {
      const rename = (from: string, to: string) =>
        env.DB.prepare("UPDATE clients SET environment = ? WHERE business_id = ? AND environment = ? AND id LIKE 'pc_test_%'")
          .bind(to, acme.id, from)
          .run();
      await rename("sandbox", "live");
      try {
        return await post(trigger, { type: "share.created" });
      } finally {
        await rename("live", "sandbox");
      }
    },
  },
  resetSandbox: {
    200: () => post(reset, {}),
    ...writeRefusals(reset, {}, { other: true }),
    invalid_request: () => call(reset, { ...keyed({}, testKey), body: "{" }),
  },
};
