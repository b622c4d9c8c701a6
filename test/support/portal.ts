// Calls the portal's routes with a session and signs up new businesses.
import { env } from "cloudflare:workers";
import { findEmailCode, getCookie, clearCodes, submitEmailCode, buildJsonRequest } from "./people.ts";
import type { StubWeb } from "./stub-web.ts";
import { call, type TestResponse, type Call } from "./world.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export interface Person {
  readonly cookie: string;
}

export const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;

/** Calls the portal route with this path below /v1/business/portal. */
export const callPortal = (
  person: Person | null,
  method: Method,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  service: Call = call,
): Promise<TestResponse> =>
  service(`/v1/business/portal${path}`, {
    method,
    headers: {
      ...(person !== null && { cookie: person.cookie }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

export const signUp = (
  email: string,
  more: object = {},
  service: Call = call,
  headers: Record<string, string> = {},
): Promise<TestResponse> => service("/v1/business/signup", buildJsonRequest({ business_name: "Fresh Roofs LLC", email, ...more }, headers));

/** Signs up a business and verifies the owner's email. Returns the owner's cookie and the IDs of the business and the owner. */
export const signUpBusiness = async (
  email: string,
  more: object = {},
): Promise<Person & { readonly id: string; readonly userId: string }> => {
  await clearCodes();
  const signedUp = await signUp(email, more);
  if (signedUp.status !== 201) throw new Error(`not signed up: ${signedUp.text}`);
  const signedIn = await submitEmailCode(email, await findEmailCode(email), "business");
  if (signedIn.status !== 200) throw new Error(`not signed in: ${signedIn.text}`);
  return { cookie: getCookie(signedIn), id: signedUp.body.data.business.id, userId: signedIn.body.data.user.id };
};

/** Claims a domain and verifies it with a file that the stub web serves. */
export const verifyDomain = async (person: Person, domain: string, web: StubWeb): Promise<void> => {
  const { id, token } = (await callPortal(person, "POST", "/domains", { domain })).body.data as { id: string; token: string };
  web.resolve(domain, ["93.184.215.14"]);
  web.serve(
    `https://${domain}/.well-known/svc-verification.txt`,
    () => new Response(`svc-verify=${token}`, { headers: { "content-type": "text/plain" } }),
  );
  const verified = await callPortal(person, "POST", `/domains/${id}/verify`, { method: "well_known" });
  if (verified.status !== 200) throw new Error(`not verified: ${verified.text}`);
};

/** Counts the recorded reads of a certificate's personal data among the 200 newest audit entries of the member's business. */
export const countRecordedReads = async (person: Person, certId: string): Promise<number> => {
  const { entries, pending } = (await callPortal(person, "GET", "/audit?limit=200")).body.data as Record<
    "entries" | "pending",
    readonly { readonly type: string; readonly entity_id: string }[]
  >;
  return [...entries, ...pending].filter(({ type, entity_id }) => type === "certificate.subject_read" && entity_id === certId).length;
};

/**
 * Lists the types of a business's audit entries in the database, oldest first. Entries about reads stay in the database until the cron job
 * runs.
 */
export const listAuditEntryTypes = async (businessId: string): Promise<readonly string[]> => {
  const { results } = await env.DB.prepare(
    `WITH entries AS (SELECT ord, chain, type FROM audit_entries UNION ALL SELECT ord, chain, type FROM changes WHERE payload IS NOT NULL)
     SELECT o.type FROM entries o JOIN businesses b ON b.audit_chain = o.chain WHERE b.id = ? ORDER BY o.ord`,
  )
    .bind(businessId)
    .all<{ type: string }>();
  return results.map(({ type }) => type);
};
