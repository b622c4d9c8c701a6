// Creates certificates whose policies are not captured yet. The isolate that issues them does no background work, so the test decides when
// and how often policies are captured.
import { env } from "cloudflare:workers";
import { buildApp } from "../../workers/app.ts";
import { capturePolicies } from "../../workers/background/policy-capture.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { openDatabase } from "../../storage/database.ts";
import { getWithKey, buildSubmission, world } from "./world.ts";
import { createServicesWith } from "./changed-services.ts";

/** Returns this isolate's platform with its clock shifted by `ms` and with these changes. */
export const createPlatformAt = async (ms = 0, changes: Partial<Platform> = {}): Promise<Platform> => {
  const platform = await getPlatform(env);
  return { ...platform, clock: () => platform.clock() + ms, ...changes };
};

const executionContext = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext;

/** Issues a certificate for a demo business's page on this host, without capturing the policies. Returns the certificate's ID. */
export const issueWaitingCertificate = async (
  host: string,
  page = "/quote?name=pat",
  ms = 0,
  clientId = world.acme.clients.live,
): Promise<string> => {
  const request = new Request("http://svc.test/v1/consent", {
    method: "POST",
    headers: { "content-type": "text/plain", origin: `https://${host}` },
    body: JSON.stringify({ ...buildSubmission(world.acme), client_id: clientId, page_url: new URL(page, `https://${host}`).href }),
  });
  const platform = await createPlatformAt(ms);
  // Prevents background work after the response. The relay finds no shards, and no audit log or queue gets a message.
  const shards = { ...platform.shards, all: () => [] };
  const diesAfterAnswer = createServicesWith(platform, { shards, requestAnchoring: async () => {}, waitUntil: () => {} });
  const response = await buildApp(diesAfterAnswer).fetch(request, env, executionContext);
  const { data } = (await response.json()) as { data: { cert_id: string } };
  if (response.status !== 201) throw new Error(`not issued: ${response.status}`);
  return data.cert_id;
};

/** Runs the policy capture once, with the clock set `ms` milliseconds ahead. The clock does not advance while the capture runs. */
export const runCapture = async (ms = 0, changes: Partial<Platform> = {}): Promise<void> => {
  const platform = await createPlatformAt();
  const now = platform.clock() + ms;
  await capturePolicies({ ...platform, clock: () => now, ...changes }, openDatabase(env.DB));
};

export interface ShownPolicy {
  readonly id: string;
  readonly kind: string;
  readonly source_url: string;
  readonly content_hash: string;
  readonly captured_at: string;
  readonly text?: string;
}

/** Returns a certificate's policies as the public verify endpoint shows them. */
export const getPublicPolicies = async (
  certId: string,
): Promise<{ readonly status: string; readonly policies: readonly ShownPolicy[] }> => {
  const { body } = await getWithKey(`/v1/certs/${certId}/verify`);
  return { status: body.data.policies_status, policies: body.data.policies };
};

/** Returns the policies as the business sees them, with their texts. */
export const getPoliciesWithText = async (certId: string): Promise<readonly ShownPolicy[]> =>
  (await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live)).body.data.policies;

/** Queries rows directly, for data that no route returns. */
export const queryRows = async <T = Record<string, unknown>>(sql: string, ...bound: readonly unknown[]): Promise<readonly T[]> =>
  (
    await env.DB.prepare(sql)
      .bind(...bound)
      .all<T>()
  ).results;
