// Serializes the response to a webhook registration, so that it can be saved as an idempotent response (idempotency.ts).
import type { RegisteredEndpoint } from "../core/webhooks/endpoint.ts";
import { toIso } from "../core/time.ts";

/** The result contains the secret, so it must be sealed when it is saved. */
export const serializeRegistration = ({ createdAt, ...endpoint }: RegisteredEndpoint): string =>
  JSON.stringify({ ...endpoint, created_at: toIso(createdAt) });

type SerializedRegistration = Omit<RegisteredEndpoint, "createdAt"> & { readonly created_at: string };

export const parseRegistration = (text: string): RegisteredEndpoint => {
  const { created_at, ...endpoint } = JSON.parse(text) as SerializedRegistration;
  return { ...endpoint, createdAt: Date.parse(created_at) };
};
