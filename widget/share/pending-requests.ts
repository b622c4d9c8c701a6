// Share requests that have no response yet. They are saved in sessionStorage before a window opens, because the response may arrive at this
// page, at this page after a reload, or in the opened window. If sessionStorage throws, only this page can receive the response.

import type { DisplayMode, ShareRequestBase } from "./options.ts";

export interface PendingRequest extends ShareRequestBase {
  state: string;
  verifier: string;
  client_id: string;
  api: string;
  /** The sheet's URL, which contains the whole request. */
  address: string;
  display: DisplayMode;
  started: number;
  /** The page's URL when the button was clicked, with its fragment. */
  return_href: string;
}

const storagePrefix = "svc:share:";
/** One hour. The sheet expires much earlier, after ten minutes. */
const pendingLifetimeMs = 3_600_000;
/** The number of stored requests is limited because each takes up to 16 KB. */
const maxPendingRequests = 3;

export function savePending(pending: PendingRequest): void {
  try {
    sessionStorage.setItem(storagePrefix + pending.state, JSON.stringify(pending));
    for (const { state } of listPending().slice(maxPendingRequests)) deletePending(state);
  } catch {
    // Storage is disabled or full. Messages from the sheet to this page still work.
  }
}

export function deletePending(state: string): void {
  try {
    sessionStorage.removeItem(storagePrefix + state);
  } catch {
    // Storage is disabled, so nothing was stored.
  }
}

export function findPending(state: string): PendingRequest | undefined {
  return listPending().find((pending) => pending.state === state);
}

/** Lists pending requests, newest first, and deletes expired ones. */
export function listPending(): PendingRequest[] {
  try {
    const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(storagePrefix));
    const all = keys.map((key) => JSON.parse(String(sessionStorage.getItem(key))) as PendingRequest);
    for (const { state, started } of all) if (started < Date.now() - pendingLifetimeMs) deletePending(state);
    return all.filter(({ started }) => started >= Date.now() - pendingLifetimeMs).sort((a, b) => b.started - a.started);
  } catch {
    return [];
  }
}
