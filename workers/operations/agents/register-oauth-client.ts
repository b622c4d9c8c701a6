// Dynamic client registration (RFC 7591). The client ID contains the whole registration, so nothing is stored.
import {
  parseClientRegistration,
  registeredClientPrefix,
  isClientIdTooLong,
  type ClientRegistration,
  type RegistrationFault,
} from "../../../core/agents/oauth-client.ts";
import { toBase64Url, encodeUtf8 } from "../../../core/bytes.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { computeRegistrationMac, deriveClientSecret, type SignedRegistration } from "./registered-clients.ts";

const saltBytes = 16;

export interface RegisteredClient extends ClientRegistration {
  readonly id: string;
  /** The client's secret; null for a public client. */
  readonly secret: string | null;
}

/** Registers a client with redirect URIs on allowed hosts, or returns what is wrong with the request. */
export const registerOAuthClient = async (services: ReadDependencies, body: unknown): Promise<RegisteredClient | RegistrationFault> => {
  const { config, random } = services;
  const registration = parseClientRegistration(
    body,
    config.oauthHosts.filter((host) => !config.oauthBlockedHosts.includes(host)),
  );
  if (typeof registration === "string") return registration;
  const { name, redirectUris, authentication } = registration;
  // The salt gives each registration a different ID. Without it, repeating a client's registration would return that client's secret.
  const salt = authentication === "none" ? "" : toBase64Url(random(saltBytes));
  const payload = toBase64Url(encodeUtf8(JSON.stringify([name, redirectUris, authentication, salt] satisfies SignedRegistration)));
  const id = `${registeredClientPrefix}${payload}.${await computeRegistrationMac(services, payload)}`;
  if (isClientIdTooLong(id)) return "invalid_client_metadata";
  return { ...registration, id, secret: authentication === "none" ? null : await deriveClientSecret(services, id) };
};
