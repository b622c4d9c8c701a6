// The deployments of this repository. `npm run deploy` and `npm run doctor` read this file; docs/operate/deploy.md explains it. It contains
// no secrets, so commit your changes.
import { defineDeployments } from "./scripts/deploy/config.ts";

export default defineDeployments({
  production: {},
  staging: {},
});
