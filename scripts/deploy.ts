// `npm run deploy`: deploys the service to a Cloudflare account. Each step first checks what already exists, so the command can be
// repeated after any failure. Later runs apply new migrations and deploy the new code. docs/operate/deploy.md describes the command.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import deployments from "../svc.config.ts";
import {
  createMissingResources,
  enableEmail,
  findResources,
  getAccount,
  isEmailEnabled,
  listDeployedSecrets,
  type Account,
} from "./deploy/account.ts";
import { buildAssets } from "./build.ts";
import { confirm } from "./confirm.ts";
import { checkDeployment } from "./deploy/check.ts";
import { DeploymentError, resolveDeployment, type Deployment } from "./deploy/config.ts";
import { assertHostsFree } from "./deploy/hosts.ts";
import { describePlan, describeResource, type AccountState } from "./deploy/plan.ts";
import { rollBack } from "./deploy/rollback.ts";
import {
  addProviderSecrets,
  findMissingSecrets,
  generateDeploymentSecrets,
  getSecretsPath,
  readSecrets,
  toUploadedSecrets,
  writeSecrets,
  type Secrets,
} from "./deploy/secrets.ts";
import { runWrangler, runWranglerWithSecrets } from "./deploy/wrangler.ts";
import { listDeploymentFaults, listNeededResources, writeWranglerConfig } from "./deploy/wrangler-config.ts";
import { releaseAssets } from "./release-assets.ts";
import { parseOptions } from "./parse-options.ts";

const usage = `Usage: npm run deploy -- --domain <your domain> [options]

  --domain NAME      Domain of the deployment, a zone in your Cloudflare account. Not needed if svc.config.ts has it.
  --env NAME         Deployment in svc.config.ts. Default: production.
  --dry-run          Show the plan and bundle the code, offline. Nothing is created or sent.
  --rollback         Return to the previous version of the code. Data and migrations do not change.
  --replace-hosts    Replace existing DNS records and other Workers on the hosts of the deployment.
  --yes              Do not ask before the first change.
  --skip-check       Do not check the deployment from outside afterward.
  --check-at ORIGIN  Check this origin instead of the public hosts.
  --folder PATH      Folder for the secrets and the generated configuration. Default: .deploy, which is git-ignored.
  --help             Show this help.

Sign in first with npx wrangler login, or set CLOUDFLARE_API_TOKEN.`;

const options = parseOptions(
  {
    domain: { type: "string" },
    env: { type: "string", default: "production" },
    "dry-run": { type: "boolean", default: false },
    rollback: { type: "boolean", default: false },
    "replace-hosts": { type: "boolean", default: false },
    yes: { type: "boolean", default: false },
    "skip-check": { type: "boolean", default: false },
    "check-at": { type: "string" },
    folder: { type: "string", default: ".deploy" },
    help: { type: "boolean", default: false },
  },
  usage,
);
const { folder } = options;

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Prints the name of the step and runs it. Adds the name to any error except a DeploymentError. */
const runStep = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  print(`\n${name} ...`);
  try {
    return await work();
  } catch (error) {
    if (error instanceof DeploymentError) throw error;
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

const readAccountState = async (
  account: Account,
  deployment: Deployment,
): Promise<AccountState & { readonly deployedSecrets: readonly string[] | null }> => {
  const [resourceIds, deployedSecrets, canSendEmail] = await Promise.all([
    findResources(account, listNeededResources(deployment)),
    listDeployedSecrets(account, deployment),
    deployment.mailTransport === "cloudflare" ? isEmailEnabled(account, deployment.domain) : null,
  ]);
  return {
    account: account.name,
    resourceIds,
    deployedSecrets,
    isWorkerDeployed: deployedSecrets !== null,
    isEmailEnabled: canSendEmail,
  };
};

/** Throws if the Worker would refuse its settings or `secrets`. For `otherSecrets`, see `listDeploymentFaults`. */
const assertSettingsAreValid = async (deployment: Deployment, secrets: Secrets, otherSecrets: readonly string[] | null): Promise<void> => {
  const faults = await listDeploymentFaults(deployment, secrets, otherSecrets);
  if (faults.length > 0)
    throw new DeploymentError([
      `The service would not start, because these settings are missing or invalid: ${faults.join(", ")}.`,
      `Correct them in svc.config.ts, ${getSecretsPath(folder, deployment)} or the environment: docs/reference/settings.md.`,
    ]);
};

/**
 * Returns the secrets to upload. Returns null if there are none: this machine has no secrets file, the deployment has every secret, and the
 * environment adds none. Secrets are generated only if neither the Worker nor its database exists, because new keys could not decrypt what
 * an earlier deployment stored.
 */
const prepareSecrets = async (
  deployment: Deployment,
  {
    deployedSecrets,
    resourceIds,
  }: { readonly deployedSecrets: readonly string[] | null; readonly resourceIds: ReadonlyMap<string, string> },
): Promise<Secrets | null> => {
  const path = getSecretsPath(folder, deployment);
  const local = readSecrets(path);
  if (local === null && deployedSecrets === null && resourceIds.has("DB"))
    throw new DeploymentError([
      `The database ${deployment.worker} exists, but its keys are neither deployed nor in ${path}. Restore that file from your backup.`,
      "If the database holds nothing that you need, delete it and run this command again.",
    ]);
  if (local === null && deployedSecrets !== null) {
    const added = addProviderSecrets({}, process.env);
    const missing = findMissingSecrets(deployment, [...deployedSecrets, ...Object.keys(added)]);
    if (missing.length > 0) throw new DeploymentError([`The deployment lacks ${missing.join(", ")}. Restore ${path} from your backup.`]);
    await assertSettingsAreValid(deployment, added, deployedSecrets);
    return Object.keys(added).length === 0 ? null : added;
  }
  if (local === null && process.env.WORKERS_CI === "1")
    throw new DeploymentError([
      "The first deployment generates the keys, so run it on your own machine. The disk of this build is deleted when the build ends.",
      "After that, builds can deploy: docs/operate/deploy.md.",
    ]);
  const secrets = addProviderSecrets(local ?? (await generateDeploymentSecrets(deployment, new Date())), process.env);
  const missing = findMissingSecrets(deployment, Object.keys(secrets));
  if (missing.length > 0) throw new DeploymentError([`Set ${missing.join(", ")} in the environment of this command.`]);
  const uploaded = toUploadedSecrets(secrets);
  await assertSettingsAreValid(deployment, uploaded, deployedSecrets ?? []);
  if (secrets !== local) {
    writeSecrets(path, secrets);
    print(`  Saved in ${path}. Keep a copy in a safe place: Cloudflare does not show secrets again.`);
  }
  return uploaded;
};

const deployCode = async (configPath: string, secrets: Secrets | null): Promise<void> => {
  const command = ["deploy", "--config", configPath];
  if (secrets === null) {
    await runWrangler(...command);
    return;
  }
  await runWranglerWithSecrets(secrets, `${configPath}.upload`, ...command, "--secrets-file");
};

const showPlanOffline = async (deployment: Deployment): Promise<void> => {
  await assertSettingsAreValid(deployment, {}, null);
  print(describePlan(deployment, listNeededResources(deployment), null, existsSync(getSecretsPath(folder, deployment))));
  await runStep("Build", () => buildAssets(deployment.vars.APP_URL as string));
  const dryRunFolder = join(folder, "dry-run"); // a separate folder, because `folder` contains the configuration of the last deployment
  const configPath = writeWranglerConfig(dryRunFolder, deployment, new Map());
  await runStep("Bundle", () => runWrangler("deploy", "--dry-run", "--config", configPath, "--outdir", resolve(dryRunFolder, "bundle")));
  print("\nDry run: nothing was created or sent.");
};

const deploy = async (deployment: Deployment): Promise<void> => {
  const needed = listNeededResources(deployment);
  const { account, state } = await runStep("Reading the account", async () => {
    const found = await getAccount();
    process.env.CLOUDFLARE_ACCOUNT_ID = found.id; // otherwise each wrangler command first looks up the account
    return { account: found, state: await readAccountState(found, deployment) };
  });
  print(`\n${describePlan(deployment, needed, state, state.deployedSecrets !== null || existsSync(getSecretsPath(folder, deployment)))}`);
  if (!options["replace-hosts"]) await assertHostsFree(folder, deployment, state.isWorkerDeployed);
  if (!(await confirm(options.yes))) throw new DeploymentError(["Canceled. Nothing was changed."]);
  const secrets = await runStep("Keys", () => prepareSecrets(deployment, state));
  const ids = await runStep("Resources", () =>
    createMissingResources(account, needed, state.resourceIds, (resource) => print(`  Created ${describeResource(resource)}`)),
  );
  if (state.isEmailEnabled === false) await runStep("Email", () => enableEmail(account, deployment.domain));
  const configPath = writeWranglerConfig(folder, deployment, ids);
  const { newFiles } = await runStep("Build", () => releaseAssets(deployment.vars.APP_URL as string));
  for (const database of needed.filter(({ kind }) => kind === "database"))
    await runStep(`Migrations of ${describeResource(database)}`, () =>
      runWrangler("d1", "migrations", "apply", database.binding, "--remote", "--config", configPath),
    );
  await runStep("Code", () => deployCode(configPath, secrets));
  const adminToken = readSecrets(getSecretsPath(folder, deployment))?.ADMIN_TOKEN;
  if (!options["skip-check"] && adminToken !== undefined)
    await runStep("Check", () =>
      checkDeployment(deployment, { adminToken, origin: options["check-at"] ?? null, report: (text) => print(`  ${text}`) }),
    );
  if (!options["skip-check"] && adminToken === undefined)
    print(`\nNot checked from outside, because the operator token is not in ${getSecretsPath(folder, deployment)}.`);
  for (const path of newFiles) print(`New file ${path}: commit it, because pages that pin this version of the script need it.`);
  print(`\nDeployed.
  Home page    https://${deployment.hosts.verify}/
  Portal       https://${deployment.hosts.app}/portal
  API          https://${deployment.hosts.api}/v1
  Script       https://${deployment.hosts.cdn}/v1/svc.js`);
};

const main = async (): Promise<void> => {
  const { domain } = options;
  if (options["dry-run"])
    return showPlanOffline(resolveDeployment(deployments, options.env, { domain: domain ?? "example.com", isPlaceholderAllowed: true }));
  const deployment = resolveDeployment(deployments, options.env, { domain });
  if (!options.rollback) return deploy(deployment);
  await runStep("Rollback", async () => rollBack(await getAccount(), deployment));
  print("The previous version is active.");
};

if (options.help) print(usage);
else
  await main().catch((error: unknown) => {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    if (!(error instanceof DeploymentError)) process.stderr.write("Run the same command again to continue.\n");
    process.exit(1);
  });
