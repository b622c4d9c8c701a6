// The answer to a registration, as the text that is kept under its idempotency key (idempotency.ts).
import type { RegisteredEndpoint } from "../core/webhooks/endpoint.ts";
import { isoOf } from "../core/time.ts";

export const keptRegistration = ({ createdAt, ...endpoint }: RegisteredEndpoint): string =>
  JSON.stringify({ ...endpoint, created_at: isoOf(createdAt) });

export const openedRegistration = (text: string): RegisteredEndpoint => {
  const { created_at, ...endpoint } = JSON.parse(text) as Omit<RegisteredEndpoint, "createdAt"> & { readonly created_at: string };
  return { ...endpoint, createdAt: Date.parse(created_at) };
};
