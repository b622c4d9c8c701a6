// Settings of the service in tests. The keys are not secret. They are fixed, so that a restarted service can decrypt earlier data.
import { keyKinds } from "../../core/ledger/note.ts";
import { noteKeyPair } from "../../scripts/note-secret.ts";
import { createRandomKey, logSeedIndex } from "./note-keys.ts";

const seed = (byte: number): Uint8Array<ArrayBuffer> => new Uint8Array(32).fill(byte);

export const worldSecret = createRandomKey(3);

export const sharedVars = {
  ENVIRONMENT: "development",
  INTAKE_WAIT_MS: "1900", // the maximum, because a busy machine can be slow to respond even when nothing is wrong
  BASE_URL: "http://svc.test/v1",
  VERIFY_URL: "http://svc.test",
  CDN_URL: "http://svc.test",
  MCP_URL: "http://svc.test/mcp",
  APP_URL: "http://svc.test",
  LEDGER_ORIGIN: "ledger.svc.test/ledger/test",
  MASTER_KEYS: `1:${createRandomKey(1)}`,
  INDEX_KEY: createRandomKey(2),
  ISSUER_KEY: worldSecret,
  LOG_SEED: createRandomKey(logSeedIndex),
  LEDGER_KEY: noteKeyPair("ledger.svc.test/ledger/test", seed(21)).secret,
  LEDGER_WITNESS_KEY: noteKeyPair("ledger.svc.test/witness", seed(22), keyKinds.witness).secret,
  LEDGER_WRITE_TOKEN: "write-token-of-the-tests-not-a-secret",
  LEDGER_AUDITOR_TOKEN: "auditor-token-of-the-tests-not-a-secret",
};

/** Settings of a service that a test starts on this machine. */
export const testVars: Readonly<Record<string, string>> = {
  ...sharedVars,
  DEV_RATE_SCALE: "100000",
  DOH_URLS: "http://127.0.0.1:1/none",
};
