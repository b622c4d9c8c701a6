// Calls the running service while keys and secrets are rotated.
import type { RotationOptions, StoredStepResult } from "./rotate.ts";
import type { ReplaceSecrets, SecretStepResult } from "./rotate-webhooks.ts";

const timeoutMs = 60_000; // a step takes well under a second, but the service may still be starting up

interface Answer {
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Sends a request to the service. Throws an error with instructions if it does not respond. `api` is the root URL of the API. */
export const fetchFromService = (api: string, url: string | URL, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { signal: AbortSignal.timeout(timeoutMs), ...init }).catch((error: unknown) => {
    throw new Error(`${api} does not respond. Start the service or check the network, then run the same command again.`, { cause: error });
  });

const callService = async (api: string, adminToken: string, path: string, body: object = {}): Promise<unknown> => {
  const response = await fetchFromService(api, `${api}/admin/keys/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data, error } = ((await response.json().catch(() => null)) ?? {}) as Answer;
  if (response.status === 401)
    throw new Error(`${api} does not accept the operator token. Deploy again or restart the service, so that it gets the token's hash.`);
  if (data === undefined) throw new Error(`${api} returned ${response.status} ${error?.code ?? ""}. Run the same command again.`);
  return data;
};

/**
 * Returns a function that makes the service re-encrypt or check the next batch of its stored values or indexes. `api` is the root URL of
 * the API.
 */
export const createProcessStoredCall =
  (api: string, getAdminToken: () => string): RotationOptions["processStored"] =>
  (kind, cursor, isCheck) =>
    callService(api, getAdminToken(), kind, { check: isCheck, cursor }) as Promise<StoredStepResult>;

/**
 * Returns a clock that shows the service's time. The validity of keys must be expressed in this time, because certificates and receipts
 * contain times of the service's clock. If the service does not respond, the clock shows this machine's time, because a leaked key must be
 * replaceable even then. `api` is the root URL of the API.
 */
export const createServiceClock = async (api: string, print: (line: string) => void): Promise<() => number> => {
  const response = await fetch(`${api}/health`, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => null);
  // If the service fails, its response is not JSON, but the platform still adds the Date header.
  const { data } = ((await response?.json().catch(() => null)) ?? {}) as { readonly data?: { readonly time: string } };
  const time = Date.parse(data?.time ?? response?.headers.get("date") ?? "");
  if (Number.isNaN(time)) {
    print(`${api} did not return its time. The validity of keys is taken from this machine's clock.`);
    return Date.now;
  }
  const difference = time - Date.now();
  return () => Date.now() + difference;
};

export interface UsedLinkKeys {
  readonly current: string;
  readonly accepted: readonly string[];
}

/** Asks the service for the names of its link keys. `api` is the root URL of the API. */
export const fetchLinkKeys = (api: string, adminToken: string): Promise<UsedLinkKeys> =>
  callService(api, adminToken, "links") as Promise<UsedLinkKeys>;

/** Returns a function that makes the service replace the next batch of signing secrets. `api` is the root URL of the API. */
export const createReplaceSecretsCall =
  (api: string, getAdminToken: () => string): ReplaceSecrets =>
  ({ before, webhookId, cursor, isCheck }) =>
    callService(api, getAdminToken(), "webhook", {
      check: isCheck,
      before,
      webhook_id: webhookId,
      cursor,
    }) as Promise<SecretStepResult>;
