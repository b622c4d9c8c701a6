// The secrets of a deployment. They are generated once, kept in a local file that only its owner can read, and uploaded with the code.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256Hex } from "../../core/hash.ts";
import { embeddedSecrets, generateSecrets, serviceSecrets } from "../generate-secrets.ts";
import { replacePrivateFile } from "../private-file.ts";
import { DeploymentError, keySettings, type Deployment } from "./config.ts";

/** Secrets that other companies issue. They are read from the environment and saved in the file. */
export const providerSecrets = ["MAIL_HTTP_TOKEN", "METRICS_TOKEN", "OTLP_HEADERS", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const;

export type Secrets = Readonly<Record<string, string>>;

export const getSecretsPath = (folder: string, { environment }: Deployment): string => join(folder, `${environment}.secrets.json`);

/** The operator token stays on this machine. The deployment gets only its hash. */
export const toUploadedSecrets = ({ ADMIN_TOKEN: adminToken, ...secrets }: Secrets): Secrets => ({
  ...secrets,
  ...(adminToken !== undefined && { ADMIN_TOKEN_SHA256: sha256Hex(adminToken) }),
});

/** Returns the secrets in the local file; null if there is none. Throws a DeploymentError if others can read the file, or it is damaged. */
export const readSecrets = (path: string): Secrets | null => {
  if (!existsSync(path)) return null;
  if ((statSync(path).mode & 0o077) !== 0)
    throw new DeploymentError([`Other users of this machine can read ${path}. Run chmod 600 ${path}.`]);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Secrets;
  } catch {
    throw new DeploymentError([`${path} is not valid JSON. Restore it from your backup.`]);
  }
};

export const writeSecrets = (path: string, secrets: Secrets): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replacePrivateFile(path, `${JSON.stringify(secrets, null, 2)}\n`);
};

/** Generates the secrets of a new deployment. The ledger is named after the half-year when the deployment is created. */
export const generateDeploymentSecrets = async ({ hosts }: Deployment, now: Date): Promise<Secrets> => {
  const period = `${now.getUTCFullYear()}h${now.getUTCMonth() < 6 ? 1 : 2}`;
  const names = {
    ledgerOrigin: `${hosts.api}/ledger/${period}`,
    auditOrigins: [`${hosts.api}/audit/00`],
    witnessName: `${hosts.api}/witness`,
  };
  const wanted = embeddedSecrets.filter((name) => name !== "ANCHOR_KEY"); // only a deployment with a Rekor ledger needs ANCHOR_KEY
  const { secrets } = await generateSecrets(wanted, names, now.toISOString());
  return {
    ...(secrets as Secrets),
    LEDGER_ORIGIN: names.ledgerOrigin,
    ADMIN_TOKEN: randomBytes(32).toString("base64url"),
  };
};

/** Adds the provider secrets that are set in the environment. Returns the same object if none of them is new or changed. */
export const addProviderSecrets = (secrets: Secrets, environment: Readonly<Record<string, string | undefined>>): Secrets => {
  const provided = providerSecrets.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" || value === secrets[name] ? [] : [[name, value] as const];
  });
  return provided.length === 0 ? secrets : { ...secrets, ...Object.fromEntries(provided) };
};

/** Returns the names of the secrets that the deployment needs and that are not in `known`. */
export const findMissingSecrets = ({ mailTransport }: Deployment, known: readonly string[]): readonly string[] => {
  const required = [
    ...serviceSecrets.filter((name) => name !== "ANCHOR_KEY"),
    ...keySettings,
    ...(mailTransport === "http" ? ["MAIL_HTTP_TOKEN"] : []),
  ];
  return required.filter((name) => !known.includes(name));
};
