// Passkeys as tests add them and sign in with them: through the doors, with an authenticator in software.
import { Authenticator, type AuthenticatorOverrides } from "./authenticator.ts";
import { buildJsonRequest } from "./people.ts";
import { call, type TestResponse, type Call } from "./world.ts";

type Headers = Readonly<Record<string, string>>;

export const requestCreationOptions = async (headers: Headers, service: Call = call): Promise<TestResponse> =>
  service("/v1/me/passkeys/options", { method: "POST", headers });

/** The options, an authenticator's answer to them, and our answer to that. */
export const registerPasskey = async (
  headers: Headers,
  {
    lies = {},
    name,
    authenticator = new Authenticator(),
  }: { lies?: AuthenticatorOverrides; name?: string; authenticator?: Authenticator } = {},
): Promise<{ readonly answer: TestResponse; readonly authenticator: Authenticator }> => {
  const asked = await requestCreationOptions(headers);
  if (asked.status !== 200) return { answer: asked, authenticator };
  const credential = await authenticator.make(asked.body.data.options, lies);
  return { answer: await call("/v1/me/passkeys", buildJsonRequest({ credential, name }, headers)), authenticator };
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
