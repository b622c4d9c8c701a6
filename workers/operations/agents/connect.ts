// A person lets a program be connected. What the page showed goes along in its form, sealed for this person and session; allowing it
// writes one code, whatever is pressed twice.
import { tokenHolder } from "../../../core/agents/token.ts";
import type { OAuthClient } from "../../../core/agents/oauth-client.ts";
import { redirectUriOf } from "../../../core/agents/redirect-uri.ts";
import type { Session } from "../../../core/access/session.ts";
import { base64UrlOf } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newSecret } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { minuteMs } from "../../../core/time.ts";
import { tokensOfClient } from "../../../storage/agents.ts";
import type { Database } from "../../../storage/database.ts";
import { insertOAuthCode, isAnsweredAlready } from "../../../storage/oauth-codes.ts";
import type { Runtime, Stores } from "../../services.ts";
import { openNote, sealNote, type NotePlace } from "../access/sealed-notes.ts";

const requestLifeMs = 10 * minuteMs;
const codeLifeMs = 5 * minuteMs; // people carry an answer by hand from one machine to another
const nonceBytes = 16;

/** What a person is asked to allow. */
export interface ConnectionRequest {
  readonly client: Pick<OAuthClient, "id" | "name" | "host">;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly challenge: string;
}

interface Pending extends ConnectionRequest {
  readonly nonce: string;
  readonly sessionHash: string;
  readonly realm: Session["realm"];
}

const placeOf = ({ userId }: Session): NotePlace => ({ name: "connection", owner: userId });

export const sealRequest = (services: Runtime & Stores, session: Session, request: ConnectionRequest): Promise<string> => {
  const { tokenHash: sessionHash, realm } = session;
  const pending: Pending = { ...request, nonce: base64UrlOf(services.random(nonceBytes)), sessionHash, realm };
  return sealNote(services, placeOf(session), pending, requestLifeMs);
};

/** Null for a form of another session or person, one that is too old, and whatever we did not seal. */
export const openRequest = async (services: Runtime & Stores, session: Session, sealed: string): Promise<Pending | null> => {
  const pending = (await openNote<Pending>(services, placeOf(session), sealed))?.content;
  return pending?.sessionHash === session.tokenHash && pending.realm === session.realm ? pending : null;
};

export const redirectHostOf = (redirectUri: string): string => redirectUriOf(redirectUri)?.host ?? "";

const databaseOf = (services: Stores, session: Session): Database => services.homes.of(session.userId);

/** Whether the same program is connected already, by the same way back. */
export const isConnected = async (services: Runtime & Stores, session: Session, request: ConnectionRequest): Promise<boolean> => {
  const of = { principalId: session.userId, clientId: request.client.id, redirectHost: redirectHostOf(request.redirectUri) };
  return (await tokensOfClient(databaseOf(services, session), of, services.clock())).length > 0;
};

/** The code for the program; null where the page was answered before. */
export const allowConnection = async (
  services: Runtime & Stores,
  session: Session,
  pending: Pending,
  { replaces, language }: { readonly replaces: boolean; readonly language: MailLanguage },
): Promise<string | null> => {
  const { realm, principalId, businessId } = tokenHolder(session);
  const now = services.clock();
  const code = newSecret("oac_", homeOfId(principalId), services.random);
  const { client, redirectUri, challenge, nonce } = pending;
  try {
    await insertOAuthCode(databaseOf(services, session), {
      codeHash: sha256Hex(code),
      nonceHash: sha256Hex(nonce),
      realm,
      principalId,
      businessId,
      clientId: client.id,
      clientName: client.name,
      clientHost: client.host,
      redirectUri,
      challenge,
      replaces,
      language,
      createdAt: now,
      expiresAt: now + codeLifeMs,
    }).run();
    return code;
  } catch (error) {
    if (isAnsweredAlready(error)) return null;
    throw error;
  }
};
