// Authorizes a request for contact fields before it is shown to the person.
import { authorizeRead } from "../../../core/access/entitlement.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { ClientId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { RequestedScope } from "../../../core/shares/fields.ts";
import { parseShareTerms, verifyRequestOrigin, type GrantingClient } from "../../../core/shares/grant.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { TokenBinding } from "./authorization-token.ts";

/** The request as received. Only the types of its properties have been validated. */
export interface ShareRequest {
  /** The client ID; null if the received text is not a client ID. */
  readonly clientId: ClientId | null;
  readonly origin: string;
  readonly requestedScope: RequestedScope;
  readonly purpose: string;
  readonly disclosureText: string | null;
  readonly durationDays: number;
  readonly challenge: string;
  readonly state: string | null;
}

export interface AuthorizedRequest extends Omit<ShareRequest, "clientId"> {
  readonly client: GrantingClient;
  /** The disclosure text; empty if the business sent none. */
  readonly disclosureText: string;
  readonly disclosureHash: string;
}

/**
 * Returns the parameters that a decision must repeat exactly. Leaves out the scope, because the person may share only a part of it. The
 * token contains the scope instead.
 */
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

/**
 * Returns the request with its client (SPEC Share). Errors are checked in this order: `invalid_request` for an invalid purpose or
 * disclosure text, `client_not_found`, the errors for the business's account status, and `origin_mismatch`.
 */
export const authorizeShareRequest = async (services: ReadDependencies, request: ShareRequest): Promise<Result<AuthorizedRequest>> => {
  const terms = parseShareTerms(request.purpose, request.disclosureText);
  if (!terms.ok) return terms;
  const { clientId } = request;
  const client = clientId === null ? null : await findGrantingClient(services.shards.forId(clientId), clientId);
  if (client === null) return refuse("client_not_found");
  const readable = authorizeRead(client.business.status);
  if (!readable.ok) return readable;
  const verified = verifyRequestOrigin(client, request.origin, services.config.environment === "development");
  if (!verified.ok) return verified;
  const { requestedScope, durationDays, challenge, state } = request;
  const disclosureHash = sha256Hex(terms.value.disclosureText);
  return ok({ client, origin: verified.value.origin, requestedScope, ...terms.value, disclosureHash, durationDays, challenge, state });
};
