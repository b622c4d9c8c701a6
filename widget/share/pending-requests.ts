// Requests that wait for their answer. They stand in sessionStorage before a window opens, because nobody knows beforehand
// whether the answer meets this page, its next loading, or the window that opened. Where storage throws they live in
// memory, and only the opener's way is left.

import type { ShareRequestBase } from "./offers.ts";
import type { DisplayMode } from "./options.ts";

export interface PendingRequest extends ShareRequestBase {
  state: string;
  verifier: string;
  client_id: string;
  api: string;
  /** The sheet with the whole request. */
  address: string;
  display: DisplayMode;
  started: number;
  /** The page as it was left, fragment included. */
  return_href: string;
}

const storagePrefix = "svc:share:";
/** An hour: longer than anybody signs in and decides; the sheet itself gives up after ten minutes. */
const pendingLifetimeMs = 3_600_000;
/** A record holds a request of up to 16 KB. */
const maxPendingRequests = 3;

export function savePending(pending: PendingRequest): void {
  try {
    sessionStorage.setItem(storagePrefix + pending.state, JSON.stringify(pending));
    for (const { state } of listPending().slice(maxPendingRequests)) deletePending(state);
  } catch {
    // Storage is switched off or full: the opener's way needs none.
  }
}

export function deletePending(state: string): void {
  try {
    sessionStorage.removeItem(storagePrefix + state);
  } catch {
    // Then there is nothing to forget.
  }
}

export function findPending(state: string): PendingRequest | undefined {
  return listPending().find((pending) => pending.state === state);
}

/** The newest first; what is too old is dropped by looking. */
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
