// Implements `npm run doctor`, which reports what is missing or unusual on this machine, in svc.config.ts and in a deployment, and how to
// fix it. It changes nothing.
import deployments from "../svc.config.ts";
import { checkOptions, checkSecrets, checkService, checkSettings } from "./doctor/deployment.ts";
import type { Finding } from "./doctor/finding.ts";
import { checkMachine } from "./doctor/machine.ts";
import { parseOptions } from "./parse-options.ts";

const usage = `Usage: npm run doctor -- [options]

  --env NAME       Deployment in svc.config.ts. Default: production.
  --domain NAME    Domain of the deployment, if svc.config.ts does not have it.
  --at ORIGIN      Check the service at this origin instead of the public host.
  --folder PATH    Folder with the secrets. Default: .deploy.
  --help           Show this help.`;

const options = parseOptions(
  {
    env: { type: "string", default: "production" },
    domain: { type: "string" },
    at: { type: "string" },
    folder: { type: "string", default: ".deploy" },
    help: { type: "boolean", default: false },
  },
  usage,
);

const marks: Readonly<Record<Finding["level"], string>> = { ok: "ok  ", warn: "WARN", fail: "FAIL" };

const print = (heading: string, findings: readonly Finding[]): void => {
  console.log(`\n${heading}`);
  for (const { level, text, fix } of findings) console.log(`  ${marks[level]}  ${text}${fix === undefined ? "" : `\n        ${fix}`}`);
};

const main = async (): Promise<void> => {
  const machine = await checkMachine();
  print("This machine", machine);
  const { deployment, findings: configured } = checkOptions(deployments, options.env, options.domain);
  print("Configuration", configured);
  const all = [...machine, ...configured];
  if (deployment !== null) {
    const { secrets, findings } = checkSecrets(options.folder, deployment);
    const kept = [...findings, await checkSettings(deployment, secrets)];
    print("Settings and secrets", kept);
    const service = await checkService(deployment, secrets?.ADMIN_TOKEN, options.at ?? null);
    print("Deployment", service);
    all.push(...kept, ...service);
  }
  const failures = all.filter(({ level }) => level === "fail").length;
  console.log(failures === 0 ? "\nNothing needs to be fixed." : `\nProblems to fix: ${failures}.`);
  process.exit(failures === 0 ? 0 : 1);
};

if (options.help) console.log(usage);
else await main();
