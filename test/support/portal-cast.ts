// The people and records in the portal's permission tests: one signed-in person for each role, and the records of one business.
import { env } from "cloudflare:workers";
import { sha256Hex } from "../../core/hash.ts";
import type { BusinessId } from "../../core/ids.ts";
import { openVaultFromVars } from "../../scripts/demo-world.ts";
import { commitEvents, eventSequences, mockReceivers, registerEndpoint } from "./events.ts";
import { buildJsonRequest, signIn } from "./people.ts";
import { callPortal } from "./portal.ts";
import { waitUntilSettled } from "./background-work.ts";
import { grantShare, signInPerson } from "./sharing.ts";
import { call, submitConsent, issueCertificate, createServiceCall, buildSubmission, world } from "./world.ts";

/** `nobody` has no session, and `stranger` owns another business. */
export const roles = ["nobody", "consumer", "stranger", "member", "owner"] as const;
export type Role = (typeof roles)[number];
export type PortalCast = Readonly<Record<Role, { readonly cookie: string }>>;

/** The service with rate limits that the permission tests cannot reach. */
export const callWithoutLimits = createServiceCall({
  LIMIT_SESSION: "100000/60",
  LIMIT_WEBHOOK_CALLS: "100000/60",
  LIMIT_DOMAIN_CHECKS_PER_BUSINESS: "100000/60",
  LIMIT_INVITATIONS_PER_BUSINESS: "100000/60",
  LIMIT_SANDBOX_CLOCK: "100000/60",
});

export const signInCast = async (): Promise<PortalCast> => {
  const cast: PortalCast = {
    nobody: { cookie: "" },
    consumer: await signIn(world.consumerEmail, "consumer"),
    stranger: await signIn(world.otherOwnerEmail),
    member: await signIn(world.memberEmail),
    owner: await signIn(world.ownerEmail),
  };
  // The first use of a session each day writes a row, so each session is used once before the tests start.
  for (const role of roles) await call("/v1/auth/session", { headers: cast[role] });
  await waitUntilSettled();
  return cast;
};

/** Replaces fetch: every webhook receiver returns 200, and the payment provider returns the URL of a payment page. */
export const mockOutsideWorld = (): void => {
  mockReceivers(({ url }) =>
    new URL(url).hostname === "api.stripe.com"
      ? Response.json({ id: "cs_test", object: "checkout.session", url: "https://checkout.stripe.com/c/pay/cs_test" })
      : new Response(null, { status: 200 }),
  );
};

/** IDs of acme's records, keyed by the name of their route parameter. */
export type Records = Readonly<Record<string, string>>;

/** Creates one record of each kind for acme. Needs `mockOutsideWorld`, because one endpoint is called. */
export const createAcmeRecords = async ({ owner }: PortalCast): Promise<Records> => {
  const createRecord = async (path: string, sent: unknown): Promise<Record<string, string>> =>
    (await callPortal(owner, "POST", path, sent)).body.data;
  const { cert_id } = await issueCertificate();
  await call(`/v1/certs/${cert_id}/withdrawals`, {
    ...buildJsonRequest({ method: "phone", received_at: new Date().toISOString() }, { authorization: `Bearer ${world.acme.keys.live}` }),
  });
  const business = world.acme.id as BusinessId;
  const { id: webhook_id } = await registerEndpoint(business, "https://hook1.merchant-tests.com/in");
  await commitEvents(business, 1);
  await eventSequences.getByName(business).drain();
  const { events } = await eventSequences.getByName(business).listEvents(0, 500, null);
  const deliveries = await eventSequences.getByName(business).listDeliveries(webhook_id, 100, null);
  const refused = await submitConsent({ ...buildSubmission(), page_url: "https://shop.elsewhere.example/" });
  const records = {
    cert_id,
    webhook_id,
    delivery_id: deliveries?.deliveries[0]?.id as string,
    seq: String(events[0]?.seq),
    share_id: (await grantShare(await signInPerson())).share.id as string,
    domain_id: (await createRecord("/domains", { domain: "roles.example" })).id as string,
    client_id: world.acme.clients.live,
    key_id: (await createRecord("/keys", { name: "Roles" })).id as string,
    member_id: (await createRecord("/members", { email: "invited@roles.example", role: "member" })).id as string,
    token_id: (await createRecord("/agent-token", { name: "Roles" })).id as string,
    request_id: refused.body.request_id as string,
  };
  await waitUntilSettled();
  return records;
};

/** Lists the rows in the first shard's `contents` that contain an ID of the business or of one of these records. */
export const listRecordRows = (contents: Readonly<Record<string, string>>, records: Records): readonly string[] => {
  const ids = [world.acme.id, world.acme.chain, ...Object.values(records).filter((id) => id.includes("_"))];
  return Object.entries(contents).flatMap(([table, rows]) =>
    (JSON.parse(rows) as unknown[]).map((row) => `${table} ${JSON.stringify(row)}`).filter((row) => ids.some((id) => row.includes(id))),
  );
};

/** Returns the form token that this person's page would contain, so that only the sender's role can be the reason for a refusal. */
export const getFormToken = async ({ cookie }: { readonly cookie: string }, path: string): Promise<string> => {
  const session = cookie.slice(cookie.indexOf("=") + 1);
  return (await openVaultFromVars(env)).linkToken(`portal form\n${sha256Hex(session)}\n${path}`);
};
