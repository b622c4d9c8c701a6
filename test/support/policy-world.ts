// Certificates whose policies are not captured yet: an isolate issues them and dies after the response, so that a test decides when and
// how often policies are captured.
import { env } from "cloudflare:workers";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { capturePolicies } from "../../workers/background/policy-capture.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { openDatabase } from "../../storage/database.ts";
import { getWithKey, buildSubmission, world } from "./world.ts";
import { createServicesWith } from "./changed-services.ts";

/** This isolate's platform with its clock moved by `ms`, and with further changes. */
export const createPlatformAt = async (ms = 0, changes: Partial<Platform> = {}): Promise<Platform> => {
  const platform = await getPlatform(env as unknown as Env);
  return { ...platform, clock: () => platform.clock() + ms, ...changes };
};

const executionContext = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext;

/** Issues a certificate of the demo business on a page of this host, without capturing its policies. Returns its ID. */
export const issueWaitingCertificate = async (host: string, page = "/quote?name=pat", ms = 0): Promise<string> => {
  const request = new Request("http://svc.test/v1/consent", {
    method: "POST",
    headers: { "content-type": "text/plain", origin: `https://${host}` },
    body: JSON.stringify({ ...buildSubmission(world.acme), page_url: new URL(page, `https://${host}`).href }),
  });
  const platform = await createPlatformAt(ms);
  // No background work after the response: no shard for the relay, no audit log to notify, no queue message.
  const shards = { ...platform.shards, all: () => [] };
  const config = { ...platform.config, auditKeys: new Map() };
  const diesAfterAnswer = createServicesWith(platform, { shards, config, requestAnchoring: async () => {}, waitUntil: () => {} });
  const response = await buildApp(diesAfterAnswer).fetch(request, env, executionContext);
  const { data } = (await response.json()) as { data: { cert_id: string } };
  if (response.status !== 201) throw new Error(`not issued: ${response.status}`);
  return data.cert_id;
};

/** Runs the policy capture once, at a fixed time `ms` from now. */
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

/** The policies of a certificate as the public verify endpoint returns them. */
export const getPublicPolicies = async (
  certId: string,
): Promise<{ readonly status: string; readonly policies: readonly ShownPolicy[] }> => {
  const { body } = await getWithKey(`/v1/certs/${certId}/verify`);
  return { status: body.data.policies_status, policies: body.data.policies };
};

/** The policies as the business gets them, with their texts. */
export const getPoliciesWithText = async (certId: string): Promise<readonly ShownPolicy[]> =>
  (await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live)).body.data.policies;

/** Rows of a query, for data that no route returns. */
export const queryRows = async <T = Record<string, unknown>>(sql: string, ...bound: readonly unknown[]): Promise<readonly T[]> =>
  (
    await env.DB.prepare(sql)
      .bind(...bound)
      .all<T>()
  ).results;
