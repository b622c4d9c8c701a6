// Who comes to the portal, for the tables of who may do what there: the demo's people, signed in, and records of the business they try.
import { env } from "cloudflare:workers";
import { sha256Hex } from "../../core/hash.ts";
import type { BusinessId } from "../../core/ids.ts";
import { openVaultFromVars } from "../../scripts/demo-world.ts";
import { commitEvents, eventSequences, mockReceivers, registerEndpoint } from "./events.ts";
import { buildJsonRequest, signIn } from "./people.ts";
import { callPortal } from "./portal.ts";
import { waitUntilSettled } from "./background-work.ts";
import { grantShare, signInPerson } from "./sharing.ts";
import { call, submitConsent, readDatabaseContents, issueCertificate, createServiceCall, buildSubmission, world } from "./world.ts";

/** Nobody is somebody too: without a cookie. The stranger owns another business. */
export const roles = ["nobody", "consumer", "stranger", "member", "owner"] as const;
export type Role = (typeof roles)[number];
export type PortalCast = Readonly<Record<Role, { readonly cookie: string }>>;

/** With limits that no table reaches. */
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
  // The first use of a session in a day is noted.
  for (const role of roles) await call("/v1/auth/session", { headers: cast[role] });
  await waitUntilSettled();
  return cast;
};

/** The outside world: every receiver is content, and the payment provider opens its page. */
export const mockOutsideWorld = (): void => {
  mockReceivers(({ url }) =>
    new URL(url).hostname === "api.stripe.com"
      ? Response.json({ id: "cs_test", object: "checkout.session", url: "https://checkout.stripe.com/c/pay/cs_test" })
      : new Response(null, { status: 200 }),
  );
};

/** Records of acme, by the name their id has in an address. */
export type Records = Readonly<Record<string, string>>;

/** Needs `playOutside`: an endpoint is called. */
export const createAcmeRecords = async ({ owner }: PortalCast): Promise<Records> => {
  const made = async (path: string, sent: unknown): Promise<Record<string, string>> =>
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
    domain_id: (await made("/domains", { domain: "roles.example" })).id as string,
    key_id: (await made("/keys", { name: "Roles" })).id as string,
    member_id: (await made("/members", { email: "invited@roles.example", role: "member" })).id as string,
    token_id: (await made("/agent-token", { name: "Roles" })).id as string,
    request_id: refused.body.request_id as string,
  };
  await waitUntilSettled();
  return records;
};

/** The rows of the database that name the business or one of these records. */
export const listRecordRows = async (records: Records): Promise<readonly string[]> => {
  const marks = [world.acme.id, world.acme.chain, ...Object.values(records).filter((id) => id.includes("_"))];
  const tables = Object.entries(await readDatabaseContents());
  return tables.flatMap(([table, rows]) =>
    (JSON.parse(rows) as unknown[])
      .map((row) => `${table} ${JSON.stringify(row)}`)
      .filter((row) => marks.some((mark) => row.includes(mark))),
  );
};

/** What a page of this person's holds in a form to this address: so that a form is refused for who sends it, and for nothing else. */
export const getFormToken = async ({ cookie }: { readonly cookie: string }, path: string): Promise<string> => {
  const session = cookie.slice(cookie.indexOf("=") + 1);
  return (await openVaultFromVars(env as unknown as Record<string, unknown>)).linkToken(`portal form\n${sha256Hex(session)}\n${path}`);
};
