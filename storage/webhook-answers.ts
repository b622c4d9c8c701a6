// The answer to a registration, as the text that is kept under its idempotency key (idempotency.ts).
import type { RegisteredEndpoint } from "../core/webhooks/endpoint.ts";
import { isoOf } from "../core/time.ts";

export const keptRegistration = ({ createdAt, ...endpoint }: RegisteredEndpoint): string =>
  JSON.stringify({ ...endpoint, created_at: isoOf(createdAt) });

type Kept = Omit<RegisteredEndpoint, "createdAt" | "environment"> & {
  readonly created_at: string;
  readonly environment?: RegisteredEndpoint["environment"];
};

export const openedRegistration = (text: string): RegisteredEndpoint => {
  const { created_at, ...endpoint } = JSON.parse(text) as Kept;
  // What was kept before there were two environments says none.
  return { ...endpoint, environment: endpoint.environment ?? "live", createdAt: Date.parse(created_at) };
};
