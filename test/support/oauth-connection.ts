// Runs the OAuth flow that connects an agent: client registration, the consent page, the decision and the token exchange.
import { toBase64Url } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { call, type TestResponse, type Call } from "./world.ts";

export const loopback = "http://127.0.0.1:7777/callback";
export const verifier = "verifier-of-the-tests-43-characters-or-more-0";
export const createChallenge = (text: string): string => toBase64Url(sha256(text));

export const postRegistration = (body: object, service: Call = call): Promise<TestResponse> =>
  service("/oauth/register", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const registerClient = async (body: object = {}, service: Call = call): Promise<string> =>
  (await postRegistration({ client_name: "Helper", redirect_uris: [loopback], ...body }, service)).body.client_id;

type Changes = Readonly<Record<string, string | null>>;

const withChanges = (fields: Changes, changes: Changes): URLSearchParams =>
  new URLSearchParams(Object.entries({ ...fields, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null));

export const buildAuthorizePath = (clientId: string, changes: Changes = {}): string =>
  `/oauth/authorize?${withChanges(
    {
      response_type: "code",
      client_id: clientId,
      redirect_uri: loopback,
      code_challenge: createChallenge(verifier),
      code_challenge_method: "S256",
      state: "a state",
      resource: "http://svc.test/mcp",
    },
    changes,
  )}`;

export const buildForm = (fields: Changes, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  redirect: "manual",
  headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...headers },
  body: withChanges(fields, {}).toString(),
});

const parseSealedRequest = ({ text }: TestResponse): string => /name="request" value="([^"]+)"/.exec(text)?.[1] ?? "";

/** Opens the consent page with a session. Returns the page and the sealed request from its form. */
export const openConsentPage = async (clientId: string, session: { cookie: string }, changes: Changes = {}) => {
  const page = await call(buildAuthorizePath(clientId, changes), { headers: session });
  return { page, sealed: parseSealedRequest(page) };
};

export const postDecision = (sealed: string, decision: string, headers: Record<string, string>): Promise<TestResponse> =>
  call("/oauth/authorize/decide", buildForm({ request: sealed, decision }, headers));

export const parseRedirectParameters = (response: TestResponse): URLSearchParams =>
  new URL(response.headers.get("location") ?? "http://none.test").searchParams;

/** Submits the decision on the consent page and returns the authorization code, or an empty string if access is denied. */
export const getAuthorizationCode = async (
  clientId: string,
  session: { cookie: string },
  changes: Changes = {},
  decision = "allow",
): Promise<string> => {
  const { sealed } = await openConsentPage(clientId, session, changes);
  return parseRedirectParameters(await postDecision(sealed, decision, session)).get("code") ?? "";
};

export const exchangeCode = (
  code: string,
  clientId: string,
  changes: Changes = {},
  headers: Record<string, string> = {},
  service: Call = call,
): Promise<TestResponse> => {
  const fields = { grant_type: "authorization_code", code, client_id: clientId, redirect_uri: loopback, code_verifier: verifier };
  return service("/oauth/token", buildForm({ ...fields, ...changes }, headers));
};
