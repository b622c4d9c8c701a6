// GET /v1/authorize: what a business asks of a person, checked and put into words. Reads only.
import { mayRead } from "../../../core/access/entitlement.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, type ClientId } from "../../../core/ids.ts";
import type { AskedScope } from "../../../core/shares/fields.ts";
import { boundOrigin, readWords, type GrantingClient } from "../../../core/shares/grant.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { grantingClient } from "../../../storage/share-clients.ts";
import type { Runtime, Stores } from "../../services.ts";
import { makeToken, type TokenBinding } from "./authorize-token.ts";

/** As it arrives; the shapes of all members are right. */
export interface ShareRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly origin: string;
  readonly asked: AskedScope;
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
export const bindingOf = (
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
export const authorizeRequest = async (services: Runtime & Stores, request: ShareRequest): Promise<Result<AuthorizedRequest>> => {
  const words = readWords(request.purpose, request.disclosureText);
  if (!words.ok) return words;
  const { clientId } = request;
  const client = clientId === null ? null : await grantingClient(services.homes.of(clientId), clientId);
  if (client === null) return refuse("client_not_found");
  const readable = mayRead(client.business.status);
  if (!readable.ok) return readable;
  const bound = boundOrigin(client, request.origin, services.config.environment === "development");
  if (!bound.ok) return bound;
  const { asked, durationDays, challenge, state } = request;
  const disclosureHash = sha256Hex(words.value.disclosureText);
  return ok({ client, origin: bound.value.origin, asked, ...words.value, disclosureHash, durationDays, challenge, state });
};

/** For programs that show the request themselves. */
export const tokenOf = (services: Runtime & Stores, request: AuthorizedRequest): Promise<string> => {
  const { clientId } = request.client;
  const content = { asked: request.asked, at: services.clock(), hasEvidence: false };
  return makeToken(services, homeOfId(clientId), content, bindingOf({ ...request, clientId }));
};
