// Calls the running service while a key is rotated.
import type { RewrapStepResult, RotationOptions } from "./rotate.ts";

const timeoutMs = 60_000; // a step takes well under a second, but the service may still be starting

interface Answer {
  readonly data?: RewrapStepResult;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Returns a function that makes the service rewrap the next part of its stored values. `api` is the root URL of the API. */
export const createRewrapCall =
  (api: string, getAdminToken: () => string): RotationOptions["rewrap"] =>
  async (cursor, isCheck) => {
    const response = await fetch(`${api}/admin/keys/master`, {
      method: "POST",
      headers: { authorization: `Bearer ${getAdminToken()}`, "content-type": "application/json" },
      body: JSON.stringify({ check: isCheck, cursor }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data, error } = (await response.json()) as Answer;
    if (data === undefined) throw new Error(`${api} returned ${response.status} ${error?.code ?? ""}. Run the same command again.`);
    return data;
  };
