// Development settings: the random secrets of this machine in .dev.vars, and what the environment overrides.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

export const devVarsPath = ".dev.vars";

const freshDevVars = (): string =>
  [
    "# Development secrets of this machine, made at the first start. Not for any deployment.",
    "ENVIRONMENT=development",
    `MASTER_KEYS=1:${randomBytes(32).toString("base64")}`,
    `INDEX_KEY=${randomBytes(32).toString("base64")}`,
    `ISSUER_KEY=${randomBytes(32).toString("base64")}`,
    "",
  ].join("\n");

export const ensureDevVars = (): void => {
  if (!existsSync(devVarsPath)) writeFileSync(devVarsPath, freshDevVars(), { mode: 0o600 });
};

const parse = (text: string): Record<string, string> =>
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

const overridable = /^(?:DEV_|LIMIT_|LEDGER_|DOH_|MAIL|STRIPE_)/;

/** Reads .dev.vars and the environment. Throws when there is no .dev.vars yet. */
export const localSettings = (): LocalSettings => {
  const port = Number(process.env.PORT ?? "8787");
  const demoPort = Number(process.env.DEMO_PORT ?? "8788");
  const origin = `http://localhost:${port}`;
  const devVars = parse(readFileSync(devVarsPath, "utf8"));
  const overrides = Object.fromEntries(
    Object.entries(process.env).filter(([name, value]) => overridable.test(name) && value !== undefined),
  ) as Record<string, string>;
  const merged = { ...devVars, ...overrides };
  // The demo site is what a newcomer captures from: its pages may always be fetched.
  const allow = [merged.DEV_FETCH_ALLOW, `localhost:${demoPort}`, `127.0.0.1:${demoPort}`]
    .filter((entry) => entry !== undefined && entry !== "")
    .join(",");
  return {
    port,
    demoPort,
    stateDir: process.env.SVC_STATE_DIR ?? ".wrangler/state",
    origin,
    demoOrigin: `http://localhost:${demoPort}`,
    vars: {
      ...merged,
      ENVIRONMENT: "development",
      BASE_URL: `${origin}/v1`,
      VERIFY_URL: origin,
      CDN_URL: origin,
      MCP_URL: `${origin}/mcp`,
      APP_URL: origin,
      LEDGER_ORIGIN: merged.LEDGER_ORIGIN ?? `localhost/ledger/2026h2`,
      DEV_FETCH_ALLOW: allow,
    },
  };
};
