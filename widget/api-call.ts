// One POST to the API and what came of it. It never rejects and never outlives its budget: whatever happens, the page goes on.

import type { Problem } from "./events.ts";

export type ApiResult<T> = { data: T; problem?: never } | { data?: never; problem: Problem };

/** `mark` is a key that the data of every success holds; without it the answer is not the API's. */
export function callApi<T>(url: string, request: RequestInit, budgetMs: number, mark: keyof T): Promise<ApiResult<T>> {
  const answered = new Promise<ApiResult<T>>((resolve, reject) => {
    const controller = new AbortController();
    // Whichever comes first counts. The abort alone would not do: a replaced fetch may ignore the signal.
    setTimeout(() => {
      resolve({ problem: { code: "timeout" } });
      controller.abort();
    }, budgetMs);
    post(url, Object.assign({ signal: controller.signal }, request), mark).then(resolve, reject);
  });
  return answered.catch(() => ({ problem: { code: "network" } }));
}

async function post<T>(url: string, request: RequestInit, mark: keyof T): Promise<ApiResult<T>> {
  // A string body without a type goes as text/plain, which needs no preflight. No `keepalive`: the browser would not cancel
  // such a request on abort, and a certificate would be issued for a form that has already gone without one.
  const response = await fetch(url, Object.assign({ method: "POST", credentials: "omit" }, request));
  return parseApiResponse(response, await response.text(), mark);
}

function parseApiResponse<T>({ ok: isSuccess, status }: Response, text: string, mark: keyof T): ApiResult<T> {
  let answer: { ok?: boolean; data?: T; error?: Problem; request_id?: string } = {};
  try {
    answer = Object(JSON.parse(text));
  } catch {
    // Not ours, then: a proxy's page, an empty answer. The status alone says what is known.
  }
  const { data, error, request_id } = answer;
  if (isSuccess && answer.ok && data?.[mark]) return { data };
  const { code, message }: Partial<Problem> = Object(error);
  return { problem: { code: code || (isSuccess ? "bad_response" : `http_${status}`), message, request_id } };
}
