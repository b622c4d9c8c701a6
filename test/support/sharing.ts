// Shares data through the API: signs in a person with contact fields, makes a decision, grants a share and redeems its code.
import { sha256Hex } from "../../core/hash.ts";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { buildJsonRequest, signIn } from "./people.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { call, origin, world, type TestResponse, type Call } from "./world.ts";

let peopleCount = 0;
/** Returns an email address that no other test in the file uses. */
export const createPersonEmail = (): string => {
  peopleCount += 1;
  return `person-${peopleCount}-${crypto.randomUUID().slice(0, 8)}@example.com`;
};

export const contactValues = {
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
  readonly get: (path: string) => Promise<TestResponse>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<TestResponse>;
  readonly put: (path: string, body: unknown) => Promise<TestResponse>;
}

/** Signs in a new person and saves these contact fields. By default, the person has a new address. */
export const signInPerson = async (
  fields: Record<string, string | null> = contactValues,
  service: Call = call,
  email: string = createPersonEmail(),
): Promise<SignedPerson> => {
  const headers = await signIn(email, "consumer");
  const signed: SignedPerson = {
    email,
    headers,
    get: (path) => service(path, { headers }),
    post: (path, body, more = {}) => service(path, buildJsonRequest(body, { ...headers, ...more })),
    put: (path, body) => service(path, { ...buildJsonRequest(body, headers), method: "PUT" }),
  };
  if (Object.keys(fields).length > 0) {
    const response = await signed.put("/v1/me/fields", fields);
    if (response.status !== 200) throw new Error(`fields not saved: ${response.text}`);
  }
  return signed;
};

export const createVerifier = (): string => sha256Hex(crypto.randomUUID()).slice(0, 43);

export const buildDecision = (verifier: string, change: object = {}, business: DemoBusiness = world.acme) => ({
  client_id: business.clients.live,
  origin,
  scope: ["email", "phone"],
  purpose: "Send you a solar estimate",
  code_challenge: computeCodeChallenge(verifier),
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

export const grantShare = async (person: SignedPerson, change: object = {}, business: DemoBusiness = world.acme): Promise<Grant> => {
  const verifier = createVerifier();
  const response = await person.post("/v1/share/consent", buildDecision(verifier, change, business));
  if (response.status !== 201) throw new Error(`not granted: ${response.text}`);
  return { verifier, code: response.body.data.code, share: response.body.data.share };
};

export const redeemCode = (
  { code, verifier }: { readonly code: string; readonly verifier: string },
  change: object = {},
  headers: Record<string, string> = { origin },
  service: Call = call,
): Promise<TestResponse> =>
  service("/v1/share/redeem", buildJsonRequest({ code, code_verifier: verifier, client_id: world.acme.clients.live, ...change }, headers));

const buildBearerHeader = (key: string = world.acme.keys.live) => ({ authorization: `Bearer ${key}` });
export const getWithApiKey = (path: string, key?: string, service: Call = call): Promise<TestResponse> =>
  service(path, { headers: buildBearerHeader(key) });
export const postWithApiKey = (path: string, body: unknown, key?: string, service: Call = call): Promise<TestResponse> =>
  service(path, buildJsonRequest(body, buildBearerHeader(key)));

export const describeOutcome = (response: TestResponse): string => `${response.status} ${response.body?.error?.code ?? "ok"}`;

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export const listAllEvents = async (key?: string): Promise<any[]> => {
  const events = [];
  for (let cursor = 0; ; ) {
    const page = (await getWithApiKey(`/v1/events?cursor=${cursor}&limit=500`, key)).body.data;
    events.push(...page.events);
    if (!page.has_more) return events;
    cursor = page.next_cursor;
  }
};
