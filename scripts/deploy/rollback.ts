// Returns a deployment to the version of the code that was active before the current one.
import { DeploymentError, type Deployment } from "./config.ts";
import { readFromWrangler, runWrangler, WranglerError } from "./wrangler.ts";

/** A deployment as wrangler lists it. */
interface ListedDeployment {
  readonly created_on: string;
  readonly versions: readonly { readonly version_id: string; readonly percentage: number }[];
}

/** Cloudflare's error code for a version that was uploaded before a secret changed. */
const changedSecretsCode = "[code: 10220]";

/**
 * Returns the ID of the version that last served all requests before the active one. The same version can occur in several deployments in a
 * row. Throws a DeploymentError if there is none, or if several versions are active, because each of them may be the one to return to.
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
 * Activates the previous version. Throws a DeploymentError if a secret has changed since that version was uploaded: a version brings back
 * its own secrets, and without a newer key, the service could not read what was stored with it. Does not use `wrangler rollback`, because
 * without a terminal, it activates such a version without asking.
 */
export const rollBack = async ({ worker }: Deployment): Promise<void> => {
  const deployments = (await readFromWrangler("deployments", "list", "--name", worker, "--json")) as readonly ListedDeployment[];
  const version = findPreviousVersion(worker, deployments);
  try {
    await runWrangler("versions", "deploy", `${version}@100`, "--name", worker, "--yes", "--message", "npm run deploy -- --rollback");
  } catch (error) {
    if (!(error instanceof WranglerError && error.output.includes(changedSecretsCode))) throw error;
    throw new DeploymentError([
      "A key or another secret has changed since the previous version was deployed, so returning to it would also return to the old secret.",
      "Check out the earlier version of the code and deploy that. It keeps the current secrets: docs/operate/deploy.md, Return to an earlier version.",
    ]);
  }
};
