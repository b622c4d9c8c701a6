// The options of a deployment in svc.config.ts, and the hosts, names and settings that follow from them.
import { alertDefinitions, alertKinds, type AlertKind } from "../../core/alerts.ts";
import { sha256Hex } from "../../core/hash.ts";

export const hostNames = ["api", "verify", "cdn", "mcp", "app"] as const;
export type HostName = (typeof hostNames)[number];

export interface DeploymentOptions {
  /** The domain: a zone in your Cloudflare account, or a subdomain of one. `--domain` overrides it. It has no default. */
  readonly domain?: string;
  /** Full host names. Default: `<name>.<domain>` in production, such as `api.<domain>`, and `<name>-staging.<domain>` in staging. */
  readonly hosts?: Partial<Readonly<Record<HostName, string>>>;
  /** Name of the Worker, and the first part of the names of its resources. Default: `svc` in production, `svc-staging` in staging. */
  readonly worker?: string;
  /**
   * How email is sent. Default: Cloudflare's Email Service, from `no-reply@<domain>`. With `http`, the service posts each message to `url`
   * with the secret MAIL_HTTP_TOKEN.
   */
  readonly mail?:
    | { readonly transport: "cloudflare"; readonly from?: string }
    | { readonly transport: "http"; readonly url: string; readonly from?: string };
  /** Contact for vulnerability reports. Default: `mailto:security@<domain>`. */
  readonly securityContact?: string;
  /**
   * The email address that receives alerts about the deployment, and the thresholds. Default: no alerts, and the thresholds in
   * docs/operate/alerts.md.
   */
  readonly alerts?: { readonly email: string; readonly thresholds?: Partial<Readonly<Record<AlertKind, number>>> };
  /** Writes metrics to Workers Analytics Engine, which must be enabled in the account. Default: false. */
  readonly metrics?: boolean;
  /** Any other setting in docs/reference/settings.md that is not a secret. */
  readonly settings?: Readonly<Record<string, string>>;
}

export type Deployments = Readonly<Record<string, DeploymentOptions>>;

/** Returns the deployments unchanged. Its only purpose is to type-check them. */
export const defineDeployments = (deployments: Deployments): Deployments => deployments;

/** A deployment with every default filled in. */
export interface Deployment {
  readonly environment: string;
  readonly domain: string;
  readonly worker: string;
  readonly hosts: Readonly<Record<HostName, string>>;
  readonly mailTransport: "cloudflare" | "http";
  /** Every setting except secrets and the settings that are generated together with the keys. */
  readonly vars: Readonly<Record<string, string>>;
  /** Whether the Worker writes to Workers Analytics Engine. */
  readonly hasMetrics: boolean;
  /** Namespace number of the rate limiting binding, chosen so that no other Worker in the account is likely to use it. */
  readonly rateLimitNamespace: string;
}

/**
 * Settings that contain the names of keys. They are generated once with the keys and uploaded with them, so that names and keys always
 * match.
 */
export const keySettings = ["LEDGER_ORIGIN"] as const;

/** Settings that a key rotation adds to the secrets. They are uploaded together with the keys that they describe. */
export const rotationSettings = ["ISSUER_KEY_FROM", "RETIRED_ISSUER_KEYS"] as const;

/** Thrown for problems that the operator must correct. The message has one line for each of the `faults`. */
export class DeploymentError extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "DeploymentError";
  }
}

const hostPattern = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;
const placeholderPattern = /(?:^|[.@/])example\.(?:com|org|net)(?:$|[/:])/;
const workerPattern = /^[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?$/;

const findFaults = (name: string, options: DeploymentOptions, deployment: Deployment, isPlaceholderAllowed: boolean): string[] => {
  const at = `svc.config.ts, ${name}`;
  const hosts = Object.entries(deployment.hosts);
  // The hosts and most settings derive from the domain. If the domain is a placeholder, they are too, so report only the domain.
  const isDomainPlaceholder = placeholderPattern.test(deployment.domain);
  const derived = isDomainPlaceholder ? [] : [...hosts, ...Object.entries(deployment.vars)];
  const placeholders = [["domain", deployment.domain], ...derived]
    .filter(([, value = ""]) => !isPlaceholderAllowed && placeholderPattern.test(value))
    .map(([option]) => `${at}: ${option} is a placeholder. Use a domain of yours.`);
  const settings = Object.keys(options.settings ?? {});
  const unknownAlerts = Object.keys(options.alerts?.thresholds ?? {}).filter((kind) => !(alertKinds as readonly string[]).includes(kind));
  return [
    ...hosts.filter(([, host]) => !hostPattern.test(host)).map(([host]) => `${at}: hosts.${host} must be a host name in lower case.`),
    ...(new Set(hosts.map(([, host]) => host)).size === hosts.length ? [] : [`${at}: each host must be different.`]),
    ...(workerPattern.test(deployment.worker) ? [] : [`${at}: worker must be 1 to 42 lowercase letters, digits and hyphens.`]),
    ...unknownAlerts.map((kind) => `${at}: alerts.thresholds.${kind} is not an alert. Use ${alertKinds.join(", ")}.`),
    ...Object.entries(options.settings ?? {})
      .filter(([, value]) => typeof value !== "string")
      .map(([setting]) => `${at}: settings.${setting} must be a string.`),
    ...settings
      .filter((setting) => setting.startsWith("DEV_"))
      .map((setting) => `${at}: settings.${setting} is for development. Remove it.`),
    ...settings
      .filter((setting) => (keySettings as readonly string[]).includes(setting))
      .map((setting) => `${at}: settings.${setting} is generated with the keys. Remove it.`),
    ...placeholders,
  ];
};

/**
 * Fills in the defaults. Throws a DeploymentError that lists every missing or invalid option. With `isPlaceholderAllowed`, accepts
 * placeholder domains such as example.com, for a dry run or a release.
 */
export const resolveDeployment = (
  deployments: Deployments,
  environment: string,
  { domain: givenDomain, isPlaceholderAllowed = false }: { readonly domain?: string | undefined; readonly isPlaceholderAllowed?: boolean },
): Deployment => {
  const options = deployments[environment];
  if (options === undefined) throw new DeploymentError([`svc.config.ts has no deployment "${environment}". Add it, or use another --env.`]);
  const domain = givenDomain ?? options.domain;
  if (domain === undefined)
    throw new DeploymentError([`Set the domain: npm run deploy -- --domain <your domain>, or domain in svc.config.ts, ${environment}.`]);
  const isProduction = environment === "production";
  const worker = options.worker ?? (isProduction ? "svc" : `svc-${environment}`);
  const toHost = (name: HostName): string =>
    options.hosts?.[name] ?? (isProduction ? `${name}.${domain}` : `${name}-${environment}.${domain}`);
  const hosts = Object.fromEntries(hostNames.map((name) => [name, toHost(name)])) as Record<HostName, string>;
  const mail = options.mail ?? { transport: "cloudflare" as const };
  const deployment: Deployment = {
    environment,
    domain,
    worker,
    hosts,
    mailTransport: mail.transport,
    hasMetrics: options.metrics ?? false,
    rateLimitNamespace: String(1_000 + (Number.parseInt(sha256Hex(worker).slice(0, 8), 16) % 1_000_000_000)),
    vars: {
      ENVIRONMENT: "production", // a staging deployment has the same behavior and protections as production
      BASE_URL: `https://${hosts.api}/v1`,
      VERIFY_URL: `https://${hosts.verify}`,
      CDN_URL: `https://${hosts.cdn}`,
      MCP_URL: `https://${hosts.mcp}/mcp`,
      APP_URL: `https://${hosts.app}`,
      MAIL_TRANSPORT: mail.transport,
      MAIL_FROM: mail.from ?? `no-reply@${domain}`,
      ...(mail.transport === "http" && { MAIL_HTTP_URL: mail.url }),
      SECURITY_CONTACT: options.securityContact ?? `mailto:security@${domain}`,
      ...(options.alerts !== undefined && {
        ALERT_EMAIL: options.alerts.email,
        ...Object.fromEntries(
          alertKinds.flatMap((kind) => {
            const threshold = options.alerts?.thresholds?.[kind];
            return threshold === undefined ? [] : [[alertDefinitions[kind].setting, String(threshold)]];
          }),
        ),
      }),
      ...options.settings,
    },
  };
  const faults = findFaults(environment, options, deployment, isPlaceholderAllowed);
  if (faults.length > 0) throw new DeploymentError(faults);
  return deployment;
};
