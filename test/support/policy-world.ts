// Certificates that wait for policies: issued through the front door by a process that dies right after the answer, so
// that a test decides when and how often the policies are looked up.
import { env } from "cloudflare:workers";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { capturePolicies } from "../../workers/background/policy-capture.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { openDatabase } from "../../storage/database.ts";
import { getWithKey, buildSubmission, world } from "./world.ts";
import { createServicesWith } from "./changed-services.ts";

/** This isolate's platform, its clock moved by `ms`, and whatever else a test changes. */
export const createPlatformAt = async (ms = 0, changes: Partial<Platform> = {}): Promise<Platform> => {
  const platform = await getPlatform(env as unknown as Env);
  return { ...platform, clock: () => platform.clock() + ms, ...changes };
};

const executionContext = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext;

/** One certificate of the business that owns example.com, issued on `https://<host>/quote` or another page, and waiting. */
export const issueWaitingCertificate = async (host: string, page = "/quote?name=pat", ms = 0): Promise<string> => {
  const request = new Request("http://svc.test/v1/consent", {
    method: "POST",
    headers: { "content-type": "text/plain", origin: `https://${host}` },
    body: JSON.stringify({ ...buildSubmission(world.acme), page_url: new URL(page, `https://${host}`).href }),
  });
  const platform = await createPlatformAt(ms);
  // Nothing follows the answer: no home for the relay to work in, no audit log to notify, no queue.
  const homes = { ...platform.shards, all: () => [] };
  const config = { ...platform.config, auditKeys: new Map() };
  const diesAfterAnswer = createServicesWith(platform, { shards: homes, config, requestAnchoring: async () => {}, waitUntil: () => {} });
  const response = await buildApp(diesAfterAnswer).fetch(request, env, executionContext);
  const { data } = (await response.json()) as { data: { cert_id: string } };
  if (response.status !== 201) throw new Error(`not issued: ${response.status}`);
  return data.cert_id;
};

/** One run of the relay `ms` from now; its clock stands still, so that only what is due then is due. */
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

/** What the public verify endpoint says about a certificate's policies. */
export const getPublicPolicies = async (
  certId: string,
): Promise<{ readonly status: string; readonly policies: readonly ShownPolicy[] }> => {
  const { body } = await getWithKey(`/v1/certs/${certId}/verify`);
  return { status: body.data.policies_status, policies: body.data.policies };
};

/** The owner's view, with the texts. */
export const getPoliciesWithText = async (certId: string): Promise<readonly ShownPolicy[]> =>
  (await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live)).body.data.policies;

/** Rows of a query, for what no door shows. */
export const queryRows = async <T = Record<string, unknown>>(sql: string, ...bound: readonly unknown[]): Promise<readonly T[]> =>
  (
    await env.DB.prepare(sql)
      .bind(...bound)
      .all<T>()
  ).results;
