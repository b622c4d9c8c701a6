import { authorizeRead } from "../../../core/access/entitlement.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { ClientId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { RequestedScope } from "../../../core/shares/fields.ts";
import { parseShareTerms, verifyRequestOrigin, type GrantingClient } from "../../../core/shares/grant.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { TokenBinding } from "./authorization-token.ts";

/** As it arrives; the shapes of all members are right. */
export interface ShareRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly origin: string;
  readonly asked: RequestedScope;
  readonly purpose: string;
  readonly disclosureText: string | null;
  readonly durationDays: number;
  readonly challenge: string;
  readonly state: string | null;
}

export interface AuthorizedRequest extends Omit<ShareRequest, "clientId"> {
  readonly client: GrantingClient;
  /** Empty where the business sent none. */
  readonly disclosureText: string;
  readonly disclosureHash: string;
}

/** The parameters that a decision repeats. The scope is in the token itself: the person may choose less of it. */
export const toTokenBinding = (
  request: Pick<AuthorizedRequest, "origin" | "purpose" | "disclosureText" | "durationDays" | "challenge" | "state"> & {
    readonly clientId: ClientId;
  },
): TokenBinding => ({
  client_id: request.clientId,
  origin: request.origin,
  purpose: request.purpose,
  disclosure_text: request.disclosureText,
  duration_days: request.durationDays,
  code_challenge: request.challenge,
  state: request.state,
});

/** Refuses, in this order: words that may not be shown, an unknown client, the account's state, an origin that is not the client's. */
export const authorizeShareRequest = async (services: ReadDependencies, request: ShareRequest): Promise<Result<AuthorizedRequest>> => {
  const words = parseShareTerms(request.purpose, request.disclosureText);
  if (!words.ok) return words;
  const { clientId } = request;
  const client = clientId === null ? null : await findGrantingClient(services.shards.forId(clientId), clientId);
  if (client === null) return refuse("client_not_found");
  const readable = authorizeRead(client.business.status);
  if (!readable.ok) return readable;
  const bound = verifyRequestOrigin(client, request.origin, services.config.environment === "development");
  if (!bound.ok) return bound;
  const { asked, durationDays, challenge, state } = request;
  const disclosureHash = sha256Hex(words.value.disclosureText);
  return ok({ client, origin: bound.value.origin, asked, ...words.value, disclosureHash, durationDays, challenge, state });
};
