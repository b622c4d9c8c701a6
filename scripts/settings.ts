// Development settings: the random secrets of this machine in .dev.vars, and what the environment overrides.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { sha256Hex } from "../core/hash.ts";
import { keyKinds } from "../core/ledger/note.ts";
import { getDemoCredentials, createDemoWorld } from "./demo-world.ts";
import type { PaymentProviderMock } from "./demo-site/payment-provider-mock.ts";
import { noteKeyPair } from "./note-secret.ts";

const devVarsPath = ".dev.vars";

const localLedger = "localhost/ledger/2026h2";

/** Every secret of a development machine; the audit log's public key too, which the ledger watches as a witness. */
export const generateDevVars = (): Record<string, string> => {
  const key = (): string => randomBytes(32).toString("base64");
  const token = (): string => randomBytes(32).toString("base64url");
  const audit = noteKeyPair("localhost/audit/0", new Uint8Array(randomBytes(32)));
  const adminToken = token();
  return {
    ENVIRONMENT: "development",
    MASTER_KEYS: `1:${key()}`,
    INDEX_KEY: key(),
    ISSUER_KEY: key(),
    LEDGER_KEY: noteKeyPair(localLedger, new Uint8Array(randomBytes(32))).secret,
    LEDGER_WITNESS_KEY: noteKeyPair("localhost/witness", new Uint8Array(randomBytes(32)), keyKinds.witness).secret,
    LEDGER_WRITE_TOKEN: token(),
    LEDGER_AUDITOR_TOKEN: token(),
    AUDIT_KEY: audit.secret,
    AUDIT_VKEY: audit.vkey,
    ADMIN_TOKEN: adminToken,
    ADMIN_TOKEN_SHA256: sha256Hex(adminToken),
    STRIPE_SECRET_KEY: `sk_test_${token()}`,
    STRIPE_WEBHOOK_SECRET: `whsec_${token()}`,
    STRIPE_PRICE_BUSINESS: "price_business",
    STRIPE_PRICE_WHITE_GLOVE: "price_white_glove",
  };
};

const heading = "# Development secrets of this machine, made at the first start. Not for any deployment.\n";

/** Writes .dev.vars when it is absent, and adds what a newer version needs; what is there stays. */
export const ensureDevVars = (): void => {
  const kept = existsSync(devVarsPath) ? readFileSync(devVarsPath, "utf8") : heading;
  const known = parseDevVars(kept);
  const { AUDIT_KEY, AUDIT_VKEY, ADMIN_TOKEN, ADMIN_TOKEN_SHA256, ...others } = generateDevVars();
  // two that belong together are added together
  const pairs = {
    ...(known.AUDIT_KEY === undefined && { AUDIT_KEY, AUDIT_VKEY }),
    ...(known.ADMIN_TOKEN === undefined && { ADMIN_TOKEN, ADMIN_TOKEN_SHA256 }),
  };
  const missing = Object.entries({ ...others, ...pairs }).filter(([name]) => known[name] === undefined);
  if (missing.length === 0) return;
  const added = missing.map(([name, value]) => `${name}=${value}\n`).join("");
  writeFileSync(devVarsPath, `${kept.endsWith("\n") ? kept : `${kept}\n`}${added}`, { mode: 0o600 });
};

const parseDevVars = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const match = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line.trim());
      return match === null ? [] : [[match[1] as string, (match[2] as string).replace(/^"(.*)"$/, "$1")]];
    }),
  );

export interface LocalSettings {
  readonly port: number;
  readonly demoPort: number;
  readonly stateDir: string;
  readonly origin: string;
  readonly demoOrigin: string;
  /** Settings and secrets for the Worker: .dev.vars, then the environment, then the local addresses. */
  readonly vars: Readonly<Record<string, string>>;
}

const overridablePattern = /^(?:DEV_|LIMIT_|LEDGER_|WITNESS|TIMESTAMP_|ANCHOR_|DOH_|MAIL|SECURITY_|STRIPE_|SIGNUP_|OAUTH_|MCP_MODERN)/;

/** The settings of a service on these ports of this machine. */
export const buildLocalSettings = ({
  port,
  demoPort,
  stateDir,
  vars,
}: Pick<LocalSettings, "port" | "demoPort" | "stateDir" | "vars">): LocalSettings => {
  const origin = `http://localhost:${port}`;
  // The demo site is what a newcomer captures from: its pages may always be fetched.
  const allow = [vars.DEV_FETCH_ALLOW, `localhost:${demoPort}`, `127.0.0.1:${demoPort}`]
    .filter((entry) => entry !== undefined && entry !== "")
    .join(",");
  return {
    port,
    demoPort,
    stateDir,
    origin,
    demoOrigin: `http://localhost:${demoPort}`,
    vars: {
      ...vars,
      ENVIRONMENT: "development",
      BASE_URL: `${origin}/v1`,
      VERIFY_URL: origin,
      CDN_URL: origin,
      MCP_URL: `${origin}/mcp`,
      APP_URL: origin,
      LEDGER_ORIGIN: vars.LEDGER_ORIGIN ?? localLedger,
      SECURITY_CONTACT: vars.SECURITY_CONTACT ?? "mailto:security@localhost", // so that security.txt is there to be seen
      DEV_FETCH_ALLOW: allow,
      // What the first page shows of the demonstration.
      DEV_DEMO: JSON.stringify({
        site_base: `http://localhost:${demoPort}`,
        ...getDemoCredentials(createDemoWorld(vars.ISSUER_KEY as string)),
      }),
      // The stand-in for the payment provider; DEV_STRIPE_API= (empty) speaks to the provider itself, with a test key of its own.
      DEV_STRIPE_API: vars.DEV_STRIPE_API ?? `http://localhost:${demoPort}`,
    },
  };
};

/** Reads .dev.vars and the environment. Throws when there is no .dev.vars yet. */
export const loadLocalSettings = (): LocalSettings => {
  const overrides = Object.fromEntries(
    Object.entries(process.env).filter(([name, value]) => overridablePattern.test(name) && value !== undefined),
  ) as Record<string, string>;
  return buildLocalSettings({
    port: Number(process.env.PORT ?? "8787"),
    demoPort: Number(process.env.DEMO_PORT ?? "8788"),
    stateDir: process.env.SVC_STATE_DIR ?? ".wrangler/state",
    vars: { ...parseDevVars(readFileSync(devVarsPath, "utf8")), ...overrides },
  });
};

/** What the stand-in for the payment provider shares with the service. */
export const paymentProviderMockFrom = ({ origin, demoOrigin, vars }: LocalSettings): PaymentProviderMock => ({
  origin: demoOrigin,
  serviceOrigin: origin,
  secretKey: vars.STRIPE_SECRET_KEY as string,
  webhookSecret: vars.STRIPE_WEBHOOK_SECRET as string,
  clockOffsetMs: Number(vars.DEV_CLOCK_OFFSET_MS ?? "0"),
});
