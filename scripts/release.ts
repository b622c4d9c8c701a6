// `npm run release`: builds the assets of the production deployment and prints the integrity of its page script. Commit the files that it
// adds to widget/released.
import deployments from "../svc.config.ts";
import { resolveDeployment } from "./deploy/config.ts";
import { releaseAssets } from "./release-assets.ts";

const domain = deployments.production?.domain ?? "example.com";
const { hosts } = resolveDeployment(deployments, "production", { domain, isPlaceholderAllowed: true });
const { path, integrity, newFiles } = await releaseAssets(`https://${hosts.app}`);
console.log([`${path}  integrity="${integrity}"`, ...newFiles.map((file) => `New file ${file}: commit it.`)].join("\n"));
