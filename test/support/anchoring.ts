// The service's platform with its ledger reached through whatever a test puts in between, on a clock of its own.
import { env } from "cloudflare:workers";
import { formatVkey } from "../../core/ledger/note.ts";
import type { Instant } from "../../core/time.ts";
import { noteCrypto, openNoteSigner } from "../../storage/note-keys.ts";
import type { SendRequest } from "../../workers/adapters/exchange.ts";
import { createTlogAdapter } from "../../workers/adapters/ledger-tlog.ts";
import type { Env } from "../../workers/env.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";

export const basePlatform = await getPlatform(env as unknown as Env);
const { ledger } = basePlatform.config;
const trust = await Promise.all(
  ledger.keys.map(async (secret) => ({
    origin: ledger.origin,
    vkey: formatVkey((await openNoteSigner(secret)).key),
    validFrom: "1970-01-01T00:00:00.000Z",
  })),
);

/** A ledger object under a name of the test's own: the same origin and key, other storage. */
export const openNamedLedger =
  (name: string): SendRequest =>
  (request) =>
    basePlatform.fetchLedger === undefined
      ? Promise.reject(new Error("none"))
      : (env.LEDGER_LOG as DurableObjectNamespace).getByName(name).fetch(request);

export const createPlatformWith = (through: SendRequest, clock: () => Instant = () => Date.now()): Platform => ({
  ...basePlatform,
  clock,
  ledgers: [
    createTlogAdapter(
      { origin: ledger.origin, role: "primary", baseUrl: `https://${ledger.origin}`, writeToken: ledger.writeToken, trust },
      through,
      noteCrypto,
      clock,
    ),
  ],
});
