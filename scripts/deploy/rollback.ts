// Returns a deployment to the version of the code that was active before the current one.
import type { Account } from "./account.ts";
import { CloudflareError } from "./cloudflare.ts";
import { DeploymentError, type Deployment } from "./config.ts";

/** A deployment as Cloudflare lists it. */
interface ListedDeployment {
  readonly created_on: string;
  readonly versions: readonly { readonly version_id: string; readonly percentage: number }[];
}

/** Cloudflare's error code for a version that was uploaded before a secret changed. */
const changedSecretsCode = 10_220;

/**
 * Returns the ID of the version that last served all requests before the active one. The same version can occur in several deployments in a
 * row. Throws a DeploymentError if there is no such version. Also throws if several versions are active, because the operator must choose
 * one.
 */
export const findPreviousVersion = (worker: string, deployments: readonly ListedDeployment[]): string => {
  const [newest, ...earlier] = deployments.toSorted((a, b) => b.created_on.localeCompare(a.created_on));
  const active = (newest?.versions ?? []).filter(({ percentage }) => percentage > 0).map((version) => version.version_id);
  if (active.length > 1)
    throw new DeploymentError([
      `The Worker ${worker} serves several versions. Choose one of them: npx wrangler versions deploy <version>@100 --name ${worker}`,
    ]);
  const previous = earlier
    .flatMap(({ versions }) => versions)
    .find(({ version_id: id, percentage }) => percentage === 100 && !active.includes(id));
  if (previous === undefined) throw new DeploymentError([`The Worker ${worker} has no earlier version.`]);
  return previous.version_id;
};

/**
 * Activates the previous version. Throws a DeploymentError if a secret has changed since that version was uploaded. A version includes its
 * secrets, so the service would lose a newer key and could not read what was encrypted with that key.
 */
export const rollBack = async ({ id, cloudflare }: Account, { worker }: Deployment): Promise<void> => {
  const path = `/accounts/${id}/workers/scripts/${worker}/deployments`;
  const { deployments } = await cloudflare.get<{ deployments: readonly ListedDeployment[] }>(path);
  const version = findPreviousVersion(worker, deployments);
  try {
    await cloudflare.post(path, {
      strategy: "percentage",
      versions: [{ version_id: version, percentage: 100 }],
      annotations: { "workers/message": "npm run deploy -- --rollback" },
    });
  } catch (error) {
    if (!(error instanceof CloudflareError && error.codes.includes(changedSecretsCode))) throw error;
    throw new DeploymentError([
      "A key or another secret has changed since the previous version was deployed, so returning to it would also return to the old secret.",
      "Check out the earlier version of the code and deploy that. It keeps the current secrets: docs/operate/deploy.md, Roll back.",
    ]);
  }
};
