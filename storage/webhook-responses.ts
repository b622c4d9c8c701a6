// The answer to a registration, as the text that is kept under its idempotency key (idempotency.ts).
import type { RegisteredEndpoint } from "../core/webhooks/endpoint.ts";
import { toIso } from "../core/time.ts";

export const serializeRegistration = ({ createdAt, ...endpoint }: RegisteredEndpoint): string =>
  JSON.stringify({ ...endpoint, created_at: toIso(createdAt) });

type SerializedRegistration = Omit<RegisteredEndpoint, "createdAt" | "environment"> & {
  readonly created_at: string;
  readonly environment?: RegisteredEndpoint["environment"];
};

export const parseRegistration = (text: string): RegisteredEndpoint => {
  const { created_at, ...endpoint } = JSON.parse(text) as SerializedRegistration;
  // What was kept before there were two environments says none.
  return { ...endpoint, environment: endpoint.environment ?? "live", createdAt: Date.parse(created_at) };
};
