// Local settings: random development secrets in .dev.vars, and overrides from the environment.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { sha256Hex } from "../core/hash.ts";
import { addableShards, listStoredShards, maxLocalShards } from "./database-files.ts";
import { receiverUrls } from "./demo-month/receiver.ts";
import { getDemoCredentials, createDemoWorld } from "./demo-world.ts";
import type { PaymentProviderMock } from "./demo-site/payment-provider-mock.ts";
import { replacePrivateFile } from "./private-file.ts";

export const devVarsPath = ".dev.vars";

/** Thrown if the local service cannot start. The message says what to do. */
export class StartRefusal extends Error {}

const localLedger = "localhost/ledger/2026h2";

export const generateDevVars = (): Record<string, string> => {
  const key = (): string => randomBytes(32).toString("base64");
  const token = (): string => randomBytes(32).toString("base64url");
  const adminToken = token();
  return {
    ENVIRONMENT: "development",
    MASTER_KEYS: `1:${key()}`,
    INDEX_KEY: key(),
    ISSUER_KEY: key(),
    LOG_SEED: key(),
    LEDGER_WRITE_TOKEN: token(),
    LEDGER_AUDITOR_TOKEN: token(),
    ADMIN_TOKEN: adminToken,
    ADMIN_TOKEN_SHA256: sha256Hex(adminToken),
    STRIPE_SECRET_KEY: `sk_test_${token()}`,
    STRIPE_WEBHOOK_SECRET: `whsec_${token()}`,
    STRIPE_PRICE_BUSINESS: "price_business",
    STRIPE_PRICE_WHITE_GLOVE: "price_white_glove",
  };
};

const heading = "# Development secrets of this machine, generated at the first start. Do not use them in a deployment.\n";

/** Creates .dev.vars, or adds settings that a newer version needs. Existing settings are not changed. */
export const ensureDevVars = (): void => {
  const text = existsSync(devVarsPath) ? readFileSync(devVarsPath, "utf8") : heading;
  const known = parseDevVars(text);
  const { ADMIN_TOKEN, ADMIN_TOKEN_SHA256, ...others } = generateDevVars();
  // The token and its hash are added together or not at all.
  const pairs = {
    ...(known.ADMIN_TOKEN === undefined && { ADMIN_TOKEN, ADMIN_TOKEN_SHA256 }),
  };
  const missing = Object.entries({ ...others, ...pairs }).filter(([name]) => known[name] === undefined);
  if (missing.length === 0) return;
  const added = missing.map(([name, value]) => `${name}=${value}\n`).join("");
  replacePrivateFile(devVarsPath, `${text.endsWith("\n") ? text : `${text}\n`}${added}`);
};

export const parseDevVars = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const match = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line.trim());
      return match === null ? [] : [[match[1] as string, (match[2] as string).replace(/^"(.*)"$/, "$1")]];
    }),
  );

/** Throws a StartRefusal if the setting `name` is not a port. Tests use port 0, which lets the system choose. */
export const assertPort = (name: string, port: number, lowest: 0 | 1 = 0): void => {
  if (!Number.isInteger(port) || port < lowest || port > 65_535) throw new StartRefusal(`${name} must be a port number from 1 to 65535.`);
};

/** Reads a port from the environment. Throws a StartRefusal if it is not a port. */
export const readPort = (name: "PORT" | "DEMO_PORT"): number => {
  const port = Number(process.env[name] || (name === "PORT" ? "8787" : "8788"));
  assertPort(name, port, 1); // the settings contain the service's URL, so the system cannot choose the port
  return port;
};

export interface LocalSettings {
  readonly port: number;
  readonly demoPort: number;
  readonly stateDir: string;
  /** Shards in addition to `00`. */
  readonly extraShards: readonly string[];
  readonly origin: string;
  readonly demoOrigin: string;
  /**
   * Settings and secrets for the Worker: .dev.vars, overridden by the environment if the name matches `overridablePattern`, then by the
   * local URLs.
   */
  readonly vars: Readonly<Record<string, string>>;
}

const overridablePattern =
  /^(?:DEV_|LIMIT_|LEDGER_|WITNESS|TIMESTAMP_|ANCHOR_|DOH_|MAIL|SUPPORT_|SECURITY_|STRIPE_|SIGNUP_|OAUTH_|OTLP_|TRACE_|MCP_MODERN)/;

export const buildLocalSettings = ({
  port,
  demoPort,
  stateDir,
  extraShards = [],
  vars,
}: Pick<LocalSettings, "port" | "demoPort" | "stateDir" | "vars"> & Partial<Pick<LocalSettings, "extraShards">>): LocalSettings => {
  const origin = `http://localhost:${port}`;
  // The service may always fetch the demo site, whose policies the demo captures, and call the demo's webhook receivers.
  const receivers = Object.values(receiverUrls).map((url) => new URL(url).host);
  const allow = [vars.DEV_FETCH_ALLOW, `localhost:${demoPort}`, `127.0.0.1:${demoPort}`, ...receivers]
    .filter((entry) => entry !== undefined && entry !== "")
    .join(",");
  return {
    port,
    demoPort,
    stateDir,
    extraShards,
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
      SUPPORT_EMAIL: vars.SUPPORT_EMAIL ?? "support@svc.example",
      SECURITY_CONTACT: vars.SECURITY_CONTACT ?? "mailto:security@localhost", // with this setting, the service serves security.txt
      DEV_FETCH_ALLOW: allow,
      // The landing page shows these values.
      DEV_DEMO: JSON.stringify({
        site_base: `http://localhost:${demoPort}`,
        ...getDemoCredentials(createDemoWorld(vars.ISSUER_KEY as string)),
      }),
      // URL of the payment provider mock. To use Stripe itself with a test key, set DEV_STRIPE_API to an empty value.
      DEV_STRIPE_API: vars.DEV_STRIPE_API ?? `http://localhost:${demoPort}`,
    },
  };
};

/**
 * Lists the shards of a local service besides `00`: enough for `count` shards in total, and all that already have data. The latter are
 * included so that no command ignores a shard if SHARDS is not set. Throws a StartRefusal if `count` is not from 1 to 32.
 */
const listExtraShards = (count: string, stateDir: string): readonly string[] => {
  const shards = Number(count);
  if (!Number.isInteger(shards) || shards < 1 || shards > maxLocalShards)
    throw new StartRefusal(`SHARDS must be a number from 1 to ${maxLocalShards}.`);
  return [...new Set([...addableShards.slice(0, shards - 1), ...listStoredShards(stateDir)])];
};

/** Reads .dev.vars and the environment. Throws if there is no .dev.vars yet. */
export const loadLocalSettings = (): LocalSettings => {
  if (!existsSync(devVarsPath)) throw new Error(`There is no ${devVarsPath} yet. Run npm start once, which creates it.`);
  const stateDir = process.env.SVC_STATE_DIR || ".wrangler/state";
  const overrides = Object.fromEntries(
    Object.entries(process.env).filter(([name, value]) => overridablePattern.test(name) && value !== undefined),
  ) as Record<string, string>;
  return buildLocalSettings({
    port: readPort("PORT"),
    demoPort: readPort("DEMO_PORT"),
    stateDir,
    extraShards: listExtraShards(process.env.SHARDS ?? "1", stateDir),
    vars: { ...parseDevVars(readFileSync(devVarsPath, "utf8")), ...overrides },
  });
};

/** Returns the settings that the payment provider mock shares with the service. */
export const paymentProviderMockFrom = ({ origin, demoOrigin, vars }: LocalSettings): PaymentProviderMock => ({
  origin: demoOrigin,
  serviceOrigin: origin,
  secretKey: vars.STRIPE_SECRET_KEY as string,
  webhookSecret: vars.STRIPE_WEBHOOK_SECRET as string,
  clockOffsetMs: Number(vars.DEV_CLOCK_OFFSET_MS ?? "0"),
});
