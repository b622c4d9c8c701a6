// An OAuth connection request. The consent page's form contains it, sealed, while the person decides.
import type { Session } from "../../../core/access/session.ts";
import type { OAuthClient } from "../../../core/agents/oauth-client.ts";
import { parseRedirectUri } from "../../../core/agents/redirect-uri.ts";
import { toBase64Url } from "../../../core/bytes.ts";
import { minuteMs } from "../../../core/time.ts";
import type { Database } from "../../../storage/database.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "../access/sealed-notes.ts";

/** How long the signed-in person has to decide. */
const connectionRequestLifeMs = 10 * minuteMs;

const nonceBytes = 16;

export interface ConnectionRequest {
  readonly client: Pick<OAuthClient, "id" | "name" | "host">;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly challenge: string;
}

export interface PendingConnection extends ConnectionRequest {
  readonly nonce: string;
  readonly sessionHash: string;
  readonly realm: Session["realm"];
}

const toConnectionNoteScope = ({ userId }: Session): NoteScope => ({ name: "connection", owner: userId });

/** Seals the request for this session. Its nonce ensures that the person can approve it only once. */
export const sealConnectionRequest = (services: ReadDependencies, session: Session, request: ConnectionRequest): Promise<string> => {
  const { tokenHash: sessionHash, realm } = session;
  const pending: PendingConnection = { ...request, nonce: toBase64Url(services.random(nonceBytes)), sessionHash, realm };
  return sealNote(services, toConnectionNoteScope(session), pending, connectionRequestLifeMs);
};

/**
 * Opens a sealed request. Returns null if it belongs to another session or person, is older than ten minutes, or was not sealed by this
 * service.
 */
export const openConnectionRequest = async (
  services: ReadDependencies,
  session: Session,
  sealed: string,
): Promise<PendingConnection | null> => {
  const pending = (await openNote<PendingConnection>(services, toConnectionNoteScope(session), sealed))?.content;
  return pending?.sessionHash === session.tokenHash && pending.realm === session.realm ? pending : null;
};

/** Returns a redirect URI's host, or an empty string if the URI is invalid. */
export const getRedirectHost = (redirectUri: string): string => parseRedirectUri(redirectUri)?.host ?? "";

export const getSessionDatabase = (services: Stores, session: Session): Database => services.shards.forId(session.userId);
