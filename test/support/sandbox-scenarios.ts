// Makes calls that produce every success and every refusal of the sandbox routes. Tests compare the responses with the OpenAPI document.
import { env } from "cloudflare:workers";
import {
  buildBearerHeader,
  listBodyRefusals,
  withHeaders,
  buildKeyedPost,
  listKeyRefusals,
  sendTwice,
  type Scenarios,
} from "./scenarios.ts";
import { call, getWithKey, world } from "./world.ts";

const { acme } = world;
const testKey = acme.keys.sandbox;
const clockPath = "/v1/sandbox/clock";
const triggerPath = "/v1/sandbox/trigger";
const resetPath = "/v1/sandbox/reset";
const postWithTestKey = (at: string, body: unknown, key = testKey) => call(at, buildKeyedPost(body, key));
const createSandboxShare = async (type: string): Promise<string> => (await postWithTestKey(triggerPath, { type })).body.data.share.id;

const callPastDue = async (at: string, body: unknown) => {
  const setStatus = (status: string) => env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, acme.id).run();
  await setStatus("past_due");
  try {
    return await postWithTestKey(at, body);
  } finally {
    await setStatus("active");
  }
};

const writeRefusals = (at: string, body: object, other: object): Scenarios => ({
  ...listKeyRefusals(
    () => at,
    () => body,
    testKey,
  ),
  ...listBodyRefusals(() => at, buildBearerHeader(testKey)),
  sandbox_only: () => postWithTestKey(at, body, acme.keys.live),
  subscription_past_due: () => callPastDue(at, body),
  idempotency_conflict: () => sendTwice((sent, key) => call(at, withHeaders(buildKeyedPost(sent, testKey), key)), body, other),
});

export const sandboxScenarios: Record<string, Scenarios> = {
  readSandboxClock: {
    200: () => getWithKey(clockPath, testKey),
    ...listKeyRefusals(() => clockPath, undefined, testKey),
    sandbox_only: () => getWithKey(clockPath, acme.keys.live),
  },
  moveSandboxClock: {
    200: () => postWithTestKey(clockPath, { advance_seconds: 60 }),
    ...writeRefusals(clockPath, { advance_seconds: 60 }, { advance_seconds: 61 }),
    invalid_request: () => postWithTestKey(clockPath, {}),
  },
  triggerSandboxEvent: {
    200: () => postWithTestKey(triggerPath, { type: "consumer.updated.phone" }),
    "200 of a named share": async () =>
      postWithTestKey(triggerPath, { type: "share.revoked", share_id: await createSandboxShare("share.created") }),
    ...writeRefusals(triggerPath, { type: "share.created" }, { type: "share.revoked" }),
    invalid_request: () => postWithTestKey(triggerPath, {}),
    not_found: () => postWithTestKey(triggerPath, { type: "share.revoked", share_id: "shr_00000000000000000000000000" }),
    share_inactive: async () =>
      postWithTestKey(triggerPath, { type: "share.renewed", share_id: await createSandboxShare("share.revoked") }),
    cease_not_open: async () =>
      postWithTestKey(triggerPath, { type: "business.ceased", share_id: await createSandboxShare("share.created") }),
    client_not_found: async () => {
      const rename = (from: string, newName: string) =>
        env.DB.prepare("UPDATE clients SET environment = ? WHERE business_id = ? AND environment = ? AND id LIKE 'pc_test_%'")
          .bind(newName, acme.id, from)
          .run();
      await rename("sandbox", "live");
      try {
        return await postWithTestKey(triggerPath, { type: "share.created" });
      } finally {
        await rename("live", "sandbox");
      }
    },
  },
  resetSandbox: {
    200: () => postWithTestKey(resetPath, {}),
    ...writeRefusals(resetPath, {}, { other: true }),
    invalid_request: () => call(resetPath, { ...buildKeyedPost({}, testKey), body: "{" }),
  },
};
