// Assistants as tests connect them by OAuth: a program that registers itself, a person who allows it, and the exchange.
import { base64UrlOf } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { call, type Answer, type Call } from "./world.ts";

export const loopback = "http://127.0.0.1:7777/callback";
export const verifier = "verifier-of-the-tests-43-characters-or-more-0";
export const challengeOf = (text: string): string => base64UrlOf(sha256(text));

export const register = (body: object, service: Call = call): Promise<Answer> =>
  service("/oauth/register", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const registered = async (body: object = {}): Promise<string> =>
  (await register({ client_name: "Helper", redirect_uris: [loopback], ...body })).body.client_id;

type Changes = Readonly<Record<string, string | null>>;

const withChanges = (fields: Changes, changes: Changes): URLSearchParams =>
  new URLSearchParams(Object.entries({ ...fields, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null));

export const authorizePath = (clientId: string, changes: Changes = {}): string =>
  `/oauth/authorize?${withChanges(
    {
      response_type: "code",
      client_id: clientId,
      redirect_uri: loopback,
      code_challenge: challengeOf(verifier),
      code_challenge_method: "S256",
      state: "a state",
      resource: "http://svc.test/mcp",
    },
    changes,
  )}`;

export const form = (fields: Changes, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  redirect: "manual",
  headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...headers },
  body: withChanges(fields, {}).toString(),
});

const sealedIn = ({ text }: Answer): string => /name="request" value="([^"]+)"/.exec(text)?.[1] ?? "";

/** The page, as a person who is signed in sees it, with what its form carries. */
export const consentPage = async (clientId: string, session: { cookie: string }, changes: Changes = {}) => {
  const page = await call(authorizePath(clientId, changes), { headers: session });
  return { page, sealed: sealedIn(page) };
};

export const decide = (sealed: string, decision: string, headers: Record<string, string>): Promise<Answer> =>
  call("/oauth/authorize/decide", form({ request: sealed, decision }, headers));

export const answerIn = (answer: Answer): URLSearchParams => new URL(answer.headers.get("location") ?? "http://none.test").searchParams;

/** The code of a person who allows it. */
export const allowed = async (
  clientId: string,
  session: { cookie: string },
  changes: Changes = {},
  decision = "allow",
): Promise<string> => {
  const { sealed } = await consentPage(clientId, session, changes);
  return answerIn(await decide(sealed, decision, session)).get("code") ?? "";
};

export const exchange = (code: string, clientId: string, changes: Changes = {}, headers: Record<string, string> = {}): Promise<Answer> => {
  const fields = { grant_type: "authorization_code", code, client_id: clientId, redirect_uri: loopback, code_verifier: verifier };
  return call("/oauth/token", form({ ...fields, ...changes }, headers));
};
