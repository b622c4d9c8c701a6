// Settings of a service that a test starts on this machine. The keys are fixed so that a restarted service opens what the
// first one sealed; they protect nothing.

const key = (byte: number): string => Buffer.from(Array.from({ length: 32 }, (_, at) => (byte + at * 7) % 256)).toString("base64");

export const worldSecret = key(3);

export const testVars: Readonly<Record<string, string>> = {
  ENVIRONMENT: "development",
  BASE_URL: "http://svc.test/v1",
  VERIFY_URL: "http://svc.test",
  CDN_URL: "http://svc.test",
  MCP_URL: "http://svc.test/mcp",
  APP_URL: "http://svc.test",
  LEDGER_ORIGIN: "ledger.svc.test/ledger/test",
  MASTER_KEYS: `1:${key(1)}`,
  INDEX_KEY: key(2),
  ISSUER_KEY: worldSecret,
  DEV_RATE_SCALE: "100000",
  DOH_URLS: "http://127.0.0.1:1/none",
};
