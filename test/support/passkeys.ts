// Passkeys as tests add them and sign in with them: through the doors, with an authenticator in software.
import { Authenticator, type Lies } from "./authenticator.ts";
import { json } from "./people.ts";
import { call, type Answer, type Call } from "./world.ts";

type Headers = Readonly<Record<string, string>>;

export const askToMake = async (headers: Headers, service: Call = call): Promise<Answer> =>
  service("/v1/me/passkeys/options", { method: "POST", headers });

/** The options, an authenticator's answer to them, and our answer to that. */
export const addPasskey = async (
  headers: Headers,
  { lies = {}, name, authenticator = new Authenticator() }: { lies?: Lies; name?: string; authenticator?: Authenticator } = {},
): Promise<{ readonly answer: Answer; readonly authenticator: Authenticator }> => {
  const asked = await askToMake(headers);
  if (asked.status !== 200) return { answer: asked, authenticator };
  const credential = await authenticator.make(asked.body.data.options, lies);
  return { answer: await call("/v1/me/passkeys", json({ credential, name }, headers)), authenticator };
};

export const askToSign = async (service: Call = call) =>
  (await service("/v1/auth/passkey/options", { method: "POST" })).body.data.options as { rpId: string; challenge: string };

export const giveSigned = (credential: object, headers: Headers = {}, service: Call = call): Promise<Answer> =>
  service("/v1/auth/passkey/verify", json({ credential }, headers));

export const signInWith = async (authenticator: Authenticator, lies: Lies = {}, headers: Headers = {}): Promise<Answer> =>
  giveSigned(await authenticator.sign(await askToSign(), lies), headers);
