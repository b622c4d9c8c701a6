// Sharing for tests, through the doors: a person with fields, a request, a grant, its redemption.
import { sha256Hex } from "../../core/hash.ts";
import { challengeOf } from "../../core/shares/pkce.ts";
import { json, signIn } from "./people.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { call, origin, world, type Answer, type Call } from "./world.ts";

let people = 0;
/** An address that nobody else in the file uses. */
export const freshPerson = (): string => {
  people += 1;
  return `person-${people}-${crypto.randomUUID().slice(0, 8)}@example.com`;
};

export const values = {
  email: "pat@example.com",
  phone: "+1 202 555 0123",
  address_line1: "12 Long Street",
  city: "Testville",
  zip: "94000",
  country: "US",
  first_name: "Pat",
  last_name: "Example",
};

export interface SignedPerson {
  readonly email: string;
  readonly headers: { readonly cookie: string };
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly put: (path: string, body: unknown) => Promise<Answer>;
}

/** Signs in a person, with these contact fields. */
export const person = async (fields: Record<string, string | null> = values, service: Call = call): Promise<SignedPerson> => {
  const email = freshPerson();
  const headers = await signIn(email, "consumer");
  const signed: SignedPerson = {
    email,
    headers,
    get: (path) => service(path, { headers }),
    post: (path, body, more = {}) => service(path, json(body, { ...headers, ...more })),
    put: (path, body) => service(path, { ...json(body, headers), method: "PUT" }),
  };
  if (Object.keys(fields).length > 0) {
    const answer = await signed.put("/v1/me/fields", fields);
    if (answer.status !== 200) throw new Error(`no fields: ${answer.text}`);
  }
  return signed;
};

/** 43 characters that nobody else has. */
export const freshVerifier = (): string => sha256Hex(crypto.randomUUID()).slice(0, 43);

export const decision = (verifier: string, change: object = {}, business: DemoBusiness = world.acme) => ({
  client_id: business.clients.live,
  origin,
  scope: ["email", "phone"],
  purpose: "Send you a solar estimate",
  code_challenge: challengeOf(verifier),
  code_challenge_method: "S256",
  consent: true,
  ...change,
});

export interface Grant {
  readonly verifier: string;
  readonly code: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly share: any;
}

export const grant = async (by: SignedPerson, change: object = {}, business: DemoBusiness = world.acme): Promise<Grant> => {
  const verifier = freshVerifier();
  const answer = await by.post("/v1/share/consent", decision(verifier, change, business));
  if (answer.status !== 201) throw new Error(`not granted: ${answer.text}`);
  return { verifier, code: answer.body.data.code, share: answer.body.data.share };
};

export const redeem = (
  { code, verifier }: { readonly code: string; readonly verifier: string },
  change: object = {},
  headers: Record<string, string> = { origin },
  service: Call = call,
): Promise<Answer> =>
  service("/v1/share/redeem", json({ code, code_verifier: verifier, client_id: world.acme.clients.live, ...change }, headers));

const keyed = (key: string = world.acme.keys.live) => ({ authorization: `Bearer ${key}` });
export const read = (path: string, key?: string, service: Call = call): Promise<Answer> => service(path, { headers: keyed(key) });
export const write = (path: string, body: unknown, key?: string, service: Call = call): Promise<Answer> =>
  service(path, json(body, keyed(key)));

export const outcome = (answer: Answer): string => `${answer.status} ${answer.body?.error?.code ?? "ok"}`;

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export const allEvents = async (key?: string, service: Call = call): Promise<any[]> => {
  const events = [];
  for (let cursor = 0; ; ) {
    const page = (await read(`/v1/events?cursor=${cursor}&limit=500`, key, service)).body.data;
    events.push(...page.events);
    if (!page.has_more) return events;
    cursor = page.next_cursor;
  }
};
