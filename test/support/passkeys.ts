// Adds passkeys and signs in with them through the API, using the software authenticator.
import { Authenticator, type AuthenticatorOverrides } from "./authenticator.ts";
import { buildJsonRequest } from "./people.ts";
import { call, type TestResponse, type Call } from "./world.ts";

type Headers = Readonly<Record<string, string>>;

export const requestCreationOptions = async (headers: Headers, service: Call = call): Promise<TestResponse> =>
  service("/v1/me/passkeys/options", { method: "POST", headers });

/** Requests creation options, creates a passkey and registers it. Returns the last response. */
export const registerPasskey = async (
  headers: Headers,
  {
    lies = {},
    name,
    authenticator = new Authenticator(),
  }: { lies?: AuthenticatorOverrides; name?: string; authenticator?: Authenticator } = {},
): Promise<{ readonly response: TestResponse; readonly authenticator: Authenticator }> => {
  const optionsResponse = await requestCreationOptions(headers);
  if (optionsResponse.status !== 200) return { response: optionsResponse, authenticator };
  const credential = await authenticator.make(optionsResponse.body.data.options, lies);
  return { response: await call("/v1/me/passkeys", buildJsonRequest({ credential, name }, headers)), authenticator };
};

export const requestSignInOptions = async (service: Call = call) =>
  (await service("/v1/auth/passkey/options", { method: "POST" })).body.data.options as { rpId: string; challenge: string };

export const submitSignedCredential = (credential: object, headers: Headers = {}, service: Call = call): Promise<TestResponse> =>
  service("/v1/auth/passkey/verify", buildJsonRequest({ credential }, headers));

export const signInWithPasskey = async (
  authenticator: Authenticator,
  lies: AuthenticatorOverrides = {},
  headers: Headers = {},
): Promise<TestResponse> => submitSignedCredential(await authenticator.sign(await requestSignInOptions(), lies), headers);
