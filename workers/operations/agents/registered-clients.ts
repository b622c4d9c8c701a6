// OAuth clients whose registration is encoded and authenticated in their client ID.
import {
  registeredClientPrefix,
  isClientIdTooLong,
  clientFromRegistration,
  type ClientRegistration,
  type OAuthClient,
} from "../../../core/agents/oauth-client.ts";
import { fromBase64Url } from "../../../core/bytes.ts";
import type { Stores } from "../dependencies.ts";

export type SignedRegistration = readonly [
  name: string | null,
  redirectUris: readonly string[],
  authentication: ClientRegistration["authentication"],
  salt: string,
];

const toMacPurpose = (payload: string): string => `oauth client\n${payload}`;
const toSecretPurpose = (id: string): string => `oauth secret\n${id}`;

export const computeRegistrationMac = ({ vault }: Stores, payload: string): Promise<string> => vault.linkToken(toMacPurpose(payload));

/** Derives a registered client's secret from its ID and a secret key. */
export const deriveClientSecret = ({ vault }: Stores, id: string): Promise<string> => vault.linkToken(toSecretPurpose(id));

/** Returns whether the secret belongs to the registered client with this ID. Compares in constant time. */
export const isRegisteredClientSecret = ({ vault }: Stores, id: string, secret: string): Promise<boolean> =>
  vault.isLinkToken(toSecretPurpose(id), secret);

/** Decodes a client ID. Returns null if this service did not issue it. */
export const parseRegisteredClient = async (services: Stores, id: string): Promise<OAuthClient | null> => {
  if (!id.startsWith(registeredClientPrefix)) return null;
  const [payload = "", mac = "", more] = id.slice(registeredClientPrefix.length).split(".");
  const bytes = fromBase64Url(payload);
  if (isClientIdTooLong(id) || more !== undefined || bytes === null || !(await services.vault.isLinkToken(toMacPurpose(payload), mac)))
    return null;
  const [name, redirectUris, authentication] = JSON.parse(new TextDecoder().decode(bytes)) as SignedRegistration;
  return clientFromRegistration(id, { name, redirectUris, authentication });
};
