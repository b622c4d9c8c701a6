// Requests that wait for their answer. They stand in sessionStorage before a window opens, because nobody knows beforehand
// whether the answer meets this page, its next loading, or the window that opened. Where storage throws they live in
// memory, and only the opener's way is left.

import type { Asked } from "./offers.ts";
import type { Display } from "./options.ts";

export interface Pending extends Asked {
  state: string;
  verifier: string;
  client_id: string;
  api: string;
  /** The sheet with the whole request. */
  address: string;
  display: Display;
  started: number;
  /** The page as it was left, fragment included. */
  return_href: string;
}

const prefix = "svc:share:";
/** An hour: longer than anybody signs in and decides; the sheet itself gives up after ten minutes. */
const kept = 3_600_000;
/** A record holds a request of up to 16 KB. */
const maxKept = 3;

export function remember(pending: Pending): void {
  try {
    sessionStorage.setItem(prefix + pending.state, JSON.stringify(pending));
    for (const { state } of remembered().slice(maxKept)) forget(state);
  } catch {
    // Storage is switched off or full: the opener's way needs none.
  }
}

export function forget(state: string): void {
  try {
    sessionStorage.removeItem(prefix + state);
  } catch {
    // Then there is nothing to forget.
  }
}

export function recall(state: string): Pending | undefined {
  return remembered().find((pending) => pending.state === state);
}

/** The newest first; what is too old is dropped by looking. */
export function remembered(): Pending[] {
  try {
    const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
    const all = keys.map((key) => JSON.parse(String(sessionStorage.getItem(key))) as Pending);
    for (const { state, started } of all) if (started < Date.now() - kept) forget(state);
    return all.filter(({ started }) => started >= Date.now() - kept).sort((a, b) => b.started - a.started);
  } catch {
    return [];
  }
}
