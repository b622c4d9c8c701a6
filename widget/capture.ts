// The one request. It never rejects and never outlives its budget: whatever happens, the form goes out (fails open).

import type { Config } from "./attributes.ts";
import type { Problem } from "./events.ts";

/** What the API answered, whole: only the caller of certify() gets it so, because `manage_url` is in it. */
export interface Receipt {
  cert_id: string;
  fingerprint: string;
  verify_url: string;
}

export type Outcome = { receipt: Receipt; problem?: never } | { receipt?: never; problem: Problem };

export function capture({ apiBase, budgetMs }: Config, body: string): Promise<Outcome> {
  const answered = new Promise<Outcome>((resolve, reject) => {
    const controller = new AbortController();
    // Whichever comes first counts. The abort alone would not do: a replaced fetch may ignore the signal.
    setTimeout(() => {
      resolve({ problem: { code: "timeout" } });
      controller.abort();
    }, budgetMs);
    post(`${apiBase}/consent`, body, controller.signal).then(resolve, reject);
  });
  return answered.catch(() => ({ problem: { code: "network" } }));
}

async function post(url: string, body: string, signal: AbortSignal): Promise<Outcome> {
  // A string body goes as text/plain, which needs no preflight. No `keepalive`: the browser would not cancel such a
  // request on abort, and a certificate would be issued for a form that has already gone without one.
  const response = await fetch(url, { method: "POST", body, signal, credentials: "omit" });
  return readAnswer(response, await response.text());
}

function readAnswer({ ok: isSuccess, status }: Response, text: string): Outcome {
  let answer: { ok?: boolean; data?: Receipt; error?: Problem; request_id?: string } = {};
  try {
    answer = Object(JSON.parse(text));
  } catch {
    // Not ours, then: a proxy's page, an empty answer. The status alone says what is known.
  }
  const { data, error, request_id } = answer;
  if (isSuccess && answer.ok && data?.cert_id) return { receipt: data };
  const { code, message }: Partial<Problem> = Object(error);
  return { problem: { code: code || (isSuccess ? "bad_response" : `http_${status}`), message, request_id } };
}
