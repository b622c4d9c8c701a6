// Serializes the response to a webhook registration, to be saved as an idempotent response (idempotency.ts).
import type { RegisteredEndpoint } from "../core/webhooks/endpoint.ts";
import { toIso } from "../core/time.ts";

/** Serializes the response, including the secret. It is sealed when it is saved. */
export const serializeRegistration = ({ createdAt, ...endpoint }: RegisteredEndpoint): string =>
  JSON.stringify({ ...endpoint, created_at: toIso(createdAt) });

type SerializedRegistration = Omit<RegisteredEndpoint, "createdAt"> & { readonly created_at: string };

/** Parses what `serializeRegistration` wrote. */
export const parseRegistration = (text: string): RegisteredEndpoint => {
  const { created_at, ...endpoint } = JSON.parse(text) as SerializedRegistration;
  return { ...endpoint, createdAt: Date.parse(created_at) };
};
