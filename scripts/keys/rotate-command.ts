// `npm run keys -- rotate <kind>`: replaces a key of a deployment or of the local service, step by step. docs/operate/keys.md describes the
// command.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseWebhookId } from "../../core/ids.ts";
import deployments from "../../svc.config.ts";
import { confirm } from "../confirm.ts";
import { resolveDeployment } from "../deploy/config.ts";
import { loadLocalSettings } from "../settings.ts";
import { checkLinkKeys, checkPublishedKeys } from "./check.ts";
import { countOutdatedValues, describeRotation, runRotation, type KeyStore, type RotationOptions } from "./rotate.ts";
import { checkWebhookRotation, describeWebhookRotation, rotateWebhooks, type ReplaceSecrets } from "./rotate-webhooks.ts";
import { rotationKinds, type RotationKind } from "./rotations.ts";
import { createReplaceSecretsCall, createProcessStoredCall, createServiceClock, fetchLinkKeys } from "./service-calls.ts";
import { createDeploymentStore, createLocalStore } from "./stores.ts";

const usage = `Usage: npm run keys -- rotate <${rotationKinds.join("|")}> [options]

  --domain NAME    Domain of the deployment, if svc.config.ts does not have it.
  --env NAME       Deployment in svc.config.ts. Default: production.
  --local          Rotate a key of the local service, in .dev.vars.
  --dry-run        Show the steps and their progress. Nothing is changed.
  --check          Ask the running service whether it uses the new key. Nothing is changed.
  --yes            Do not ask before the first change.
  --at ORIGIN      Use the service at this origin instead of the public host.
  --endpoint ID    For webhook: replace the signing secret of this endpoint only.
  --leaked         For links: the earlier key has leaked, so stop accepting its links and tokens 10 minutes after the new key is used.
  --folder PATH    Folder with the secrets. Default: .deploy.

ledger and audit are the same as logs. All log keys are derived from one seed, so they rotate together.
Run the same command again after a failure, or when the next step is due. It continues where it stopped.`;

const print = (text: string): void => console.log(text);

const parseRotateArguments = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      domain: { type: "string" },
      env: { type: "string", default: "production" },
      local: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      yes: { type: "boolean", default: false },
      at: { type: "string" },
      endpoint: { type: "string" },
      leaked: { type: "boolean", default: false },
      folder: { type: "string", default: ".deploy" },
      help: { type: "boolean", default: false },
    },
  });

type Options = ReturnType<typeof parseRotateArguments>["values"];

interface Target {
  readonly name: string;
  /** Root URL of the API. */
  readonly api: string;
  readonly rotation: RotationOptions;
  readonly replaceSecrets: ReplaceSecrets;
  readonly getToken: () => string;
}

const resolveTarget = ({ local, env, domain, at, folder, leaked: isLeaked, "dry-run": isDryRun }: Options): Target => {
  const describe = (name: string, origin: string, store: KeyStore, getToken: () => string, stateName: string): Target => {
    const api = `${at ?? origin}/v1`;
    const statePath = join(folder, `${stateName}.rotation.json`);
    const processStored = createProcessStoredCall(api, getToken);
    const rotation = { isLeaked, now: Date.now, report: print, store, processStored, statePath };
    return { name, api, rotation, replaceSecrets: createReplaceSecretsCall(api, getToken), getToken };
  };
  if (local) {
    const { origin, vars } = loadLocalSettings();
    return describe("the local service", origin, createLocalStore(print), () => vars.ADMIN_TOKEN ?? "", "local");
  }
  const deployment = resolveDeployment(deployments, env, { domain, isPlaceholderAllowed: isDryRun });
  const store = createDeploymentStore(folder, deployment);
  return describe(deployment.domain, `https://${deployment.hosts.api}`, store, () => store.read().ADMIN_TOKEN ?? "", env);
};

const check = async (kind: RotationKind, { api, rotation, replaceSecrets, getToken }: Target): Promise<number> => {
  if (kind === "webhook") {
    const { isComplete, text } = await checkWebhookRotation({ statePath: rotation.statePath, replaceSecrets });
    print(text);
    return isComplete ? 0 : 1;
  }
  if (kind === "links") {
    const faults = checkLinkKeys(rotation.store.read(), await fetchLinkKeys(api, getToken()));
    print(faults.length === 0 ? "The service uses the link keys in the secrets file." : faults.join("\n"));
    return faults.length === 0 ? 0 : 1;
  }
  if (kind !== "master" && kind !== "index") {
    const faults = await checkPublishedKeys(kind, rotation.store.read(), api);
    print(faults.length === 0 ? "The service publishes the keys in the secrets file." : faults.join("\n"));
    return faults.length === 0 ? 0 : 1;
  }
  const outdated = await countOutdatedValues(kind, rotation);
  print(
    outdated === 0
      ? "The service encrypts with the key in the secrets file, and no stored value needs an earlier one."
      : `${outdated} values need an earlier key.`,
  );
  return outdated === 0 ? 0 : 1;
};

/** Returns the exit status. */
export const runRotateCommand = async (args: readonly string[]): Promise<number> => {
  try {
    const { values: options, positionals } = parseRotateArguments(args);
    const [given = ""] = positionals;
    const kind = given === "ledger" || given === "audit" ? "logs" : rotationKinds.find((known) => known === given);
    if (options.help || kind === undefined || positionals.length !== 1) {
      (options.help ? process.stdout : process.stderr).write(`${usage}\n`);
      return options.help ? 0 : 2;
    }
    if (options.endpoint !== undefined && (kind !== "webhook" || parseWebhookId(options.endpoint) === null))
      throw new Error("--endpoint must be the ID of a webhook endpoint (whk_…). Use it only with webhook.");
    if (options.leaked && kind !== "links") throw new Error("Use --leaked only with links.");
    if (options.local && kind === "issuer")
      throw new Error("The demo accounts of the local service are derived from its issuer key, so it is not rotated.");
    const target = resolveTarget(options);
    if (options.check) return await check(kind, target);
    const webhooks = { ...target.rotation, webhookId: options.endpoint ?? null, replaceSecrets: target.replaceSecrets };
    print(
      kind === "webhook"
        ? `Rotate webhook signing secrets of ${target.name}:\n\n${describeWebhookRotation(webhooks)}`
        : `Rotate the ${kind} key of ${target.name}:\n\n${describeRotation(kind, target.rotation.statePath, Date.now(), options.leaked)}`,
    );
    if (options["dry-run"]) {
      print("\nDry run: nothing was changed.");
      return 0;
    }
    if (!(await confirm(options.yes))) {
      print("Canceled. Nothing was changed.");
      return 1;
    }
    if (kind === "webhook") await rotateWebhooks(webhooks);
    else await runRotation(kind, { ...target.rotation, now: options.local ? Date.now : await createServiceClock(target.api, print) });
    return 0;
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
};
