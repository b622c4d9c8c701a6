// Reads and writes the secrets that a rotation changes: in a deployment's secrets file, or in .dev.vars for the local service.
import { readFileSync } from "node:fs";
import { DeploymentError, type Deployment } from "../deploy/config.ts";
import { getSecretsPath, readSecrets, toUploadedSecrets, writeSecrets, type Secrets } from "../deploy/secrets.ts";
import { runWranglerWithSecrets } from "../deploy/wrangler.ts";
import { replacePrivateFile } from "../private-file.ts";
import { devVarsPath, parseDevVars } from "../settings.ts";
import type { KeyStore } from "./rotate.ts";

/**
 * Returns a store that reads and writes the deployment's secrets file. `publish` uploads the changed secrets without deploying the code.
 */
export const createDeploymentStore = (folder: string, deployment: Deployment): KeyStore => {
  const path = getSecretsPath(folder, deployment);
  return {
    read: () => {
      const secrets = readSecrets(path);
      if (secrets === null) throw new DeploymentError([`${path} is not on this machine. Restore it from your backup.`]);
      return secrets;
    },
    write: (secrets) => writeSecrets(path, secrets),
    publish: async (changed) => {
      await runWranglerWithSecrets(toUploadedSecrets(changed), `${path}.upload`, "secret", "bulk", "--name", deployment.worker);
    },
  };
};

const toLine = (name: string, value: string): string => `${name}=${value}`;

/**
 * Returns a store that reads and writes .dev.vars. The local service reads this file when it starts, so it must be restarted after a
 * change.
 */
export const createLocalStore = (report: (text: string) => void): KeyStore => ({
  read: () => parseDevVars(readFileSync(devVarsPath, "utf8")),
  write: (secrets: Secrets) => {
    const lines = readFileSync(devVarsPath, "utf8").trimEnd().split("\n");
    const isSetting = (line: string, name: string): boolean => line.startsWith(`${name}=`);
    const kept = lines.map((line) => {
      const [name, value] = Object.entries(secrets).find(([setting]) => isSetting(line, setting)) ?? [];
      return name === undefined || value === undefined ? line : toLine(name, value);
    });
    const added = Object.entries(secrets).filter(([name]) => !lines.some((line) => isSetting(line, name)));
    replacePrivateFile(devVarsPath, `${[...kept, ...added.map(([name, value]) => toLine(name, value))].join("\n")}\n`);
  },
  publish: async () => report("  .dev.vars has the new keys. Restart npm start."),
});
