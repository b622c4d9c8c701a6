// Helpers for a business of shard 00 whose new certificates are stored in shard 01.
import { env } from "cloudflare:workers";
import { runOutboxRelay, waitUntilSettled } from "./background-work.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { world, buildConsentRequest, buildSubmission, type Call, type ConsentBody, type TestResponse } from "./world.ts";

/** Closes shard 00 to new certificates. A running isolate notices this within a minute, a new isolate immediately. */
export const closeFirstShard = async (): Promise<void> => {
  await env.DB.exec("INSERT INTO shard_registry (shard, state) VALUES ('00', 'closed') ON CONFLICT (shard) DO UPDATE SET state = 'closed'");
};

export const openFirstShard = async (): Promise<void> => {
  await env.DB.exec("DELETE FROM shard_registry");
};

/** Submits a form of the business through this isolate. */
export const submitThrough = (
  service: Call,
  change: Partial<ConsentBody> = {},
  business: DemoBusiness = world.acme,
): Promise<TestResponse> => {
  const origin = business === world.other ? "https://www.other.example" : "https://www.example.com";
  const body = { ...buildSubmission(business), page_url: `${origin}/quote`, ...change };
  return service("/v1/consent", buildConsentRequest(body, { origin }));
};

/** Issues a certificate through this isolate. */
export const issueThrough = async (
  service: Call,
  change: Partial<ConsentBody> = {},
  business: DemoBusiness = world.acme,
): Promise<{ cert_id: string; manage_url: string }> => {
  const response = await submitThrough(service, change, business);
  if (response.status !== 201) throw new Error(`not issued: ${response.text}`);
  return response.body.data;
};

export const listIds = (page: { readonly certs?: readonly { readonly cert_id: string }[] }): readonly string[] =>
  (page.certs ?? []).map(({ cert_id: certId }) => certId);

/** Returns the token from a receipt's withdrawal link. */
export const getToken = ({ manage_url: url }: { readonly manage_url: string }): string => url.split("#m=")[1] as string;

/**
 * Finishes a withdrawal from all of a person's certificates. The first run of the relay passes the work to the other shards, and the second
 * run does it.
 */
export const finishWithdrawals = async (): Promise<void> => {
  await waitUntilSettled();
  await runOutboxRelay();
  await runOutboxRelay();
};
