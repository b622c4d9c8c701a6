// One POST request to the API. The promise never rejects and always settles within its time limit, so a failure cannot block a form.

import type { Problem } from "./events.ts";

export type ApiResult<T> = { data: T; problem?: never } | { data?: never; problem: Problem };

/**
 * Calls the API. Every successful response of the API contains `requiredKey` in its data. A 2xx response without this key did not come from
 * the API and becomes `bad_response`.
 */
export function callApi<T>(url: string, request: RequestInit, budgetMs: number, requiredKey: keyof T): Promise<ApiResult<T>> {
  const result = new Promise<ApiResult<T>>((resolve, reject) => {
    const controller = new AbortController();
    // Settles the promise without waiting for the abort, because the page may have replaced fetch with a version that ignores the signal.
    setTimeout(() => {
      resolve({ problem: { code: "timeout" } });
      controller.abort();
    }, budgetMs);
    post(url, Object.assign({ method: "POST", credentials: "omit", signal: controller.signal }, request), requiredKey).then(
      resolve,
      reject,
    );
  });
  return result.catch(() => ({ problem: { code: "network" } }));
}

async function post<T>(url: string, request: RequestInit, requiredKey: keyof T): Promise<ApiResult<T>> {
  // Do not set a content type: the string body is then sent as text/plain, which needs no preflight. Do not set `keepalive`: the browser
  // would not cancel a keepalive request on abort, and the API could issue a certificate for a form that was sent without one.
  const response = await fetch(url, request);
  return parseApiResponse(response, await response.text(), requiredKey);
}

function parseApiResponse<T>({ ok: isSuccess, status }: Response, text: string, requiredKey: keyof T): ApiResult<T> {
  let body: { ok?: boolean; data?: T; error?: Problem; request_id?: string } = {};
  try {
    body = Object(JSON.parse(text));
  } catch {
    // The response did not come from the API, but for example from a proxy, so only its status is used.
  }
  const { data, error, request_id } = body;
  if (isSuccess && body.ok && Object(data)[requiredKey]) return { data: data as T };
  const { code, message }: Partial<Problem> = Object(error);
  return { problem: { code: code || (isSuccess ? "bad_response" : `http_${status}`), message, request_id } };
}
