// Creates platforms with a separate clock. A test can intercept their requests to the ledger.
import { env } from "cloudflare:workers";
import { formatVkey } from "../../core/ledger/note.ts";
import type { Instant } from "../../core/time.ts";
import { noteCrypto, openNoteSigner } from "../../storage/note-keys.ts";
import type { SendRequest } from "../../workers/adapters/exchange.ts";
import { createTlogAdapter } from "../../workers/adapters/ledger-tlog.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";

export const basePlatform = await getPlatform(env);
const { ledger } = basePlatform.config;
const trust = await Promise.all(
  ledger.keys.map(async (secret) => ({
    origin: ledger.origin,
    vkey: formatVkey((await openNoteSigner(secret)).key),
    validFrom: "1970-01-01T00:00:00.000Z",
  })),
);

/**
 * Returns a function that sends requests to the ledger object with this name. All objects have the same origin and key, but each has its
 * own storage.
 */
export const openNamedLedger =
  (name: string): SendRequest =>
  (request) =>
    basePlatform.fetchLedger === undefined
      ? Promise.reject(new Error("the platform has no ledger"))
      : env.LEDGER_LOG.getByName(name).fetch(request);

export const createPlatformWith = (sendRequest: SendRequest, clock: () => Instant = () => Date.now()): Platform => ({
  ...basePlatform,
  clock,
  ledgersOf: () => [
    createTlogAdapter(
      { origin: ledger.origin, role: "primary", baseUrl: `https://${ledger.origin}`, writeToken: ledger.writeToken, trust },
      sendRequest,
      noteCrypto,
      clock,
    ),
  ],
});
